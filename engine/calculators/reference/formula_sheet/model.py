"""Numbers for the equations on one GPU and its share of a model: computation and memory."""

from collections.abc import Callable, Mapping

from engine.calculators.reference.formula_sheet.example import (
    Example,
    Shown,
    bucketed,
    buckets,
    buffer,
    ranks,
    tokens,
)
from engine.calculators.reference.formula_sheet.inputs import ELEMENT, GPU, Inputs
from engine.catalog.constants import achieved
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    FLOP_RATE,
    OPERATIONS,
    PARAMETERS,
    SECONDS,
    SHARE,
    TOKENS,
    Bytes,
    Parameters,
    Quantity,
    Seconds,
    Share,
    Tokens,
)
from engine.formulas import activations, compute, operations, overlap, parameters, states
from engine.formulas.communication import ring_bytes_sent

_PASS = {"P": "parameters", "u": "utilization", "F": "peak"}


def _passed(
    title: str, key: str, function: Callable[[Parameters, Tokens, Share, float], Seconds]
) -> Example:
    """A time of the GPU's own computation."""

    def symbols(x: Inputs) -> Shown:
        return {
            key: (function(x.parameters, tokens(x), x.utilization, x.peak), SECONDS),
            "P": (x.parameters, PARAMETERS),
            "t": (tokens(x), TOKENS),
            "u": (x.utilization, SHARE),
            "F": (x.peak, FLOP_RATE),
        }

    return Example(title=title, function=function, symbols=symbols, inputs=_PASS)


def _computation(x: Inputs) -> Seconds:
    return overlap.compute_time(x.parameters, tokens(x), x.utilization, x.peak)


def _backward(x: Inputs) -> Seconds:
    return overlap.backward_time(x.parameters, tokens(x), x.utilization, x.peak)


def _exposed(x: Inputs) -> Seconds:
    return overlap.exposed_time(bucketed(x, buffer(x)), _backward(x), buckets(x))


def _gradients(x: Inputs) -> Shown:
    return {
        "S": (buffer(x), BYTES),
        "P": (x.parameters, PARAMETERS),
        "e": (ELEMENT[x.gradient_type], BYTES),
    }


def _exposed_time(x: Inputs) -> Shown:
    return {
        "Te": (_exposed(x), SECONDS),
        "Tm": (bucketed(x, buffer(x)), SECONDS),
        "N": (buckets(x), COUNT),
        "Tb": (_backward(x), SECONDS),
    }


def _step(x: Inputs) -> Shown:
    computation, exposed = _computation(x), _exposed(x)
    time = overlap.step_time(computation, exposed)
    return {"Ts": (time, SECONDS), "Tc": (computation, SECONDS), "Te": (exposed, SECONDS)}


def _share(function: Callable[[Seconds, Seconds], Share]) -> Callable[[Inputs], Shown]:
    def symbols(x: Inputs) -> Shown:
        computation, exposed = _computation(x), _exposed(x)
        share = function(computation, exposed)
        return {"q": (share, SHARE), "Te": (exposed, SECONDS), "Tc": (computation, SECONDS)}

    return symbols


def _break_even(x: Inputs) -> Shown:
    time = bucketed(x, buffer(x))
    found = overlap.break_even_tokens(time, x.parameters, x.utilization, x.peak)
    return {
        "t": (found, TOKENS),
        "Tm": (time, SECONDS),
        "u": (x.utilization, SHARE),
        "F": (x.peak, FLOP_RATE),
        "P": (x.parameters, PARAMETERS),
    }


def _required(x: Inputs) -> Shown:
    sent = ring_bytes_sent(buffer(x), ranks(x))
    latency = bucketed(x, 0.0)
    found = overlap.required_bandwidth(sent, _backward(x), latency)
    return {
        "B": (found, BANDWIDTH),
        "V": (sent, BYTES),
        "Tb": (_backward(x), SECONDS),
        "a": (latency, SECONDS),
    }


def _gpt(x: Inputs) -> Shown:
    found = parameters.gpt_parameters(x.num_layers, x.hidden_size, x.vocab_size, x.sequence_length)
    return {
        "P": (found, PARAMETERS),
        "l": (x.num_layers, COUNT),
        "h": (x.hidden_size, COUNT),
        "V": (x.vocab_size, COUNT),
        "s": (x.sequence_length, COUNT),
    }


def _palm(x: Inputs) -> Shown:
    found = operations.palm_operations(x.parameters, x.num_layers, x.hidden_size, x.sequence_length)
    return {
        "C": (found, OPERATIONS),
        "N": (x.parameters, PARAMETERS),
        "L": (x.num_layers, COUNT),
        "H": (x.num_attention_heads, COUNT),
        "Q": (x.hidden_size / x.num_attention_heads, COUNT),
        "T": (x.sequence_length, TOKENS),
    }


def _megatron(x: Inputs) -> Shown:
    sequences = x.micro_batch_size * ranks(x)
    found = operations.megatron_operations(
        sequences, x.sequence_length, x.num_layers, x.hidden_size, x.vocab_size
    )
    return {
        "F": (found, OPERATIONS),
        "B": (sequences, COUNT),
        "s": (x.sequence_length, TOKENS),
        "l": (x.num_layers, COUNT),
        "h": (x.hidden_size, COUNT),
        "V": (x.vocab_size, COUNT),
    }


