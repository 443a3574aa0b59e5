"""Range of a predicted step time, from out-of-sample errors of runs of its class.

The constants were fitted again without each source, and without each model, and tried on it; runs
of MLPerf Training were never fitted. The errors of a class of runs then say in what range four of
five measured steps lie, in either way. A run beyond what was measured gets a wider one, and is told
so. Constants measured on the cluster itself narrow it by what they explain.
"""

import math
from collections.abc import Iterator

from engine.catalog.constants import GUESS_ERROR, is_guessed
from engine.catalog.measured_collectives import MOST_GATHERED
from engine.catalog.unseen_errors import CLASSES, FEWEST, FITTED, REACH
from engine.core.record import record
from engine.core.units import Count, Ratio, Seconds, Share
from engine.formulas.operations import MULTIPLY_ADD, local_tokens
from engine.formulas.parameters import matrix_parameters
from engine.run.parallelism import sharding_ranks
from engine.run.run import Run
from engine.run.software import SOFTWARE, gradient_bytes
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.step.error_attribution import explained_variance

# By how much each thing that no published run has widens the range, as a factor on its logarithm,
# about the middle: what nobody tried may err in either way, where all runs of a class err in one.
# With it 24 of the 29 runs of MLPerf Training that go beyond the fit lie in their range; 21 do
# with 1.5, and 26 with 2.
EXTRAPOLATION_FACTOR: Ratio = 1.75
# The logarithm that a range is widened by at most, a factor of ten: beyond it says nothing.
WIDEST: Ratio = math.log(10)
# Of all runs of the fit under FSDP, the most by `ports_over_products`.
SLOWEST_PORTS: Ratio = 1.4


