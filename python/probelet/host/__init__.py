"""The parts of every process around an engine, in one object (``engine_host.EngineHost``, with its laws): timers on the
engine's wheel, tasks, the reader of the engine's batches, and the recorder of events. A node, an agent and a prober
service are such processes; none of them knows another."""
