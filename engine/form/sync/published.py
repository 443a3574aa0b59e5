"""What a widely published gradient sync calculator prints, by its own arithmetic, beside ours."""

import math

from engine.basis.text import Text, say, significant
from engine.basis.units import BYTES, LINK_SPEED, SECONDS, SHARE, TOKENS, GiB, Seconds
from engine.basis.views import Published, Table
from engine.catalog.hardware import GPUS
from engine.form.sync.inputs import Inputs
from engine.form.sync.model import ELEMENT, Sync
from engine.form.sync.step import required_port
from engine.formulas.communication import ring_all_reduce_time, tree_all_reduce_time
from engine.formulas.overlap import communication_share, efficiency

SOURCE = "pingdo_sync"
# Its formula cannot be recovered from its outputs; it is taken as printed for its defaults.
COMPUTE: Seconds = 3.5e-3


def printed(inputs: Inputs) -> dict[str, str]:
    """Return the published calculator's outputs, digit by digit, for the reader's inputs."""
    gibibytes = inputs.parameters * ELEMENT[inputs.dtype] / GiB
    gigabytes_per_second = inputs.port * inputs.ports_per_node / 1e9
    n = inputs.world_size
    ring = 2 * (n - 1) / n * gibibytes / gigabytes_per_second
    tree = 2 * gibibytes / gigabytes_per_second
    least = gibibytes * 8 / COMPUTE
    return {
        "gradient": f"{gibibytes:.2f} GB",
        "ring": f"{ring * 1e3:.1f} ms",
        "tree": f"{tree * 1e3:.1f} ms",
        "compute": f"{COMPUTE * 1e3:.1f} ms",
        "step": f"{(ring + COMPUTE) * 1e3:.1f} ms",
        "overhead": f"{ring / (ring + COMPUTE) * 100:.1f} %",
        "efficiency": f"{COMPUTE / (ring + COMPUTE) * 100:.1f} %",
        "bandwidth": f"{least:.0f}+ Gbps",
        "upgrade": f"{math.ceil(least / 100) * 400}G+",
    }


def ring_note(inputs: Inputs) -> Published:
    """Return what the published calculator prints for the ring, for the receipt."""
    more = significant((GiB / 1e9 - 1) * 100, 2)
    return Published(
        text=f"a published calculator prints {printed(inputs)['ring']}",
        reason=f"It divides GiB by GB/s; the right time is {more} % more.",
        source=SOURCE,
        claim="E3.2",
    )


def table(inputs: Inputs, sync: Sync) -> Table:
    """Return the published digits beside the right ones with the reason; empty unless asked for."""
    if not inputs.published:
        return Table(title="", columns=(), rows=())
    theirs = printed(inputs)
    ours = _ours(inputs, sync)
    rows = tuple((label, theirs[key], right, why) for key, label, right, why in ours)
    return Table(
        title="A published calculator's digits beside ours",
        columns=("Output", "It prints", "Right", "Why they differ"),
        rows=rows,
        caption="Its column follows its own arithmetic with your inputs. Its compute time is taken "
        "as printed, for its formula cannot be recovered from its outputs.",
    )


def _ours(inputs: Inputs, sync: Sync) -> list[tuple[str, str, Text, Text]]:
    peak = GPUS[inputs.gpu].peak["bf16"]
    tokens = COMPUTE * inputs.utilization * peak / (6 * inputs.parameters)
    wire = sync.size, inputs.world_size, sync.bandwidth, inputs.latency
    share = communication_share(sync.compute, sync.exposed)
    return [
        ("gradient", "Gradient size", say("{s}", s=(sync.size, BYTES)), "GiB printed as GB"),
        (
            "ring",
            "All-reduce, ring",
            say("{t}", t=(ring_all_reduce_time(*wire), SECONDS)),
            "GiB divided by GB/s, no latency",
        ),
        (
            "tree",
            "All-reduce, tree",
            say("{t}", t=(tree_all_reduce_time(*wire), SECONDS)),
            "the same unit error; the tree's lower latency is missing",
        ),
        (
            "compute",
            "Compute",
            say("{t}", t=(sync.compute, SECONDS)),
            say("what it prints is the time of {n} tokens", n=(round(tokens), TOKENS)),
        ),
        (
            "step",
            "Step",
            say("{t}", t=(sync.step, SECONDS)),
            "it adds both times; overlap is ignored",
        ),
        (
            "overhead",
            "Communication share",
            say("{e}", e=(share, SHARE)),
            "an artifact of its compute time",
        ),
        (
            "efficiency",
            "GPU efficiency",
            say("{e}", e=(efficiency(sync.compute, sync.exposed), SHARE)),
            "an artifact of its compute time",
        ),
        (
            "bandwidth",
            "Least bandwidth",
            say("{b}", b=(required_port(inputs, sync), LINK_SPEED)),
            "it forgets the factor 2(n − 1)/n and hides nothing behind the backward pass",
        ),
        (
            "upgrade",
            "Suggested upgrade",
            "none",
            "rounded up to hundreds, then multiplied by 400: a slip",
        ),
    ]