def _korthikanti(x: Inputs) -> Shown:
    found = activations.korthikanti_activations(
        tokens(x), x.hidden_size, x.num_attention_heads, x.sequence_length, x.tensor_parallel
    )
    return {
        "A": (found, BYTES),
        "s": (x.sequence_length, TOKENS),
        "b": (x.micro_batch_size, COUNT),
        "h": (x.hidden_size, COUNT),
        "a": (x.num_attention_heads, COUNT),
        "t": (x.tensor_parallel, COUNT),
    }


def _zero(x: Inputs) -> Shown:
    kinds = states.MIXED_PRECISION
    held = states.sharded_states(x.parameters, kinds, x.zero_stage, ranks(x))
    total: Bytes = held.parameters + held.gradients + held.optimizer

    def sharers(stage: int) -> tuple[float, Quantity]:
        return (ranks(x) if x.zero_stage >= stage else 1, COUNT)

    return {
        "M": (total, BYTES),
        "P": (x.parameters, PARAMETERS),
        "p": (kinds.parameter, BYTES),
        "g": (kinds.gradient, BYTES),
        "o": (kinds.optimizer, BYTES),
        "a": sharers(3),
        "b": sharers(2),
        "c": sharers(1),
    }


def _matmul(x: Inputs) -> Shown:
    """The first product of a feed-forward part: [tokens, h] x [h, 4h], in one kernel."""
    rows, columns, fill = tokens(x), 4.0 * x.hidden_size, achieved(GPU).fill
    rate = x.utilization * x.peak
    time = compute.matmul_time(rows, columns, x.hidden_size, 1, rate, GPU.sms, fill)
    tiles = -(-rows // compute.TILE_ROWS) * -(-columns // compute.TILE_COLUMNS)
    return {
        "T": (time, SECONDS),
        "w": (tiles / GPU.sms, COUNT),
        "k": (x.hidden_size, COUNT),
        "M": (GPU.sms, COUNT),
        "R": (rate, FLOP_RATE),
        "f": (fill, SECONDS),
        "g": (1, COUNT),
        "m": (rows, COUNT),
        "n": (columns, COUNT),
    }


_LAYER = {"l": "num_layers", "h": "hidden_size", "V": "vocab_size", "s": "sequence_length"}

# By the name of the equation.
EXAMPLES: Mapping[str, Example] = {
    "gpt_parameters": Example(
        title="Parameters of a GPT",
        function=parameters.gpt_parameters,
        symbols=_gpt,
        inputs=_LAYER,
    ),
    "palm_operations": Example(
        title="Operations of one token",
        function=operations.palm_operations,
        symbols=_palm,
        inputs={
            "N": "parameters",
            "L": "num_layers",
            "H": "num_attention_heads",
            "T": "sequence_length",
        },
    ),
    "megatron_operations": Example(
        title="Operations of one step of a GPT",
        function=operations.megatron_operations,
        symbols=_megatron,
        inputs=_LAYER,
    ),
    "zero_memory": Example(
        title="States under ZeRO",
        function=states.sharded_states,
        symbols=_zero,
        inputs={"P": "parameters"},
    ),
    "korthikanti_activations": Example(
        title="Activations of a GPT layer",
        function=activations.korthikanti_activations,
        symbols=_korthikanti,
        inputs={
            "s": "sequence_length",
            "b": "micro_batch_size",
            "h": "hidden_size",
            "a": "num_attention_heads",
            "t": "tensor_parallel",
        },
    ),
    "matmul_time": Example(
        title="A matrix product in tiles and waves",
        function=compute.matmul_time,
        symbols=_matmul,
        inputs={"k": "hidden_size"},
    ),
    "gradient_size": Example(
        title="Gradients",
        function=overlap.gradient_size,
        symbols=_gradients,
        inputs={"P": "parameters", "e": "gradient_type"},
    ),
    "forward_time": _passed("Forward pass", "Tf", overlap.forward_time),
    "backward_time": _passed("Backward pass", "Tb", overlap.backward_time),
    "compute_time": _passed("Computation of a step", "Tc", overlap.compute_time),
    "exposed_time": Example(
        title="Exposed communication", function=overlap.exposed_time, symbols=_exposed_time
    ),
    "step_time": Example(title="Step", function=overlap.step_time, symbols=_step),
    "communication_share": Example(
        title="Share of the step that waits",
        function=overlap.communication_share,
        symbols=_share(overlap.communication_share),
    ),
    "efficiency": Example(
        title="Efficiency", function=overlap.efficiency, symbols=_share(overlap.efficiency)
    ),
    "break_even_tokens": Example(
        title="Tokens that hide the all-reduce",
        function=overlap.break_even_tokens,
        symbols=_break_even,
        inputs=_PASS,
    ),
    "required_bandwidth": Example(
        title="Bandwidth that hides the all-reduce",
        function=overlap.required_bandwidth,
        symbols=_required,
    ),
}
