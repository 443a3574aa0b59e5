"""The numbers of the largest batch whose receipts depend on the run, and its verdicts."""

from engine.calculators.one_gpu.largest_batch.result import Result
from engine.catalog.unfitted_errors import OWN
from engine.core.outputs import Teller
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE
from engine.core.views import Badge, Value
from engine.form.run.prediction_text import in_range, known, memory_error
from engine.run.run import Run
from engine.simulate.step.largest_batch import SEQUENCES

_PAPERS = ("korthikanti2022", "rajbhandari2020")


def values(tell: Teller, result: Result) -> dict[str, Value]:
    """Return the memory of the fullest GPU, part by part, and the speed."""
    run = result.found.run
    peak = (memory_error(), "An allocator's peak, the context of CUDA left out.")
    return {
        "total": tell.value("total", assumes=peak, sources=_PAPERS),
        **tell.values("fixed", "per_sequence"),
        "usable": tell.value("usable", sources=(run.cluster.gpu.source, "bigscience2022")),
        "token_rate": tell.value(
            "token_rate",
            assumes=(
                *known(result.evidence),
                *_adapters(run),
                f"Each data-parallel rank works through {SEQUENCES} sequences in a step.",
                "Nodes of 8 GPUs with one port of 400 Gb/s for each.",
            ),
            sources=("korthikanti2022",),
            note=_pace(tell, result),
        ),
    }


def _adapters(run: Run) -> tuple[Text, ...]:
    """Return how far steps that train adapters alone were off where we measured them."""
    if not run.training.lora_rank:
        return ()
    of = [one for one in OWN if one[0] in ("LoRA time, compiled", "LoRA time, eager")]
    count = sum(one[1] for one in of)
    words = "We measured {n} steps with adapters alone on an H100 and an H200: the mean error is "
    words += "{mean}. With one sequence of a small model the host launches kernels more slowly "
    words += "than the GPU runs them; such a step is predicted up to {worst} too short."
    mean, worst = sum(one[1] * one[2] for one in of) / count, -min(one[3] for one in of)
    return (say(words, n=(count, COUNT), mean=(mean, SHARE), worst=(worst, SHARE)),)


def _pace(tell: Teller, result: Result) -> Text:
    if not result.found.fits:
        return "it does not fit: no step runs"
    again = "computing {again} of what the model needs" if result.again > 1.001 else ""
    return in_range(tell, "token_rate", result.evidence, tell.told(again))


def largest(tell: Teller, result: Result) -> Value:
    """Return the largest micro-batch."""
    return tell.value(
        "largest",
        assumes=(
            memory_error(),
            "The line is that of the pipeline stage which runs out of memory first.",
            "The CUDA context and the channels of NCCL are taken as measured on an A100.",
        ),
        sources=(*_PAPERS, result.found.run.cluster.gpu.source),
        note="sequences on the one data-parallel rank"
        if result.ranks == 1
        else "sequences on each of {ranks} data-parallel ranks",
    )


def fits(tell: Teller, result: Result) -> Badge:
    """Return whether the reader's micro-batch fits, and what fills the memory."""
    if result.fixed > result.usable:
        text, color = "States", "optimizer"
        words = "Without a single sequence a GPU must hold {fixed}; {usable} may be filled. "
        words += "Shard more."
    elif not result.found.fits:
        text, color = "Out of memory", "buffers"
        words = "A micro-batch of {micro_batch_size} needs {total}; {usable} may be filled."
    else:
        text, color = "Fits", "activations"
        words = (
            "A micro-batch of {micro_batch_size} needs {total} of the {usable} that may be filled."
        )
    return Badge(text=text, sentence=tell.say(words), color=color)
