"""Events that nobody read in time: the engine of enhanced liveness drops them, and the agent counts them."""

from typing import cast

from probelet._rust import Engine

from tests.unit.agent.enhanced.asking import ask, entry, is_state, probe
from tests.unit.agent.made_pod import made_pod
from tests.unit.agent.scripted_agent import AgentNode
from tests.unit.host.dropping_engine import DroppingEngine


async def test_the_events_that_either_engine_dropped_are_counted(bare_node: AgentNode) -> None:
    engines: list[DroppingEngine] = []

    def made_engine() -> Engine:
        engines.append(DroppingEngine(bare_node.enhanced_engine(), 5))
        return cast(Engine, engines[-1])

    async with bare_node.an_agent(enhanced_engine=made_engine) as agent:
        pod = made_pod()
        bare_node.run(pod)
        ask(bare_node, entry(pod, probe()))
        await bare_node.until(lambda: is_state(bare_node, "Succeeded"))
        (engine,) = engines
        assert engine.dropped > 0
        series = b'probelet_agent_events_dropped_total{by="engine"} %d\n' % engine.dropped
        assert series in agent.view.metrics()
