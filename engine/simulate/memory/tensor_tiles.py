"""Activations of one layer under tensor parallelism, split into divided and replicated ones."""

from dataclasses import dataclass, replace

from engine.catalog.models import Model
from engine.core.units import Bytes
from engine.formulas.activations import layer_memory, norm_kept
from engine.formulas.operations import local_tokens
from engine.run.parallelism import Plan, Training


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationSplit:
    """Activations of one layer and one micro-batch on one rank.

    Attributes:
        around: norms and dropouts with what goes into the cut regions: whole on every rank, or
            its rows only with sequence parallelism.
        inside: of the cut regions: divided by heads and by inner columns.
    """

    around: Bytes
    inside: Bytes

    @property
    def total(self) -> Bytes:
        """Bytes of both parts."""
        return self.around + self.inside


def activation_split(model: Model, plan: Plan, training: Training) -> ActivationSplit:
    """Return the kept activations of a dense layer: Korthikanti et al. 2022, section 4.2.

    Both halves of a layer begin with a norm, and keep its input and its output.
    """
    plain = replace(training, recompute="none")
    around = 2 * local_tokens(plan, plain) * norm_kept(model, plan, plain)
    return ActivationSplit(around=around, inside=layer_memory(model, plan, plain).kept - around)
