"""Changes pods during a benchmark: adds and removes some, and restarts containers of others."""

from itertools import count

from probelet._rust import Engine
from probelet.lab.bench.load import Load
from probelet.lab.bench.place import Place
from probelet.lab.bench.pods import facts, pod, uid

LOCAL = "127.0.0.1"
"""The extra pods probe this address; it lies below the addresses whose lateness a target measures."""


class Disturbance:
    """Churn and restarts, spread evenly over each second."""

    def __init__(self, engine: Engine, load: Load, target: Place) -> None:
        self._engine = engine
        self._load = load
        self._target = target
        self._numbers = count(load.workers)
        self._extra: list[int] = []
        self._restarts = 0

    def turn(self, seconds: float) -> None:
        """Applies the changes of ``seconds``: removes the extra pods of the previous turn and adds new ones."""
        load, engine = self._load, self._engine
        for number in self._extra:
            engine.forget_pod(uid(number))
        self._extra = [next(self._numbers) for _ in range(round(load.churn * seconds))]
        for number in self._extra:
            engine.define_pod(pod(number, load.handler, self._target.port, load.period))
            engine.sync_pod(uid(number), facts(number, LOCAL))
        for _ in range(round(load.restarts * seconds)):
            number, generation = self._restarts % load.workers, self._restarts // load.workers + 1
            self._restarts += 1
            address = load.where(self._target, number).address(number)
            engine.sync_pod(uid(number), facts(number, address, generation))
