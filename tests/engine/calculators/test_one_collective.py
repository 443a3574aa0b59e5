"""One function times every collective: no page has another, and the same job is the same number.

Pages are found by their imports: one that times a collective has a row in `PAGES` or a reason in
`OTHERS`. Closed forms of collectives are imported by nobody but the modules of `FORMS`.
"""

import ast
import re

import pytest

from engine.calculator import load, module_of, names
from engine.catalog.accelerators import ACCELERATORS
from engine.core.units import GB, MB, Gbit, MiB
from engine.simulate.collectives.cluster_wires import cluster_wires
from engine.simulate.collectives.collective import collective_time
from tests.each import each
from tests.engine.calculators.asked import solved
from tests.layers import ROOT, imports

ONE = "engine.simulate.collectives.collective"
# What a page that times a collective imports; the steps of a job, which ask too, are left out.
SEARCHED = ("engine.calculators.", "engine.simulate.collectives.")
WITHIN = 0.03


def gpus(ranks, local):
    """The same GPUs in the inputs of the labs: a port of 400 Gb/s to each."""
    return {"world_size": ranks, "gpus_per_node": local}


# Page -> (size, ranks, ranks of a node, algorithm) -> time; None where it cannot show that job.
def _gradient_sync(size, ranks, local, way):
    job = {"parameters": size / 2, "algorithm": "auto" if way == "nccl" else way}
    found = solved("gradient_sync", **job, **gpus(ranks, local), ports_per_node=local)
    return found.all_reduce_time


def _algorithm_race(size, ranks, local, way):
    if way == "nccl":
        return None
    return solved("algorithm_race", message=size, **gpus(ranks, local)).now[way]


def _at_scale(size, ranks, local, way):
    if way == "nccl" or local != 8 or ranks > 1024:
        return None
    found = solved("collective_at_scale", parameters=size / 2, world_size=ranks)
    return found.played[{"in_network": "in_switch"}.get(way, way)].timed.time


def _by_hand(size, ranks, local, way):
    if way in ("nccl", "hierarchical") or local != 1 or ranks > 16:
        return None
    return solved("collectives_by_hand", size=size, world_size=ranks, algorithm=way).time


def _slow_port(size, ranks, local, way):
    if (size, local, way) != (14 * GB, 1, "ring") or ranks > 16:
        return None
    return solved("slow_port", world_size=ranks).even_time


