"""How many parameters a transformer has, part by part."""

from functools import lru_cache

from engine.catalog.models import (
    Model,
    expert_input_size,
    head_size,
    layer_kinds,
    num_sparse_layers,
    sum_over_layers,
    value_head_size,
    without_mixer,
)
from engine.core.equation import Equation
from engine.core.record import record
from engine.core.units import Count, Parameters


@record
class LayerParameters:
    """The parameters of one layer, by what splits them.

    Attributes:
        matrices: split by tensor parallelism (with the biases of their columns).
        replicated: norms, biases of rows, low-rank projections and the router: on every rank.
        experts: of all routed experts, split by expert parallelism.
    """

    matrices: Parameters
    replicated: Parameters
    experts: Parameters

    @property
    def total(self) -> Parameters:
        """All of them."""
        return self.matrices + self.replicated + self.experts


def attention_parameters(model: Model) -> tuple[Parameters, Parameters]:
    """Return the parameters of one attention: (split over heads, replicated).

    Grouped queries: h(a + 2k)d + a d h. Latents: equations 37 to 47 of the DeepSeek-V2 report.
    """
    if model.mixer:
        attention = attention_parameters(without_mixer(model)) if model.mixer.attends else (0, 0)
        split, whole = model.mixer.parameters(model, attention)
        # A layer of one part has one of the two norms that are counted for others.
        return split, whole - (model.hidden_size if model.mixer.parts < 1 else 0)
    hidden, heads, head = model.hidden_size, model.num_attention_heads, head_size(model)
    value = value_head_size(model)
    output = heads * value * hidden
    if model.attention == "mla":
        return _latent_attention(model, output)
    groups = model.num_key_value_heads
    columns = heads * head + groups * (head + value)
    biases = columns if model.biases else 0
    return hidden * columns + biases + output, hidden if model.biases else 0


def _latent_attention(model: Model, output: Parameters) -> tuple[Parameters, Parameters]:
    hidden, heads, head = model.hidden_size, model.num_attention_heads, head_size(model)
    query, latent, rotary = (
        model.query_latent_size,
        model.key_value_latent_size,
        model.rotary_head_size,
    )
    from_latent = latent * heads * (head - rotary + value_head_size(model))
    down = hidden * (latent + rotary) + latent  # the latent has a norm of its own
    if not query:
        return hidden * heads * head + from_latent + output, down
    return query * heads * head + from_latent + output, down + hidden * query + query


def mlp_parameters(model: Model, width: Count, outside: Count = 0) -> tuple[Parameters, Parameters]:
    """Return the parameters of a feed-forward part of inner width `width`: (split, replicated).

    It reads and writes vectors of `outside`; 0: of the hidden size.
    """
    outside = outside or model.hidden_size
    matrices = (3 if model.mlp == "swiglu" else 2) * outside * width
    if not model.biases:
        return matrices, 0
    columns = (2 if model.mlp == "swiglu" else 1) * width
    return matrices + columns, outside


def norm_parameters(model: Model) -> Parameters:
    """Return the parameters of one norm: a scale, and for a LayerNorm a shift."""
    return (2 if model.biases else 1) * model.hidden_size


@lru_cache(maxsize=64)
def dense_layer_parameters(model: Model) -> LayerParameters:
    """Return the parameters of a layer without experts."""
    attention, replicated = attention_parameters(model)
    mlp, rows = mlp_parameters(model, model.ffn_hidden_size)
    return LayerParameters(
        matrices=attention + mlp,
        replicated=replicated + rows + 2 * norm_parameters(model),
        experts=0,
    )


@lru_cache(maxsize=64)
def sparse_layer_parameters(model: Model) -> LayerParameters:
    """Return the parameters of a layer with experts: routed ones, shared ones and the router."""
    attention, replicated = attention_parameters(model)
    shared, rows = mlp_parameters(model, model.num_shared_experts * model.expert_ffn_hidden_size)
    router = model.num_experts * (model.hidden_size + (1 if model.biases else 0))
    router += 2 * model.hidden_size * model.expert_hidden_size
    return LayerParameters(
        matrices=attention + (shared if model.num_shared_experts else 0),
        replicated=replicated
        + router
        + (rows if model.num_shared_experts else 0)
        + 2 * norm_parameters(model),
        experts=model.num_experts * expert_parameters(model),
    )


@lru_cache(maxsize=64)
def kind_parameters(kind: tuple[Model, bool]) -> LayerParameters:
    """Return the parameters of a layer of a kind (`engine.catalog.models.layer_kinds`)."""
    model, sparse = kind
    return sparse_layer_parameters(model) if sparse else dense_layer_parameters(model)


def largest_layer(model: Model) -> LayerParameters:
    """Return the parameters of the layer with most of them; with experts, if any has."""
    if model.mix:
        return max(map(kind_parameters, layer_kinds(model)), key=lambda layer: layer.total)
    return kind_parameters((model, bool(model.num_experts)))


def embedding_parameters(model: Model) -> Parameters:
    """Return the parameters of the input embedding, learned positions included."""
    return (model.vocab_size + model.learned_positions) * model.hidden_size


def output_parameters(model: Model) -> Parameters:
    """Return the parameters of the output matrix, whether it is tied or not."""
    return model.vocab_size * model.hidden_size


def layer_parameters(model: Model) -> Parameters:
    """Return the parameters of all layers together, those for multi-token prediction left out."""
    return sum_over_layers(model, lambda kind: kind_parameters(kind).total)


@lru_cache(maxsize=64)
def total_parameters(model: Model) -> Parameters:
    """Return all parameters; multi-token prediction, which authors count apart, is left out."""
    output = 0 if model.tied_embeddings else output_parameters(model)
    ends = embedding_parameters(model) + output + norm_parameters(model)
    return layer_parameters(model) + ends


ACTIVE_PARAMETERS = Equation(
    name="active_parameters",
    title="Parameters at work on a token",
    tex=r"\v{a} = \v{P} - \v{l}\,(\v{E} - \v{k})\,\v{x}",
    symbols={
        "a": ("N_a", "parameters at work on a token"),
        "P": ("P", "all parameters"),
        "l": ("L_s", "layers with experts"),
        "E": ("E", "routed experts of a layer"),
        "k": ("k", "of them at work on a token"),
        "x": ("N_e", "parameters of an expert"),
    },
    sources=("jiang2024",),
)


def expert_parameters(model: Model) -> Parameters:
    """Return the parameters of one routed expert; 0 for a dense model.

    Source: three matrices of hidden size times inner width in a gated expert (Jiang et al. 2024).
    """
    if not model.num_experts:
        return 0.0
    return sum(mlp_parameters(model, model.expert_ffn_hidden_size, expert_input_size(model)))


@lru_cache(maxsize=64)
def active_parameters(model: Model) -> Parameters:
    """Return the parameters that work on one token: not the experts that are passed over."""
    if not model.num_experts:
        return total_parameters(model)
    idle = (model.num_experts - model.experts_per_token) * expert_parameters(model)
    return total_parameters(model) - num_sparse_layers(model) * idle


def matrix_parameters(model: Model) -> Parameters:
    """Return the parameters that multiply each token: active ones, the input embedding left out."""
    output = model.vocab_size * model.hidden_size if model.tied_embeddings else 0
    return active_parameters(model) - embedding_parameters(model) + output
