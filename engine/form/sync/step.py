"""The numbers of the whole training step, each with its receipt."""

from engine.basis.text import Text, say
from engine.basis.units import (
    BYTES,
    COUNT,
    FLOP_RATE,
    LINK_SPEED,
    PARAMETERS,
    SECONDS,
    SHARE,
    TOKENS,
    Bandwidth,
    Bytes,
    Quantity,
    Seconds,
    Tokens,
)
from engine.basis.views import Receipt, Value
from engine.catalog.hardware import GPUS
from engine.form.sync.inputs import Inputs
from engine.form.sync.model import Sync
from engine.form.sync.values import effective, receipt, sent_bytes, wire_symbols
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.overlap import (
    BACKWARD_TIME,
    BREAK_EVEN,
    COMMUNICATION_SHARE,
    COMPUTE_TIME,
    EFFICIENCY,
    EXPOSED_TIME,
    REQUIRED_BANDWIDTH,
    STEP_TIME,
    break_even_tokens,
    communication_share,
    efficiency,
    required_bandwidth,
)

NO_SLOWDOWN: Text = "Overlap slows neither stream down; measured contention costs more."
NO_ATTENTION: Text = "Six operations per parameter and token; attention scores are left out."


def break_even(inputs: Inputs, sync: Sync) -> Tokens:
    """Return the tokens per GPU at which the backward pass is as long as the all-reduce."""
    peak = GPUS[inputs.gpu].peak["bf16"]
    return break_even_tokens(sync.collective, inputs.parameters, inputs.utilization, peak)


def required_port(inputs: Inputs, sync: Sync) -> Bandwidth:
    """Return the speed of a port (in one node: of NVLink) that hides the all-reduce, no latencies.

    Infinite if no port can: the part inside the node alone outlasts the backward pass.
    """
    through, inside = port_load(inputs, sync)
    return required_bandwidth(through, sync.backward, inside)


def port_load(inputs: Inputs, sync: Sync) -> tuple[Bytes, Seconds]:
    """Return what one port must send, and how long other links keep it waiting."""
    name = effective(inputs, sync)
    if sync.num_nodes == 1:
        return sent_bytes(inputs, sync, "ring" if name == "hierarchical" else name), 0.0
    sent = sent_bytes(inputs, sync, name) / inputs.ports_per_node
    if name == "hierarchical":
        return sent * sync.local, ring_bytes_sent(sync.size, sync.local) / inputs.scale_up
    return sent, 0.0


def _symbols(inputs: Inputs, sync: Sync) -> dict[str, tuple[float, Quantity]]:
    share = communication_share(sync.compute, sync.exposed)
    return wire_symbols(inputs, sync) | {
        "t": (inputs.tokens_per_gpu * inputs.accumulation, TOKENS),
        "u": (inputs.utilization, SHARE),
        "F": (GPUS[inputs.gpu].peak["bf16"], FLOP_RATE),
        "P": (inputs.parameters, PARAMETERS),
        "Tc": (sync.compute, SECONDS),
        "Tb": (sync.backward, SECONDS),
        "Tm": (sync.communication, SECONDS),
        "Te": (sync.exposed, SECONDS),
        "Ts": (sync.step, SECONDS),
        "N": (sync.num_buckets, COUNT),
        "q": (share, SHARE),
    }