def _nccl_choice(size, ranks, local, way):
    if way != "nccl":
        return None
    nodes = {"nodes": ranks // local, "gpus_per_node": local}
    return solved("nccl_choice", message=size, machine="dgx-h100", **nodes).time


def _nccl_variables(size, ranks, local, way):
    if way != "nccl" or local != 8:
        return None
    found = solved("nccl_variables", message=size, machine="dgx-h100", nodes=ranks // local)
    return 2 * (ranks - 1) / ranks * size / found.unset


def _nccl_log(size, ranks, local, way):
    if way != "nccl" or local != 8:
        return None
    busbw = solved("nccl_log", log=_table(size, ranks, local), machine="dgx-h100").expected
    return 2 * (ranks - 1) / ranks * size / busbw


def _rail_claim(size, ranks, local, way):
    if way != "nccl" or local != 8 or ranks < 16 or size < 2 * GB:
        return None
    return solved("rail_claim", parameters=size / 2, num_nodes=ranks // local).composed


def _table(size, ranks, local):
    """Return what nccl-tests print of one message."""
    places = (divmod(rank, local) for rank in range(ranks))
    devices = [
        f"#  Rank {node * local + place:2} Group  0 Pid 9 on node{node:04} device {place} [0x00] "
        "NVIDIA H100 80GB HBM3"
        for node, place in places
    ]
    head = "#       size         count      type   redop    root     time   algbw   busbw"
    row = f"{size:.0f} {size / 4:.0f} float sum -1 {size / 1e5:.2f} 100.0 100.0 0"
    return "\n".join(["# Collective test starting: all_reduce_perf", *devices, head, row])


PAGES = {
    "gradient_sync": _gradient_sync,
    "algorithm_race": _algorithm_race,
    "collective_at_scale": _at_scale,
    "collectives_by_hand": _by_hand,
    "slow_port": _slow_port,
    "nccl_choice": _nccl_choice,
    "nccl_variables": _nccl_variables,
    "nccl_log": _nccl_log,
    "rail_claim": _rail_claim,
}
# Pages that reach the function and let nobody choose a job.
OTHERS = {
    "in_network_gain": "measured machines beside the model, by the same placements",
    "message_waterfall": "buckets of a message, by the same call",
    "rack_domain": "one group in NVLink domains of several sizes, by the same call",
    "fabric_builder": "loads of links; imports the cluster's shape alone",
    "rail_path": "one message; imports the cluster's shape alone",
}
JOBS = [
    (14 * GB, 64, 8),
    (14 * GB, 8, 1),
    (14 * GB, 512, 8),
    (100 * MB, 64, 8),
    (25 * MiB, 64, 8),
    (100 * MB, 16, 8),
    (MiB, 1024, 8),
    (14 * GB, 8, 8),
    (100 * MB, 8, 1),
]


def reached(name):
    """Modules that a calculator imports, itself or through the modules of collectives."""
    found, waiting = set(), [module_of(name)]
    while waiting:
        module = waiting.pop()
        path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
        if module not in found and path.exists():
            waiting += [one for one in imports(path) if one.startswith(SEARCHED)]
        found.add(module)
    return found


def test_every_page_that_times_a_collective_is_compared_or_says_why_not():
    timing = {name for name in names() if ONE in reached(name)}
    assert timing == PAGES.keys() | OTHERS.keys()


@each(("size", "ranks", "local"), JOBS)
@each("way", ["nccl", "ring", "tree", "hierarchical", "in_network"])
def test_the_same_job_takes_the_same_time_on_every_page(size, ranks, local, way):
    if way == "hierarchical" and (local == 1 or ranks == local):
        return
    wires = cluster_wires(ACCELERATORS["H100-SXM"], ranks, local, local, 400 * Gbit)
    expected = collective_time(wires.rank, wires.group, size, algorithm=way)
    shown = {name: page(size, ranks, local, way) for name, page in PAGES.items()}
    told = {name: time for name, time in shown.items() if time is not None}
    assert len(told) > 1
    assert told == pytest.approx(dict.fromkeys(told, expected), rel=WITHIN)


# Modules that may import closed forms of all-reduces, and why.
FORMS = {
    "simulate/collectives/collective": "the function itself",
    "simulate/layer/collective": "its choice by NCCL, which steps ask",
    "simulate/collectives/cluster_wires": "the equations that a page prints as bounds",
    "calculators/moving_bytes/gradient_sync/charts": "a published calculator, corrected",
    "calculators/data_parallelism/chunk_tail": "an equation, marked as one",
    "calculators/moving_bytes/rail_claim": "a published claim, by its own equation",
    "calculators/reference/claims_checked/sync": "published claims, by their own equations",
    "calculators/reference/formula_sheet/inputs": "the sheet of equations",
    "simulate/streams/workload": "made-up wires of animations",
}
_TIME = re.compile(r"all_reduce\w*_times?$")


def forms_of(path):
    """Names of closed forms of all-reduces that a file imports."""
    tree = ast.parse(path.read_text("utf-8"))
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine.formulas")
        for alias in node.names
        if _TIME.search(alias.name) or alias.name == "transfer_time"
    }


def test_no_other_module_times_an_all_reduce_by_a_formula():
    engine = ROOT / "engine"
    files = {
        path.relative_to(engine).with_suffix("").as_posix()
        for path in engine.rglob("*.py")
        if path.relative_to(engine).parts[0] != "formulas" and forms_of(path)
    }
    assert files == FORMS.keys()


def test_the_labs_open_on_the_same_machine():
    lab = load("gradient_sync")
    rank = solved("gradient_sync").job.wires.rank
    race = load("algorithm_race")
    for name in ("gpu", "port", "gpus_per_node", "world_size", "latency"):
        assert lab.defaults[name] == race.defaults[name]
    scale = solved("collective_at_scale")
    assert scale.nvlink == pytest.approx(rank.scale_up)
    assert scale.port_bandwidth == pytest.approx(rank.port)
