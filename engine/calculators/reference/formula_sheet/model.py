"""Examples of the equations on a GPU and its share of a model: computation and memory."""

from collections.abc import Callable, Mapping

from engine.calculators.reference.formula_sheet.inputs import (
    ELEMENT,
    GPU,
    Example,
    Inputs,
    SymbolValues,
    bucketed_all_reduce_time,
    gradient_bytes,
    num_buckets,
    tokens_per_gpu,
    world_size,
)
from engine.catalog.constants import achieved_shares
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
from engine.formulas import compute, gpt, overlap, states
from engine.formulas.communication import ring_bytes_sent

_PASS = {"P": "parameters", "u": "utilization", "F": "peak"}


def _pass_example(
    title: str, key: str, function: Callable[[Parameters, Tokens, Share, float], Seconds]
) -> Example:
    """Return the example of a computation time on a GPU."""

    def symbols(x: Inputs) -> SymbolValues:
        return {
            key: (function(x.parameters, tokens_per_gpu(x), x.utilization, x.peak), SECONDS),
            "P": (x.parameters, PARAMETERS),
            "t": (tokens_per_gpu(x), TOKENS),
            "u": (x.utilization, SHARE),
            "F": (x.peak, FLOP_RATE),
        }

    return Example(title=title, function=function, symbols=symbols, inputs=_PASS)


def _compute_time(x: Inputs) -> Seconds:
    return overlap.compute_time(x.parameters, tokens_per_gpu(x), x.utilization, x.peak)


def _backward(x: Inputs) -> Seconds:
    return overlap.backward_time(x.parameters, tokens_per_gpu(x), x.utilization, x.peak)


def _exposed(x: Inputs) -> Seconds:
    return overlap.exposed_time(
        bucketed_all_reduce_time(x, gradient_bytes(x)), _backward(x), num_buckets(x)
    )


def _gradients(x: Inputs) -> SymbolValues:
    return {
        "S": (gradient_bytes(x), BYTES),
        "P": (x.parameters, PARAMETERS),
        "e": (ELEMENT[x.gradient_type], BYTES),
    }


def _exposed_time(x: Inputs) -> SymbolValues:
    return {
        "Te": (_exposed(x), SECONDS),
        "Tm": (bucketed_all_reduce_time(x, gradient_bytes(x)), SECONDS),
        "N": (num_buckets(x), COUNT),
        "Tb": (_backward(x), SECONDS),
    }


def _step(x: Inputs) -> SymbolValues:
    computation, exposed = _compute_time(x), _exposed(x)
    time = overlap.step_time(computation, exposed)
    return {"Ts": (time, SECONDS), "Tc": (computation, SECONDS), "Te": (exposed, SECONDS)}


def _share_example(
    function: Callable[[Seconds, Seconds], Share],
) -> Callable[[Inputs], SymbolValues]:
    def symbols(x: Inputs) -> SymbolValues:
        computation, exposed = _compute_time(x), _exposed(x)
        share = function(computation, exposed)
        return {"q": (share, SHARE), "Te": (exposed, SECONDS), "Tc": (computation, SECONDS)}

    return symbols


def _break_even(x: Inputs) -> SymbolValues:
    time = bucketed_all_reduce_time(x, gradient_bytes(x))
    tokens_needed = overlap.break_even_tokens(time, x.parameters, x.utilization, x.peak)
    return {
        "t": (tokens_needed, TOKENS),
        "Tm": (time, SECONDS),
        "u": (x.utilization, SHARE),
        "F": (x.peak, FLOP_RATE),
        "P": (x.parameters, PARAMETERS),
    }


def _required(x: Inputs) -> SymbolValues:
    sent = ring_bytes_sent(gradient_bytes(x), world_size(x))
    latency = bucketed_all_reduce_time(x, 0.0)
    required = overlap.required_bandwidth(sent, _backward(x), latency)
    return {
        "B": (required, BANDWIDTH),
        "V": (sent, BYTES),
        "Tb": (_backward(x), SECONDS),
        "a": (latency, SECONDS),
    }


