"""How long the simulation of a collective on 1,024 GPUs takes."""

import statistics
import time
from collections.abc import Callable

from engine.simulate.collectives.cluster_collectives import (
    ClusterLayout,
    hierarchical_all_reduce,
    ring_all_reduce,
)
from engine.simulate.collectives.collective_comparison import direct_all_to_all
from engine.simulate.collectives.collective_time import simulate_phases, time_phases
from engine.simulate.network.topology import Topology

WORLD, SIZE, GOAL = 1024, 14e9, 1.0
REPEATS = 5


def run() -> dict[str, object]:
    """Return the median times in seconds; each run starts from nothing."""
    one_slow = ((("port_out", 3, 2), 0.5),)
    alike, slow = (
        ClusterLayout(topology=Topology(world_size=WORLD, oversubscription=7.0, slow=links))
        for links in ((), one_slow)
    )
    found = {
        "hierarchical all-reduce": _seconds(lambda: _simulate(hierarchical_all_reduce, alike)),
        "hierarchical all-reduce, every message by itself": _seconds(
            lambda: _simulate(hierarchical_all_reduce, slow)
        ),
        "ring all-reduce": _seconds(lambda: _simulate(ring_all_reduce, alike)),
        "direct all-to-all": _seconds(lambda: _simulate(direct_all_to_all, alike)),
    }
    for name, seconds in found.items():
        print(f"{name} on {WORLD} GPUs: {1e3 * seconds:.1f} ms")
    return {"GPUs": WORLD, "goal, s": GOAL, "seconds": found}


def _simulate(algorithm: Callable[[ClusterLayout], tuple], where: ClusterLayout) -> None:
    plan = algorithm(where)
    time_phases(plan, simulate_phases(plan), SIZE)


def _seconds(work: Callable[[], None]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return round(statistics.median(times), 5)
