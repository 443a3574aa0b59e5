"""The job behind the explorer: its run, its estimate, its levers and its wires."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs, shared_inputs
from engine.calculators.whole_runs.stack_explorer.shown import Part, part_of
from engine.core.lazy import Lazy
from engine.core.text import Text
from engine.core.units import Money, Price, TokenRate
from engine.form.run.result import RunEstimate, run_estimate
from engine.form.what_if.inputs import Inputs as JobInputs
from engine.form.what_if.model import Job as Levers
from engine.form.what_if.model import what_if_job as levers_of
from engine.formulas.job import cost_of_tokens, token_rate
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_rates
from engine.simulate.step.axis_wires import AxisTimes, axis_times
from engine.simulate.step.step_time import StepTime, step_time

BILLION = 1e9
Variant = tuple[str, str, StepTime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The explorer's job, independent of the view.

    Attributes:
        run: model, cluster, plan and training.
        changes: what had to change for the plan to be possible.
        found: its estimate.
        step: its parts.
        rank: rates of a GPU.
        levers: what each change would give.
        variants: (key, name, step) with nothing overlapped, gradients, tensor parallelism too.
        wires: of its axes.
        rate: tokens per second of all GPUs.
        part: its GPUs on the map.
    """

    run: Run
    changes: tuple[Text, ...]
    found: RunEstimate
    step: StepTime
    rank: RankRates
    levers: Levers
    variants: tuple[Variant, ...]
    wires: tuple[AxisTimes, ...]
    rate: TokenRate
    part: Lazy[Part]

    @property
    def runs(self) -> bool:
        """Whether its fullest GPU holds the job; otherwise it has no rate and no price."""
        return self.found.fit.runs

    @property
    def uneven(self) -> bool:
        """Whether some stages have more layers than others."""
        return self.run.model.num_layers % self.run.plan.pipeline_parallel > 0

    def cost(self, price: Price) -> Money:
        """Return the cost of a billion tokens while steps run; infinite if none can."""
        if not self.runs:
            return inf
        return cost_of_tokens(BILLION, self.run.plan.world_size, price, self.rate)


def job(inputs: Inputs) -> Job:
    """Return the job; moving along the ruler does not compute it again."""
    return _job(shared_inputs(inputs))


@lru_cache(maxsize=8)
def _job(inputs: JobInputs) -> Job:
    levers = levers_of(inputs)
    run, step = levers.run, levers.step
    training = run.training
    return Job(
        run=run,
        changes=levers.changes,
        found=run_estimate(run),
        step=step,
        rank=rank_rates(run.cluster, training),
        levers=levers,
        variants=_variants(run),
        wires=axis_times(run, step),
        rate=token_rate(training.global_batch_size, training.sequence_length, step.total),
        part=Lazy(partial(part_of, run)),
    )


def _variants(run: Run) -> tuple[Variant, ...]:
    settings = (
        ("nothing", "nothing overlapped", False, False),
        ("gradients", "gradients overlapped (the job)", True, False),
        ("both", "collectives of layers overlapped too", True, True),
    )
    variants = []
    for key, label, gradients, layers in settings:
        training = replace(
            run.training,
            overlap_gradient_reduce=gradients,
            overlap_tensor_parallel=layers,
            overlap_expert_parallel=layers,
        )
        variants.append((key, label, step_time(run.model, run.cluster, run.plan, training)))
    return tuple(variants)