def step_values(inputs: Inputs, sync: Sync) -> dict[str, Value]:
    """Return the step: what computes, what waits, and what it would take to wait no more."""
    symbols = _symbols(inputs, sync)
    gpu = GPUS[inputs.gpu]
    blocking = communication_share(sync.compute, sync.collective)
    speed = efficiency(sync.compute, sync.exposed)
    ideal = efficiency(sync.compute, sync.ideal_exposed)
    peak: Text = say("{gpu}, dense bf16 peak {f}.".replace("{gpu}", gpu.name), f=symbols["F"])
    one_pass = symbols | {"t": (inputs.tokens_per_gpu, TOKENS)}
    return {
        "compute_time": Value(
            label="Compute",
            value=sync.compute,
            quantity=SECONDS,
            receipt=receipt(COMPUTE_TIME, symbols, peak, NO_ATTENTION),
            note=say("forward and backward of {t} tokens", t=symbols["t"]),
            color="compute",
        ),
        "backward_time": Value(
            label="Backward pass",
            value=sync.backward,
            quantity=SECONDS,
            receipt=receipt(
                BACKWARD_TIME, one_pass | {"Tb": (sync.backward, SECONDS)}, peak, NO_ATTENTION
            ),
            note="what the all-reduce can hide behind",
            color="compute",
        ),
        "exposed_time": Value(
            label="Exposed communication",
            value=sync.exposed,
            quantity=SECONDS,
            receipt=_exposed_receipt(inputs, symbols),
            note=say("{t} with ideal overlap", t=(sync.ideal_exposed, SECONDS)),
            color="communication",
        ),
        "step_time": Value(
            label="Step",
            value=sync.step,
            quantity=SECONDS,
            receipt=receipt(STEP_TIME, symbols, "The optimizer's own time is left out."),
            note="compute plus exposed",
        ),
        "blocking_share": Value(
            label="Communication share if blocking",
            value=blocking,
            quantity=SHARE,
            receipt=receipt(
                COMMUNICATION_SHARE,
                symbols | {"Te": (sync.collective, SECONDS), "q": (blocking, SHARE)},
                "Nothing overlaps: the all-reduce starts when the backward pass has ended.",
            ),
            note="share of the step, without overlap",
        ),
        "exposed_share": Value(
            label="Exposed share",
            value=communication_share(sync.compute, sync.exposed),
            quantity=SHARE,
            receipt=receipt(COMMUNICATION_SHARE, symbols, NO_SLOWDOWN),
            note="share of the step, as set",
        ),
        "efficiency": Value(
            label="Efficiency",
            value=speed,
            quantity=SHARE,
            receipt=receipt(EFFICIENCY, symbols | {"q": (speed, SHARE)}, NO_SLOWDOWN),
            note=say("{e} with ideal overlap", e=(ideal, SHARE)),
        ),
        **_limits(inputs, sync, one_pass),
    }


def _exposed_receipt(inputs: Inputs, symbols: dict[str, tuple[float, Quantity]]) -> Receipt:
    buckets: Text = say("{n} equal buckets, each paying its own latencies.", n=symbols["N"])
    if not inputs.overlap:
        return Receipt(assumptions=("Without overlap all of the all-reduce is exposed.",))
    if inputs.sharding == "zero1":
        halves: Text = (
            "ZeRO-1: half of the bytes behind the backward pass, half behind the next forward pass;"
            " the exposed parts of both halves are added."
        )
        return Receipt(assumptions=(halves, buckets, NO_SLOWDOWN), sources=("rajbhandari2020",))
    return receipt(EXPOSED_TIME, symbols, buckets, NO_SLOWDOWN)


def _limits(
    inputs: Inputs, sync: Sync, symbols: dict[str, tuple[float, Quantity]]
) -> dict[str, Value]:
    tokens, port = break_even(inputs, sync), required_port(inputs, sync)
    through, inside = port_load(inputs, sync)
    what = "NVLink" if sync.num_nodes == 1 else "Network port"
    return {
        "break_even_tokens": Value(
            label="Tokens per GPU to hide it",
            value=tokens,
            quantity=TOKENS,
            receipt=receipt(
                BREAK_EVEN,
                symbols | {"t": (tokens, TOKENS), "Tm": (sync.collective, SECONDS)},
                "Where the backward pass is as long as the all-reduce in one piece.",
                "In buckets each pays its latencies again, so a little stays exposed beyond it.",
            ),
            note="the backward pass is as long as the all-reduce",
        ),
        "required_bandwidth": Value(
            label=f"{what} needed to hide it",
            value=port,
            quantity=LINK_SPEED,
            receipt=receipt(
                REQUIRED_BANDWIDTH,
                symbols
                | {
                    "B": (port, LINK_SPEED),
                    "V": (through, BYTES),
                    "a": (inside, SECONDS),
                    "Tb": (sync.backward, SECONDS),
                },
                "Bandwidth only: latencies and the tail of the last bucket are left out.",
                say("V is what one port sends; {k} per node.", k=(inputs.ports_per_node, COUNT)),
            ),
            note=say("at {t} tokens per GPU", t=(inputs.tokens_per_gpu, TOKENS)),
        ),
    }
