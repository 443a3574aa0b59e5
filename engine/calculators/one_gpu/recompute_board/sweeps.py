"""The board over the step, over policies, over all sets and over sequence lengths."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.calculators.one_gpu.recompute_board.inputs import LONGEST, Inputs, Job, job_of
from engine.catalog.models import MODELS, Model
from engine.core.units import Bytes, Count, Operations, Share
from engine.formulas.activations import HALF
from engine.formulas.gpt import korthikanti_activations
from engine.formulas.recomputation import kept_by_layers, repeated_share
from engine.simulate.memory.allocator import Memory
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_over_step import MemoryMoment, memory_over_step, peak_moment
from engine.simulate.memory.saved_tensors import SavedLayer, pareto_drop_sets, policy_drops

POLICIES = ("none", "core_attn", "every_second", "full")
LENGTHS = tuple(1 << power for power in range(10, LONGEST.bit_length()))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputeStep:
    """A step that drops a set of tensors.

    Attributes:
        moments: of it.
        memory: of the rank at the fullest of them.
        kept: by all layers.
        extra: share of the step's operations that run again.
    """

    moments: tuple[MemoryMoment, ...]
    memory: Memory
    kept: Bytes
    extra: Share

    @property
    def peak(self) -> Bytes:
        """Activations at the fullest moment."""
        return self.memory.activations

    @property
    def fixed(self) -> Bytes:
        """States, buffers and reserve of the rank beside those."""
        return self.memory.total - self.memory.activations


def step_of(model: Model, job: Job, gone: frozenset[str], output: Operations) -> RecomputeStep:
    """Return the step that drops these tensors; `output` are operations of the output layer."""
    layers, layer = model.num_layers, job.layer
    moments = memory_over_step(model, job.plan, job.training, layer, gone)
    memory = rank_memory(model, job.plan, job.training)
    return RecomputeStep(
        moments=moments,
        memory=replace(memory, activations=peak_moment(moments).activations),
        kept=kept_by_layers(layers, layer.kept(gone)),
        extra=repeated_share(layers, layer.again(gone), layer.forward, output),
    )


def steps_of(
    model: Model, job: Job, own: RecomputeStep, output: Operations
) -> Mapping[str, RecomputeStep]:
    """Return the step by policy, and the reader's own."""
    steps = {key: step_of(model, job, policy_drops(job.layer, key), output) for key in POLICIES}
    return {**steps, "yours": own}


def pareto_sets(
    layers: Count, layer: SavedLayer, output: Operations
) -> tuple[tuple[Share, Bytes], ...]:
    """Return the share computed again and the bytes kept of the sets that no other set beats."""
    return tuple(
        (
            repeated_share(layers, choice.again, layer.forward, output),
            kept_by_layers(layers, choice.kept),
        )
        for choice in pareto_drop_sets(layer)
    )


def memory_over_lengths(inputs: Inputs) -> Mapping[str, tuple[Bytes, ...]]:
    """Return the saved bytes of all layers over `LENGTHS`, by policy and by the GPT formula."""
    layers = MODELS[inputs.model].num_layers
    every = [job_of(replace(inputs, sequence_length=length)).layer for length in LENGTHS]
    kept = {
        key: tuple(kept_by_layers(layers, layer.kept(policy_drops(layer, key))) for layer in every)
        for key in ("none", "every_second", "full")
    }
    return {**kept, "gpt": tuple(gpt_formula(inputs, length)[0] for length in LENGTHS)}


def gpt_formula(inputs: Inputs, sequence_length: Count) -> tuple[Bytes, Bytes, Bytes]:
    """Return the GPT formula for the model's width: everything, without scores, inputs only."""
    model, batch = MODELS[inputs.model], inputs.micro_batch_size
    tokens = batch * sequence_length
    split = inputs.tensor_parallel
    shape = (tokens, model.hidden_size, model.num_attention_heads)
    scores = 5 * tokens * sequence_length * model.num_attention_heads / split
    every = korthikanti_activations(*shape, sequence_length, split)
    kept = (every, every - scores, HALF * tokens * model.hidden_size)
    none, selective, full = (kept_by_layers(model.num_layers, size) for size in kept)
    return none, selective, full