def _gpt(x: Inputs) -> SymbolValues:
    count = gpt.gpt_parameters(x.num_layers, x.hidden_size, x.vocab_size, x.sequence_length)
    return {
        "P": (count, PARAMETERS),
        "l": (x.num_layers, COUNT),
        "h": (x.hidden_size, COUNT),
        "V": (x.vocab_size, COUNT),
        "s": (x.sequence_length, COUNT),
    }


def _palm(x: Inputs) -> SymbolValues:
    count = gpt.palm_operations(x.parameters, x.num_layers, x.hidden_size, x.sequence_length)
    return {
        "C": (count, OPERATIONS),
        "N": (x.parameters, PARAMETERS),
        "L": (x.num_layers, COUNT),
        "H": (x.num_attention_heads, COUNT),
        "Q": (x.hidden_size / x.num_attention_heads, COUNT),
        "T": (x.sequence_length, TOKENS),
    }


def _megatron(x: Inputs) -> SymbolValues:
    sequences = x.micro_batch_size * world_size(x)
    count = gpt.megatron_operations(
        sequences, x.sequence_length, x.num_layers, x.hidden_size, x.vocab_size
    )
    return {
        "F": (count, OPERATIONS),
        "B": (sequences, COUNT),
        "s": (x.sequence_length, TOKENS),
        "l": (x.num_layers, COUNT),
        "h": (x.hidden_size, COUNT),
        "V": (x.vocab_size, COUNT),
    }


def _korthikanti(x: Inputs) -> SymbolValues:
    size = gpt.korthikanti_activations(
        tokens_per_gpu(x),
        x.hidden_size,
        x.num_attention_heads,
        x.sequence_length,
        x.tensor_parallel,
    )
    return {
        "A": (size, BYTES),
        "s": (x.sequence_length, TOKENS),
        "b": (x.micro_batch_size, COUNT),
        "h": (x.hidden_size, COUNT),
        "a": (x.num_attention_heads, COUNT),
        "t": (x.tensor_parallel, COUNT),
    }


def _zero(x: Inputs) -> SymbolValues:
    kinds = states.MIXED_PRECISION
    sharded = states.sharded_states(x.parameters, kinds, x.zero_stage, world_size(x))
    total: Bytes = sharded.parameters + sharded.gradients + sharded.optimizer

    def sharers(stage: int) -> tuple[float, Quantity]:
        return (world_size(x) if x.zero_stage >= stage else 1, COUNT)

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


def _matmul(x: Inputs) -> SymbolValues:
    """Return the symbols of the first feed-forward product: [tokens, h] x [h, 4h], one kernel."""
    rows, columns, fill = tokens_per_gpu(x), 4.0 * x.hidden_size, achieved_shares(GPU).fill
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
        function=gpt.gpt_parameters,
        symbols=_gpt,
        inputs=_LAYER,
    ),
    "palm_operations": Example(
        title="Operations of one token",
        function=gpt.palm_operations,
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
        function=gpt.megatron_operations,
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
        function=gpt.korthikanti_activations,
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
    "forward_time": _pass_example("Forward pass", "Tf", overlap.forward_time),
    "backward_time": _pass_example("Backward pass", "Tb", overlap.backward_time),
    "compute_time": _pass_example("Computation of a step", "Tc", overlap.compute_time),
    "exposed_time": Example(
        title="Exposed communication", function=overlap.exposed_time, symbols=_exposed_time
    ),
    "step_time": Example(title="Step", function=overlap.step_time, symbols=_step),
    "communication_share": Example(
        title="Share of the step that waits",
        function=overlap.communication_share,
        symbols=_share_example(overlap.communication_share),
    ),
    "efficiency": Example(
        title="Efficiency", function=overlap.efficiency, symbols=_share_example(overlap.efficiency)
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
