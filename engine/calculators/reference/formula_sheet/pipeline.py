"""Numbers for the equations on pipeline schedules: file pipeline."""

from collections.abc import Mapping

from engine.calculators.reference.formula_sheet.example import Example, Shown, tokens
from engine.calculators.reference.formula_sheet.inputs import Inputs
from engine.core.units import BYTES, COUNT, SECONDS, SHARE, Bytes, Seconds
from engine.formulas import pipeline, pipeline_idle
from engine.formulas.overlap import forward_time

_SPLIT = {"p": "pipeline_parallel", "m": "num_microbatches", "v": "num_chunks"}
_ELEMENT: Bytes = 2.0  # bf16
_RANK = 0  # The first rank holds most.


def _pass(x: Inputs) -> Seconds:
    """Return the forward pass of a rank on one micro-batch; both backward halves take as long."""
    return forward_time(x.parameters / x.pipeline_parallel, tokens(x), x.utilization, x.peak)


def _in_domain(x: Inputs) -> int:
    """Return the micro-batches; with several chunks at least as many as stages."""
    few = x.num_chunks > 1 and x.num_microbatches < x.pipeline_parallel
    return x.pipeline_parallel if few else x.num_microbatches


def _bubble(x: Inputs) -> Shown:
    case = (x.pipeline_parallel, _in_domain(x), x.num_chunks)
    return {
        "q": (pipeline.bubble_share(*case), SHARE),
        "o": (pipeline.bubble_over_ideal(*case), SHARE),
        "p": (x.pipeline_parallel, COUNT),
        "m": (_in_domain(x), COUNT),
        "v": (x.num_chunks, COUNT),
    }


def _converted(x: Inputs) -> Shown:
    over = pipeline.bubble_over_ideal(x.pipeline_parallel, x.num_microbatches, x.num_chunks)
    return {"q": (pipeline.share_of_step(over), SHARE), "o": (over, SHARE)}


def _idle(x: Inputs, idle: Seconds) -> Shown:
    one = _pass(x)
    return {
        "Ti": (idle, SECONDS),
        "F": (one, SECONDS),
        "I": (one, SECONDS),
        "W": (one, SECONDS),
        "D": (2 * one, SECONDS),
        "O": (3 * one, SECONDS),
        "p": (x.pipeline_parallel, COUNT),
        "v": (x.num_chunks, COUNT),
    }


def _one_f_one_b(x: Inputs) -> Shown:
    one = _pass(x)
    return _idle(
        x, pipeline_idle.one_f_one_b_idle(x.pipeline_parallel, one, one, one, x.num_chunks)
    )


def _zb_h1(x: Inputs) -> Shown:
    one = _pass(x)
    return _idle(x, pipeline_idle.zb_h1_idle(x.pipeline_parallel, one, one, one))


def _zb_h2(x: Inputs) -> Shown:
    one = _pass(x)
    return _idle(x, pipeline_idle.zb_h2_idle(x.pipeline_parallel, one, one, one))


def _dualpipe(x: Inputs) -> Shown:
    one = _pass(x)
    return _idle(x, pipeline_idle.dualpipe_idle(x.pipeline_parallel, 3 * one, 2 * one, one))


def _dualpipe_v(x: Inputs) -> Shown:
    one = _pass(x)
    return _idle(x, pipeline_idle.dualpipe_v_idle(x.pipeline_parallel, 3 * one, 2 * one, one))


def _step(x: Inputs) -> Shown:
    one, idle = _pass(x), _one_f_one_b(x)["Ti"][0]
    step = pipeline.pipeline_step(x.num_microbatches, one, one, one, idle)
    return {**_idle(x, idle), "Ts": (step, SECONDS), "m": (x.num_microbatches, COUNT)}


def _held(x: Inputs) -> Shown:
    p, m, v = x.pipeline_parallel, x.num_microbatches, x.num_chunks
    return {
        "A": (pipeline.one_f_one_b_peak(_RANK, p, m), COUNT),
        "r": (_RANK, COUNT),
        "p": (p, COUNT),
        "m": (m, COUNT),
        "v": (v, COUNT),
    }


def _interleaved_held(x: Inputs) -> Shown:
    peak = pipeline.interleaved_peak(_RANK, x.pipeline_parallel, x.num_chunks)
    return {**_held(x), "A": (peak, COUNT)}


def _bytes(x: Inputs) -> Shown:
    p, m, v = x.pipeline_parallel, x.num_microbatches, x.num_chunks
    message = _ELEMENT * tokens(x) * x.hidden_size
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
        symbols=_held,
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