@record
class PredictionSpread:
    """Out-of-sample error range of such predictions.

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


def run_classes(run: Run) -> tuple[str, ...]:
    """Return the classes of a run, the narrowest first."""
    training = run.training
    kind = "mixtures of experts" if run.model.num_experts else "dense models"
    software = _SOFTWARE.get(training.framework, training.framework)
    software = f"{'' if training.compiled else 'eager '}{software}"
    bits = {"fp8": "fp8", "fp4": "fp4"}.get(training.precision, "16 bits")
    gpu = run.cluster.gpu.name.split()[0]
    of = f"adapters of {kind}" if training.lora_rank else kind
    names = (
        f"{of} in {bits} with {software} on {gpu}",
        f"{of} in {bits} with {software}",
        f"{of} in {bits}",
        of,
    )
    return names if of == kind else (*names, kind)


def prediction_spread(run: Run) -> PredictionSpread:
    """Return the error range of the predicted step time of a run."""
    name = next(name for name in run_classes(run) if name in CLASSES)
    runs, low, high = CLASSES[name]
    beyond = tuple(_extrapolations(run, name))
    times = len(beyond) + max(0, _halvings(run) - 1)  # a short layer is in `beyond` once
    explained_share = explained_variance(run, name)
    narrower = (1 - explained_share) ** 0.5
    wider = (EXTRAPOLATION_FACTOR**times - 1) * narrower * (high - low) / 2
    if is_guessed(run.cluster.gpu) and not _has_measured_products(run):
        wider += math.log(GUESS_ERROR)
    wider = min(WIDEST, wider)
    # Errors are predicted over measured: where predictions were too slow, the step lies below.
    low, high = math.exp(-high * narrower - wider), math.exp(-low * narrower + wider)
    if mix := run.model.mix:
        # Every published step of such a model is longer than predicted.
        known = run.cluster.gpu.name.split()[0] in FITTED
        low, high = (1.0 if known else low), max(high, mix.slower)
    return PredictionSpread(
        name=name,
        runs=runs,
        low=low,
        high=high,
        beyond=beyond,
        explained=explained_share,
    )


def step_range(run: Run, step: Seconds) -> tuple[Seconds, Seconds, PredictionSpread]:
    """Return the low and high end of the range of four in five such steps, and its spread."""
    prediction = prediction_spread(run)
    return step * prediction.low, step * prediction.high, prediction


def layer_at_peak(run: Run) -> Seconds:
    """Return the time of a layer and micro-batch on a rank at the peak of its GPU.

    Where it is short, launches, latencies and small tiles decide, which long layers say little of.
    """
    model, training = run.model, run.training
    passes = 2 if training.lora_rank else 3
    weights = matrix_parameters(model) / model.num_layers / run.plan.tensor_parallel
    gpu = run.cluster.gpu
    rate = gpu.peak[gpu.computes_in(training.precision)]
    return passes * MULTIPLY_ADD * local_tokens(run.plan, training) * weights / rate


def _halvings(run: Run) -> Count:
    """Return how often the shortest layer of the fit must be halved to be as short; 0: it is not.

    Each halving widens the range like a thing that no run has. Of adapters, short layers are among
    the runs of their class.
    """
    ratio = REACH[run_classes(run)[-1]][3] / layer_at_peak(run)
    return 0 if ratio <= 1 or run.training.lora_rank else math.ceil(math.log2(ratio))


def _extrapolations(run: Run, name: str) -> Iterator[str]:
    """Yield sentences on where a run extrapolates beyond the runs of its class, `name`."""
    yield from sizes_beyond_fit(run)
    if run.model.mix:
        yield run.model.mix.unmeasured
    gpu = run.cluster.gpu.name
    unfitted = gpu.split()[0] not in FITTED and not _has_measured_products(run)
    if unfitted and not name.endswith(f" on {gpu.split()[0]}"):
        guessed = is_guessed(run.cluster.gpu)
        origin = "a guess" if guessed else "another's, or read off benchmarks"
        yield f"No run on {gpu} was fitted: its constants are {origin}."
    yield from _unfitted_settings(run)


def ports_over_products(run: Run) -> Ratio:
    """Return how much longer FSDP's collectives take the ports than products take the GPU.

    In each micro-batch a node receives all parameters twice and sends all gradients once; products
    are taken at half of the peak. 0 for other runs, and inside one node.
    """
    plan, cluster, training = run.plan, run.cluster, run.training
    nodes = sharding_ranks(plan) * plan.tensor_parallel / cluster.gpus_per_node
    if plan.zero_stage < 3 or training.framework != "fsdp" or nodes <= 1:
        return 0.0
    ports = cluster.nics_per_node * cluster.nic_bandwidth
    sent = 2 * HALF + gradient_bytes(training, SOFTWARE[training.framework])
    products = 2 * run.model.num_layers * layer_at_peak(run)
    return sent * matrix_parameters(run.model) / ports / products


def sizes_beyond_fit(run: Run) -> Iterator[str]:
    """Yield sentences on where a run differs in size from the fitted runs of its kind."""
    gpus, length, experts, shortest = REACH[run_classes(run)[-1]]
    of = "run of the fit with experts" if run.model.num_experts else "run of the fit"
    if (size := run.plan.world_size) > gpus:
        yield f"The largest {of} has {gpus:,} GPUs; this one has {size:,}."
    if (tokens := run.training.sequence_length) > length:
        yield f"The longest sequence of a {of} has {length:,} tokens; this one has {tokens:,}."
    if _halvings(run):
        yield (
            f"A layer and micro-batch take {1e6 * layer_at_peak(run):,.0f} µs at the peak of the "
            f"GPU; the shortest of a {of} take {1e6 * shortest:,.0f}."
        )
    gathers = run.plan.zero_stage == 3 or (run.plan.zero_stage and not run.training.lora_rank)
    ranks = sharding_ranks(run.plan) if gathers else 1
    if ranks > MOST_GATHERED:
        yield f"Gathers were measured over {MOST_GATHERED} ranks at most; these go over {ranks:,}."
    if (ports := ports_over_products(run)) > SLOWEST_PORTS:
        yield (
            f"Sharding takes the ports {ports:.1f} times as long as products take the GPU; no run "
            f"of the fit is beyond {SLOWEST_PORTS:g}."
        )
    if run.model.num_experts > experts:
        yield f"No model of the fit has more than {experts} experts."
    if run.model.num_experts and not run.training.even_routing:
        yield "Routers of most runs of the fit are forced to be even; this one is left to itself."


def _unfitted_settings(run: Run) -> Iterator[str]:
    """Yield sentences on training settings that no fitted run has."""
    training, software = run.training, run_classes(run)[1]
    if training.framework == "xla":
        yield "No run with XLA was fitted."
    elif software not in CLASSES:
        yield f"Fewer than {FEWEST} runs of the fit are {software}."
    if training.nf4_weights:
        yield "No run of the fit has weights in 4 bits."
    if training.optimizer != "adam":
        yield f"No run of the fit has the optimizer {_OPTIMIZERS[training.optimizer]}."


def _has_measured_products(run: Run) -> bool:
    """Return whether the rates that matter most were measured on these GPUs."""
    own = run.cluster.own_constants
    if own is None or not own.of(run.cluster.gpu):
        return False
    return {"matmul", "memory"} <= {name for name, _ in own.measured}
