"""Values of an estimate with their receipts."""

from engine.core.outputs import Presenter
from engine.core.text import Text
from engine.core.views import Value
from engine.form.conventions import STEP_MODEL_COUNT
from engine.form.run.equations import HFU, MFU, PEAK, STEP, TOKENS_PER_SECOND
from engine.form.run.prediction_text import evidence_assumptions, memory_error_text, range_text
from engine.form.run.result import RunEstimate

EQUATIONS = (STEP, TOKENS_PER_SECOND, MFU, HFU, PEAK)


def estimate_values(estimate: RunEstimate) -> dict[str, Value]:
    """Return the numbers of an estimate by name."""
    present = Presenter(estimate, equations=EQUATIONS)
    error, gpu = range_text(estimate.evidence), _gpu_sources(estimate)
    counted = (STEP_MODEL_COUNT, error)
    return {
        "step_time": present.value("step_time", assumes=_assumptions(estimate), note=error),
        "token_rate": present.value("token_rate", assumes=(error,)),
        "mfu": present.value("mfu", assumes=counted, sources=gpu),
        "hfu": present.value(
            "hfu",
            equation=HFU,
            symbols={"u": "hfu", "Q": "hardware_operations"},
            assumes=counted,
            sources=gpu,
        ),
        **present.values("flops_rate", "parameters"),
    }


def peak_value(estimate: RunEstimate) -> Value:
    """Return the memory of the rank that holds most."""
    error = memory_error_text()
    return Presenter(estimate.held, equations=(PEAK,)).value(
        "peak_memory",
        assumes=(error, "An allocator's peak; nvidia-smi adds the context of CUDA and NCCL."),
        sources=_gpu_sources(estimate),
        note=error,
    )


def _gpu_sources(estimate: RunEstimate) -> tuple[str, ...]:
    """Return where the GPU's figures are from; nothing for one of the reader's own."""
    source = estimate.run.cluster.gpu.source
    return (source,) if source else ()


def _assumptions(estimate: RunEstimate) -> tuple[Text, ...]:
    return (
        *evidence_assumptions(estimate.evidence),
        "The slowest rank sets the step; experts are loaded evenly; no failure, no checkpoint.",
    )
