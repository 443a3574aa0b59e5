"""Operations per token by part: every matrix of a model, and its attention scores."""

from dataclasses import dataclass

from engine.catalog.flop_conventions import Counting
from engine.catalog.models import Model, head_size, kinds_in, layer_kinds
from engine.core.units import Count, Operations, Tokens
from engine.formulas.operations import (
    FORWARDS_PER_STEP,
    MULTIPLY_ADD,
    Gemm,
    attention_operations,
    layer_gemms,
    output_gemm,
    up_projections,
)
from engine.formulas.parameters import matrix_parameters
from engine.formulas.token_operations import counted_pairs
from engine.run.parallelism import Plan, Recompute, Training

_ONE = Plan(world_size=1)
_TOKEN = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCostPart:
    """Operations of one matrix, or of the attention between tokens.

    Attributes:
        key: key of the part.
        rows: rows of the weight, the length of the inner sum; 0 without a weight.
        columns: columns of the weight.
        layers: number of layers with this part.
        copies: copies in a layer that process one token.
        forward: forward operations of one token, all layers and copies.
    """

    key: str
    rows: Count
    columns: Count
    layers: Count
    copies: float
    forward: Operations

    @property
    def all(self) -> Operations:
        """Operations of forward and backward pass."""
        return FORWARDS_PER_STEP * self.forward


def token_cost_parts(
    model: Model, sequence_length: Tokens, pairs: float
) -> tuple[TokenCostPart, ...]:
    """Return the operations of one token, part by part, in the order of the computation.

    A weight of k rows and n columns costs 2kn operations forward. `pairs` is the share of the
    query-key pairs that is counted. Norms, biases and activation functions are left out.
    """
    parts: dict[str, TokenCostPart] = {}
    counts = kinds_in(model, range(model.num_layers))
    for count, (kind, sparse) in zip(counts, layer_kinds(model), strict=True):
        if count:
            for gemm in layer_gemms(kind, _ONE, _TOKEN, sparse=sparse):
                for part in _split_projection(kind, gemm, count):
                    parts[part.key] = _merge_parts(parts.get(part.key), part)
    attention = TokenCostPart(
        key="attention",
        rows=0,
        columns=0,
        layers=model.num_layers,
        copies=1,
        forward=attention_operations(model, sequence_length, pairs),
    )
    logits = _part("logits", output_gemm(model, _ONE, _TOKEN), 1)
    return (*parts.values(), attention, logits)


def _split_projection(model: Model, gemm: Gemm, layers: Count) -> tuple[TokenCostPart, ...]:
    """Return the separate matrices of a joint projection."""
    names: tuple[tuple[str, float], ...]
    if gemm.name == "query_key_value":
        query = model.num_attention_heads * head_size(model)
        key = (gemm.n - query) / 2
        names = (("query", query), ("key", key), ("value", key))
    elif gemm.name.endswith("_up") and gemm.name.startswith(("mlp", "shared", "experts")):
        stem = gemm.name.removesuffix("_up")
        names = ((f"{stem}_gate", gemm.n / 2), (f"{stem}_up", gemm.n / 2))
        if model.mlp != "swiglu":
            return (_part(gemm.name, gemm, layers),)
    else:
        return (_part(gemm.name, gemm, layers),)
    return tuple(
        _part(name, Gemm(name=name, m=gemm.m, n=columns, k=gemm.k, count=gemm.count), layers)
        for name, columns in names
    )


def _part(key: str, gemm: Gemm, layers: Count) -> TokenCostPart:
    return TokenCostPart(
        key=key,
        rows=round(gemm.k),
        columns=round(gemm.n),
        layers=layers,
        copies=gemm.m * gemm.count,
        forward=layers * gemm.operations,
    )


def _merge_parts(before: TokenCostPart | None, part: TokenCostPart) -> TokenCostPart:
    if before is None:
        return part
    return TokenCostPart(
        key=part.key,
        rows=part.rows,
        columns=part.columns,
        layers=before.layers + part.layers,
        copies=part.copies,
        forward=before.forward + part.forward,
    )


def repeated_operations(
    model: Model, sequence_length: Tokens, counting: Counting, recompute: Recompute
) -> Operations:
    """Return the recomputed operations of one token.

    "full" repeats the forward pass of all layers (Narayanan et al. 2021), "selective" that of the
    attention scores (Korthikanti et al. 2022), "modules" the up-projections of latent attention.
    """
    attention = attention_operations(model, sequence_length, counted_pairs(counting))
    if recompute == "full":
        output = MULTIPLY_ADD * model.vocab_size * model.hidden_size
        return MULTIPLY_ADD * matrix_parameters(model) - output + attention
    if recompute == "modules":
        return MULTIPLY_ADD * up_projections(model)
    return attention if recompute == "selective" else 0.0
