"""Values of the largest batch whose receipts depend on the run, and its verdicts."""

from engine.calculators.one_gpu.largest_batch.result import Result
from engine.catalog.unfitted_errors import OWN
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE
from engine.core.views import Badge, Value
from engine.form.memory_fit import fit_badge
from engine.form.run.prediction_text import evidence_assumptions, memory_error_text, range_note
from engine.run.run import Run
from engine.simulate.step.largest_batch import SEQUENCES

_PAPERS = ("korthikanti2022", "rajbhandari2020")


def values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the memory of the fullest GPU, part by part, and the speed."""
    run = result.found.run
    peak = (memory_error_text(), "Of the process, with the context of CUDA and NCCL.")
    return {
        "total": present.value("total", assumes=peak, sources=_PAPERS),
        **present.values("fixed", "per_sequence"),
        "usable": present.value("usable", sources=(run.cluster.gpu.source, "bigscience2022")),
        "token_rate": present.value(
            "token_rate",
            assumes=(
                *evidence_assumptions(result.evidence),
                *_adapter_error(run),
                f"Each data-parallel rank works through {SEQUENCES} sequences in a step.",
                "Nodes of 8 GPUs with one port of 400 Gb/s for each.",
            ),
            sources=("korthikanti2022",),
            note=_speed_value(present, result),
        ),
    }


def _adapter_error(run: Run) -> tuple[Text, ...]:
    """Return how far steps that train adapters alone were off where we measured them."""
    if not run.training.lora_rank:
        return ()
    rows = [row for row in OWN if row[0] in ("LoRA time, compiled", "LoRA time, eager")]
    count = sum(row[1] for row in rows)
    words = "We measured {n} steps with adapters alone on an H100 and an H200: the mean error is "
    words += "{mean}. With one sequence of a small model the host launches kernels more slowly "
    words += "than the GPU runs them; such a step is predicted up to {worst} too short."
    mean, worst = sum(row[1] * row[2] for row in rows) / count, -min(row[3] for row in rows)
    return (say(words, n=(count, COUNT), mean=(mean, SHARE), worst=(worst, SHARE)),)


def _speed_value(present: Presenter, result: Result) -> Text:
    if not result.found.fit.runs:
        return "it does not fit: no step runs"
    again = "computing {again} of what the model needs" if result.again > 1.001 else ""
    return range_note(present, "token_rate", result.evidence, present.fill_text(again))


def largest(present: Presenter, result: Result) -> Value:
    """Return the largest micro-batch."""
    return present.value(
        "largest",
        assumes=(
            memory_error_text(),
            "The line is that of the pipeline stage which runs out of memory first.",
            "The CUDA context was measured on an H100; the buffers of NCCL are fitted.",
        ),
        sources=(*_PAPERS, result.found.run.cluster.gpu.source),
        note="sequences on the one data-parallel rank"
        if result.ranks == 1
        else "sequences on each of {ranks} data-parallel ranks",
    )


def fits(present: Presenter, result: Result) -> Badge:
    """Return the badge on whether the reader's micro-batch fits."""
    if result.fixed > result.usable:
        text, color = "States", "optimizer"
        words = "Without a single sequence a GPU must hold {fixed}; {usable} may be filled. "
        words += "Shard more."
        return Badge(text=text, sentence=present.say(words), color=color)
    return fit_badge(
        result.found.fit, f"A micro-batch of {result.found.run.training.micro_batch_size:,}"
    )
