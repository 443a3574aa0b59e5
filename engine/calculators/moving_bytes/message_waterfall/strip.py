"""A collective of the message's size in three numbers: on the wire, alone, and in the step."""

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SECONDS, Seconds
from engine.basis.views import Receipt, Value
from engine.catalog.constants import ACHIEVED
from engine.catalog.transports import INFINIBAND
from engine.form.message.inputs import Inputs
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.overlap import EXPOSED_TIME, exposed_time
from engine.formulas.transfer_time import all_reduce_time


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
