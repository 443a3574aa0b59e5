"""In what range a predicted step lies: by how far off unseen runs of its class were.

The constants were fitted again without each source, and without each model, and tried on it. The
errors of a class of runs then say in what range four of five measured steps lie, in either way. A
run beyond what was measured gets a wider one, and is told so. Constants measured on the cluster
itself narrow it by what they explain.
"""

import math
from collections.abc import Iterator

from engine.catalog.unseen_errors import CLASSES, FEWEST, FITTED, REACH
from engine.core.record import record
from engine.core.units import Count, Ratio, Seconds, Share
from engine.run.run import Run
from engine.simulate.step.error_attribution import explained

# By how much each thing that no published run has widens the range, as a factor on its logarithm,
# about the middle: what nobody tried may err in either way, where all runs of a class err in one.
WIDER: Ratio = 1.5


@record
class Spread:
    """How far off such predictions are.

    Attributes:
        name: of the class, in words.
        runs: published runs of the class.
        low: the share of the predicted step from which on four in five measured ones lie.
        high: up to which they lie.
        beyond: in what the run goes beyond every run of the fit, in sentences.
        explained: of the variance, by constants measured on the cluster; the range is narrower.
    """

    name: str
    runs: Count
    low: Ratio
    high: Ratio
    beyond: tuple[str, ...]
    explained: Share = 0.0


_OPTIMIZERS = {"sgd": "SGD", "muon": "Muon"}
_SOFTWARE = {"deepspeed": "DeepSpeed", "fsdp": "FSDP", "megatron": "Megatron"}


def classes_of(run: Run) -> tuple[str, ...]:
    """Return the classes of a run, the narrowest first."""
    training = run.training
    kind = "mixtures of experts" if run.model.num_experts else "dense models"
    software = _SOFTWARE.get(training.framework, training.framework)
    software = f"{'' if training.compiled else 'eager '}{software}"
    bits = {"fp8": "fp8", "fp4": "fp4"}.get(training.precision, "16 bits")
    gpu = run.cluster.gpu.name.split()[0]
    return (
        f"{kind} in {bits} with {software} on {gpu}",
        f"{kind} in {bits} with {software}",
        f"{kind} in {bits}",
        kind,
    )


def spread(run: Run) -> Spread:
    """Return how far off the predicted step of a run is likely to be."""
    name = next(name for name in classes_of(run) if name in CLASSES)
    runs, low, high = CLASSES[name]
    beyond = tuple(_beyond(run))
    known = explained(run, name)
    narrower = (1 - known) ** 0.5
    wider = (WIDER ** len(beyond) - 1) * narrower * (high - low) / 2
    # Predicted over measured: where predictions were too slow, the step lies below.
    return Spread(
        name=name,
        runs=runs,
        low=math.exp(-high * narrower - wider),
        high=math.exp(-low * narrower + wider),
        beyond=beyond,
        explained=known,
    )


def step_range(run: Run, step: Seconds) -> tuple[Seconds, Seconds, Spread]:
    """Return from where to where four in five such steps lie."""
    found = spread(run)
    return step * found.low, step * found.high, found


def _beyond(run: Run) -> Iterator[str]:
    """Yield in what a run goes beyond those of the fit, in sentences."""
    yield from _further(run)
    gpu = run.cluster.gpu.name
    if gpu.split()[0] not in FITTED and not _measures_products(run):
        yield f"No run on {gpu} was fitted: its constants are another's, or read off benchmarks."
    yield from _otherwise(run)


def _further(run: Run) -> Iterator[str]:
    """Yield in what a run is larger than those of its kind of model."""
    gpus, length, experts = REACH[classes_of(run)[-1]]
    of = "run of the fit with experts" if run.model.num_experts else "run of the fit"
    if (size := run.plan.world_size) > gpus:
        yield f"The largest {of} has {gpus:,} GPUs; this one has {size:,}."
    if (tokens := run.training.sequence_length) > length:
        yield f"The longest sequence of a {of} has {length:,} tokens; this one has {tokens:,}."
    if run.model.num_experts > experts:
        yield f"No model of the fit has more than {experts} experts."


def _otherwise(run: Run) -> Iterator[str]:
    """Yield in what a run trains in another way."""
    training, software = run.training, classes_of(run)[1]
    if training.framework == "xla":
        yield "No run with XLA was fitted."
    elif software not in CLASSES:
        yield f"Fewer than {FEWEST} runs of the fit are {software}."
    if training.optimizer != "adam":
        yield f"No run of the fit has the optimizer {_OPTIMIZERS[training.optimizer]}."
    if training.lora_rank:
        yield "No run of the fit trains adapters alone."


def _measures_products(run: Run) -> bool:
    """Return whether the rates that matter most were measured on these GPUs."""
    own = run.cluster.own
    if own is None or not own.of(run.cluster.gpu):
        return False
    return {"matmul", "memory"} <= {name for name, _ in own.measured}
