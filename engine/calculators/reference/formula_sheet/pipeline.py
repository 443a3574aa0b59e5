"""Numbers for the equations on pipeline schedules: file pipeline."""

from collections.abc import Mapping

from engine.calculators.reference.formula_sheet.inputs import (
    Example,
    Inputs,
    SymbolValues,
    tokens_per_gpu,
)
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, Bytes, Seconds
from engine.formulas import pipeline, pipeline_idle
from engine.formulas.overlap import forward_time

_SPLIT = {"p": "pipeline_parallel", "m": "num_microbatches", "v": "num_chunks"}
_ELEMENT: Bytes = 2.0  # bf16
_RANK = 0  # The first rank holds most.


def _forward_time(x: Inputs) -> Seconds:
    """Return the forward time of a rank per micro-batch; each backward half takes as long."""
    return forward_time(
        x.parameters / x.pipeline_parallel, tokens_per_gpu(x), x.utilization, x.peak
    )


def _num_microbatches(x: Inputs) -> int:
    """Return the micro-batches; with several chunks at least as many as stages."""
    few = x.num_chunks > 1 and x.num_microbatches < x.pipeline_parallel
    return x.pipeline_parallel if few else x.num_microbatches


def _bubble(x: Inputs) -> SymbolValues:
    case = (x.pipeline_parallel, _num_microbatches(x), x.num_chunks)
    return {
        "q": (pipeline.bubble_share(*case), SHARE),
        "o": (pipeline.bubble_over_ideal(*case), SHARE),
        "p": (x.pipeline_parallel, COUNT),
        "m": (_num_microbatches(x), COUNT),
        "v": (x.num_chunks, COUNT),
    }


def _converted(x: Inputs) -> SymbolValues:
    over = pipeline.bubble_over_ideal(x.pipeline_parallel, x.num_microbatches, x.num_chunks)
    return {"q": (pipeline.share_of_step(over), SHARE), "o": (over, SHARE)}


def _idle_symbols(x: Inputs, idle: Seconds) -> SymbolValues:
    forward = _forward_time(x)
    return {
        "Ti": (idle, SECONDS),
        "F": (forward, SECONDS),
        "I": (forward, SECONDS),
        "W": (forward, SECONDS),
        "D": (2 * forward, SECONDS),
        "O": (3 * forward, SECONDS),
        "p": (x.pipeline_parallel, COUNT),
        "v": (x.num_chunks, COUNT),
    }


def _one_f_one_b(x: Inputs) -> SymbolValues:
    forward = _forward_time(x)
    return _idle_symbols(
        x,
        pipeline_idle.one_f_one_b_idle(
            x.pipeline_parallel, forward, forward, forward, x.num_chunks
        ),
    )


def _zb_h1(x: Inputs) -> SymbolValues:
    forward = _forward_time(x)
    return _idle_symbols(
        x, pipeline_idle.zb_h1_idle(x.pipeline_parallel, forward, forward, forward)
    )


def _zb_h2(x: Inputs) -> SymbolValues:
    forward = _forward_time(x)
    return _idle_symbols(
        x, pipeline_idle.zb_h2_idle(x.pipeline_parallel, forward, forward, forward)
    )


def _dualpipe(x: Inputs) -> SymbolValues:
    forward = _forward_time(x)
    return _idle_symbols(
        x, pipeline_idle.dualpipe_idle(x.pipeline_parallel, 3 * forward, 2 * forward, forward)
    )


def _dualpipe_v(x: Inputs) -> SymbolValues:
    forward = _forward_time(x)
    return _idle_symbols(
        x, pipeline_idle.dualpipe_v_idle(x.pipeline_parallel, 3 * forward, 2 * forward, forward)
    )


def _step(x: Inputs) -> SymbolValues:
    forward, idle = _forward_time(x), _one_f_one_b(x)["Ti"][0]
    step = pipeline.pipeline_step(x.num_microbatches, forward, forward, forward, idle)
    return {**_idle_symbols(x, idle), "Ts": (step, SECONDS), "m": (x.num_microbatches, COUNT)}


def _peak_symbols(x: Inputs) -> SymbolValues:
    p, m, v = x.pipeline_parallel, x.num_microbatches, x.num_chunks
    return {
        "A": (pipeline.one_f_one_b_peak(_RANK, p, m), COUNT),
        "r": (_RANK, COUNT),
        "p": (p, COUNT),
        "m": (m, COUNT),
        "v": (v, COUNT),
    }


def _interleaved_held(x: Inputs) -> SymbolValues:
    peak = pipeline.interleaved_peak(_RANK, x.pipeline_parallel, x.num_chunks)
    return {**_peak_symbols(x), "A": (peak, COUNT)}


def _bytes(x: Inputs) -> SymbolValues:
    p, m, v = x.pipeline_parallel, x.num_microbatches, x.num_chunks
    message = _ELEMENT * tokens_per_gpu(x) * x.hidden_size
    return {
        "V": (pipeline.pipeline_bytes(m, p, message, v), BYTES),
        "S": (message, BYTES),
        "p": (p, COUNT),
        "m": (m, COUNT),
        "v": (v, COUNT),
    }


EXAMPLES: Mapping[str, Example] = {
    "bubble_share": Example(
        title="Pipeline bubble, share of the step (m ≥ p, or one chunk)",
        function=pipeline.bubble_share,
        symbols=_bubble,
        inputs=_SPLIT,
    ),
    "bubble_over_ideal": Example(
        title="Pipeline bubble, over the ideal (m ≥ p, or one chunk)",
        function=pipeline.bubble_over_ideal,
        symbols=_bubble,
        inputs=_SPLIT,
    ),
    "bubble_conversion": Example(
        title="From one convention to the other",
        function=pipeline.share_of_step,
        symbols=_converted,
    ),
    "one_f_one_b_idle": Example(
        title="Idle time, 1F1B and interleaved",
        function=pipeline_idle.one_f_one_b_idle,
        symbols=_one_f_one_b,
        inputs=_SPLIT,
    ),
    "zb_h1_idle": Example(
        title="Idle time, ZB-H1", function=pipeline_idle.zb_h1_idle, symbols=_zb_h1, inputs=_SPLIT
    ),
    "zb_h2_idle": Example(
        title="Idle time, ZB-H2", function=pipeline_idle.zb_h2_idle, symbols=_zb_h2, inputs=_SPLIT
    ),
    "dualpipe_idle": Example(
        title="Idle time, DualPipe",
        function=pipeline_idle.dualpipe_idle,
        symbols=_dualpipe,
        inputs=_SPLIT,
    ),
    "dualpipe_v_idle": Example(
        title="Idle time, DualPipeV",
        function=pipeline_idle.dualpipe_v_idle,
        symbols=_dualpipe_v,
        inputs=_SPLIT,
    ),
    "pipeline_step": Example(
        title="Step of a pipeline",
        function=pipeline.pipeline_step,
        symbols=_step,
        inputs=_SPLIT,
    ),
    "one_f_one_b_peak": Example(
        title="Micro-batches held, 1F1B",
        function=pipeline.one_f_one_b_peak,
        symbols=_peak_symbols,
        inputs=_SPLIT,
    ),
    "interleaved_peak": Example(
        title="Micro-batches held, interleaved",
        function=pipeline.interleaved_peak,
        symbols=_interleaved_held,
        inputs=_SPLIT,
    ),
    "pipeline_bytes": Example(
        title="Bytes between stages",
        function=pipeline.pipeline_bytes,
        symbols=_bytes,
        inputs=_SPLIT,
    ),
}
