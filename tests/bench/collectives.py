"""How long the simulation of a collective on 1,024 GPUs takes."""

import statistics
import time
from collections.abc import Callable

from engine.simulate.collectives.cluster_all_to_all import direct
from engine.simulate.collectives.cluster_collectives import Cluster, hierarchical, ring
from engine.simulate.collectives.collective_time import drained, timed
from engine.simulate.network.topology import Topology

WORLD, SIZE, GOAL = 1024, 14e9, 1.0
REPEATS = 5


def run() -> dict[str, object]:
    """Return the median times in seconds; each run starts from nothing."""
    one_slow = ((("port_out", 3, 2), 0.5),)
    alike, slow = (
        Cluster(topology=Topology(world_size=WORLD, oversubscription=7.0, slow=links))
        for links in ((), one_slow)
    )
    found = {
        "hierarchical all-reduce": _seconds(lambda: _simulate(hierarchical, alike)),
        "hierarchical all-reduce, every message by itself": _seconds(
            lambda: _simulate(hierarchical, slow)
        ),
        "ring all-reduce": _seconds(lambda: _simulate(ring, alike)),
        "direct all-to-all": _seconds(lambda: _simulate(direct, alike)),
    }
    for name, seconds in found.items():
        print(f"{name} on {WORLD} GPUs: {1e3 * seconds:.1f} ms")
    return {"GPUs": WORLD, "goal, s": GOAL, "seconds": found}


def _simulate(algorithm: Callable[[Cluster], tuple], where: Cluster) -> None:
    plan = algorithm(where)
    timed(plan, drained(plan), SIZE)


def _seconds(work: Callable[[], None]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return round(statistics.median(times), 5)
