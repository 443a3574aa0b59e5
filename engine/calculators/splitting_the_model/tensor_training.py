"""The 260-parameter model trained with every matrix cut over two GPUs."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.catalog.models import TINY_260
from engine.core.inputs import Number, Switch
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.text import say
from engine.core.units import COUNT, Count
from engine.core.views import Badge, Table
from engine.formulas.volumes import tensor_parallel_bytes_sent
from engine.tiny import single
from engine.tiny.job import TinyJob, example_batch, num_targets
from engine.tiny.result import TrainingResult, parameter_difference
from engine.tiny.schemes import sequence_parallel, tensor_parallel

TITLE = "260 parameters, every matrix cut"
QUESTION = "Is training with cut matrices the same training?"
HEADLINE = "held"
PRESETS = {"Tensor parallel alone": {"sequence_parallel": False}}
RANKS: Count = 2
_SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    steps: Annotated[int, Number(label="Steps", low=1, high=5, whole=True)] = 3
    sequence_parallel: Annotated[bool, Switch(label="Sequence parallel")] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Training runs: a single GPU, tensor parallel, and with sequence parallelism."""

    alone: TrainingResult
    plain: TrainingResult
    split: TrainingResult
    off: float
    held: Annotated[
        Count,
        Output(
            "Parameters on each GPU",
            "",
            "of {size}",
            "parameters",
            assumes=("Norms are whole on both GPUs.",),
            sources=("shoeybi2019",),
            basis="simulated",
        ),
    ]
    size: Count
    activations: Annotated[
        Count,
        Output(
            "Hidden numbers sent by each GPU in a step",
            "",
            "by the formula {expected}",
            "communication",
            assumes=("Every message of the run was counted; those of the loss are left out.",),
            sources=("shoeybi2019", "korthikanti2022"),
            basis="simulated",
        ),
    ]
    expected: Count
    norms: Annotated[
        Count,
        Output(
            "Gradients of norms sent in a step",
            "",
            "sequence parallelism alone needs them",
            "gradients",
            assumes=("Each GPU has worked on its own rows only, so the norms' gradients differ.",),
            sources=("korthikanti2022",),
            basis="simulated",
        ),
    ]


@lru_cache(maxsize=8)
def _training(steps: Count) -> SlicedRun[tuple[TrainingResult, TrainingResult, TrainingResult]]:
    return SlicedRun(_runs(TinyJob(batch=example_batch(8, 4), steps=steps)))


def _runs(job: TinyJob) -> Slices[tuple[TrainingResult, TrainingResult, TrainingResult]]:
    yield step_progress(1, 3, "Training")
    alone = single.train(job)
    yield step_progress(2, 3, "Training")
    plain = tensor_parallel.train(job, RANKS)
    yield step_progress(3, 3, "Training")
    return alone, plain, sequence_parallel.train(job, RANKS)


def solve(inputs: Inputs) -> Result:
    """Return the runs."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train alone and in two ways on several GPUs."""
    alone, plain, split = yield from _training(inputs.steps).rest()
    chosen = split if inputs.sequence_parallel else plain
    rows = float(num_targets(chosen.job) * TINY_260.hidden_size)
    expected = tensor_parallel_bytes_sent(
        rows, TINY_260.num_layers, RANKS, sequence_parallel=inputs.sequence_parallel
    )
    return Result(
        alone=alone,
        plain=plain,
        split=split,
        off=parameter_difference(chosen, alone),
        held=chosen.state_counts[0].parameters,
        size=len(alone.parameters),
        activations=_sent_elements(chosen, "activations"),
        expected=round(expected),
        norms=_sent_elements(chosen, "gradients"),
    )


def _sent_elements(run: TrainingResult, kind: str) -> Count:
    """Return the count of elements of a kind that a GPU sends per step."""
    return max(run.sent.get(kind, (0,))) // run.job.steps


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "equal": _equal(present, result),
        **present.values("held", "activations", "norms"),
        "table": partial(_table, result),
    }


def _equal(present: Presenter, result: Result) -> Badge:
    same = result.off <= _SAME
    least = max(result.off, 1e-14)
    how = (
        f"{'less than' if result.off < least else 'up to'} {typeset(format_significant(least, 2))}"
    )
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=present.say(
            f"After {{steps}} steps the {{size}} parameters differ by {how} from those of one GPU: "
            "sums were taken in another order."
        ),
        color="parameters" if same else "communication",
    )


def _table(result: Result) -> Table:
    runs = (
        ("one GPU", result.alone),
        ("tensor parallel, 2 GPUs", result.plain),
        ("and sequence parallel", result.split),
    )
    rows = tuple(
        (
            name,
            typeset(f"{run.losses[-1]:.6f}"),
            say("{n}", n=(run.state_counts[0].parameters, COUNT)),
            say("{n}", n=(_sent_elements(run, "activations"), COUNT)),
            say("{n}", n=(_sent_elements(run, "gradients"), COUNT)),
        )
        for name, run in runs
    )
    return Table(
        title="The same training three times",
        columns=(
            "Run",
            "Loss of the last step",
            "Parameters on a GPU",
            "Hidden numbers sent",
            "Gradients sent",
        ),
        rows=rows,
    )
