"""What an estimate shows: its numbers with their receipts."""

from engine.core.outputs import Teller
from engine.core.text import Text
from engine.core.views import Value
from engine.form.run.equations import HFU, MFU, PEAK, STEP, TOKENS_PER_SECOND
from engine.form.run.prediction_text import known, memory_error, near
from engine.form.run.result import Estimated

EQUATIONS = (STEP, TOKENS_PER_SECOND, MFU, HFU, PEAK)


def values(found: Estimated) -> dict[str, Value]:
    """Return the numbers of an estimate by name."""
    tell = Teller(found, equations=EQUATIONS)
    error, gpu = near(found.evidence), (found.run.cluster.gpu.source,)
    counted = ("Attention is counted in full, as if nothing were masked.", error)
    return {
        "step_time": tell.value("step_time", assumes=_assumptions(found), note=error),
        "token_rate": tell.value("token_rate", assumes=(error,)),
        "mfu": tell.value("mfu", assumes=counted, sources=gpu),
        "hfu": tell.value(
            "hfu",
            equation=HFU,
            symbols={"u": "hfu", "Q": "hardware_operations"},
            assumes=counted,
            sources=gpu,
        ),
        **tell.values("flops_rate", "parameters"),
    }


def peak(found: Estimated) -> Value:
    """Return the memory of the fullest GPU."""
    error = memory_error()
    return Teller(found.held, equations=(PEAK,)).value(
        "peak_memory",
        assumes=(error, "An allocator's peak; nvidia-smi adds the context of CUDA and NCCL."),
        sources=(found.run.cluster.gpu.source,),
        note=error,
    )


def _assumptions(found: Estimated) -> tuple[Text, ...]:
    return (
        *known(found.evidence),
        "The slowest rank sets the step; experts are loaded evenly; no failure, no checkpoint.",
    )
