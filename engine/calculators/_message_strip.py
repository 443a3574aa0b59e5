"""Numbers beside the message: the published waterfall, and a collective in three numbers."""

from dataclasses import replace

from engine.calculators._message_inputs import Inputs, published
from engine.calculators._message_model import at, way
from engine.calculators._message_values import LARGE, pcie_share, published_share
from engine.constants import ACHIEVED, INFINIBAND
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.overlap import EXPOSED_TIME, exposed_time
from engine.formulas.transfer_time import all_reduce_time
from engine.text import Text, say
from engine.units import BYTES, COUNT, LINK_SPEED, SECONDS, SHARE, Seconds
from engine.views import Published, Receipt, Value


def fixed() -> dict[str, Value]:
    """Return the published waterfall's numbers, whatever the reader's inputs."""
    small, large = way(published()), at(published(), message=LARGE)
    receipt = Receipt(
        assumptions=("Middles of the eight ranges that the page gives, added.",),
        sources=("day1inference",),
    )
    return {
        "published_time": Value(
            label="A published waterfall",
            value=small.latency,
            quantity=SECONDS,
            receipt=receipt,
            note="eight stages, no byte",
        ),
        "published_share": Value(
            label="Its share of PCIe",
            value=published_share(),
            quantity=SHARE,
            receipt=replace(
                receipt,
                published=Published(
                    text="PCIe traversal dominates total latency (40-50%)",
                    reason="True of its own midpoints, and only for a message without bytes.",
                    source="day1inference",
                    claim="E0.1",
                ),
            ),
        ),
        "large_share": Value(
            label="The same, 64 MiB",
            value=pcie_share(large),
            quantity=SHARE,
            receipt=Receipt(
                assumptions=(
                    say(
                        "The same latencies, and {s} at {b}.",
                        s=(LARGE, BYTES),
                        b=(published().link, LINK_SPEED),
                    ),
                ),
                sources=("day1inference",),
            ),
        ),
        "large_wire": Value(
            label="The wire, 64 MiB",
            value=LARGE / published().link,
            quantity=SECONDS,
            receipt=Receipt(
                assumptions=(
                    say("{s} at {b}.", s=(LARGE, BYTES), b=(published().link, LINK_SPEED)),
                ),
            ),
            color="communication",
        ),
    }


def strip(inputs: Inputs) -> dict[str, Value]:
    """Return all-reduces of this message in three numbers: wire, alone, exposed in the step."""
    n, count = inputs.world_size, inputs.num_buckets
    reached = ACHIEVED["H100 SXM"].network * inputs.link
    wire = count * ring_bytes_sent(inputs.message, n) / inputs.link
    alone = count * all_reduce_time(inputs.message, n, n, reached, network=INFINIBAND)
    exposed = exposed_time(alone, inputs.backward, count)
    about = say(
        "{k} all-reduces of {s} over {n} GPUs, one per node.",
        k=(count, COUNT),
        s=(inputs.message, BYTES),
        n=(n, COUNT),
    )

    def shown(label: str, time: Seconds, note: Text, receipt: Receipt) -> Value:
        return Value(
            label=label,
            value=time,
            quantity=SECONDS,
            receipt=receipt,
            note=note,
            color="communication",
        )

    return {
        "wire_minimum": shown(
            "Wire minimum",
            wire,
            "bytes over line rate",
            Receipt(assumptions=(about, "What a ring sends, at the line rate, and nothing else.")),
        ),
        "isolated": shown(
            "Collectives alone",
            alone,
            "what a benchmark shows",
            Receipt(
                assumptions=(
                    about,
                    "NCCL's latencies and protocols over InfiniBand, one after the other.",
                ),
                sources=("nccl_tuning",),
            ),
        ),
        "exposed": shown(
            "Exposed in the step",
            exposed,
            "what the step waits for",
            Receipt(
                equation=EXPOSED_TIME,
                symbols={
                    "Te": (exposed, SECONDS),
                    "Tm": (alone, SECONDS),
                    "N": (float(count), COUNT),
                    "Tb": (inputs.backward, SECONDS),
                },
                inputs={"N": "num_buckets", "Tb": "backward"},
                assumptions=(about, "They start at even intervals of the backward pass."),
            ),
        ),
    }
