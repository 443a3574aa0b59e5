"""The shape of a transformer, and the shapes of published models.

Sizes are those of the configuration file its authors released, or of the paper.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Literal

from engine.catalog.model_rows import DENSE_ROWS, SPARSE_ROWS, Row
from engine.core.record import record
from engine.core.units import Count

Mlp = Literal["gelu", "swiglu"]
Attention = Literal["mha", "mla"]


@record
class Model:
    """A decoder-only transformer.

    Attributes:
        name: as its authors write it.
        num_layers: transformer layers.
        hidden_size: width of the residual stream.
        num_attention_heads: query heads.
        num_key_value_heads: key and value heads; fewer than the query heads in grouped attention.
        ffn_hidden_size: inner width of the dense feed-forward layers.
        vocab_size: rows of the embedding table, padding included.
        mlp: "gelu" has two matrices, "swiglu" three.
        tied_embeddings: the output layer reuses the input embedding.
        num_experts: routed experts of a sparse layer; 0 for a dense model.
        experts_per_token: routed experts that work on one token.
        num_shared_experts: experts that work on every token.
        expert_ffn_hidden_size: inner width of one expert.
        num_dense_layers: leading layers without experts, in a sparse model.
        dense_layer_every: of every so many layers the first has no experts; 0: only leading ones.
        nodes_per_token: groups of experts that one token's experts may lie in, a node each; 0: any.
        num_prediction_layers: extra layers for multi-token prediction, beside `num_layers`.
        head_size: of queries and keys; 0 stands for hidden_size / num_attention_heads.
        attention: "mla" keeps queries, keys and values in low-rank latents (DeepSeek-V2).
        query_latent_size: rank of the queries' latent (mla; 0: queries are projected directly).
        key_value_latent_size: rank of the latent of keys and values (mla).
        rotary_head_size: part of a head that carries the position (mla).
        value_head_size: of the values (mla; otherwise the same as `head_size`).
        sliding_window: tokens that every second layer attends to; 0: all layers attend to all.
        learned_positions: rows of a table of position embeddings; 0 for rotary and the like.
        biases: linear layers have biases, norms are LayerNorms with two vectors (GPT-3 style).
        expert_hidden_size: width that routed experts work in, between two projections; 0: that of
            the model.
        residual_streams: copies of the residual that a layer mixes (hyper-connections).
        mixer: what a layer has instead of the attention that the sizes above describe; None: that
            attention (`engine.catalog.mixers`).
        mix: the kinds of layers of a model whose layers differ; None: all are as the sizes say
            (`engine.catalog.mixers.mix`).
        source: key of the bibliography.
    """

    name: str
    num_layers: Count
    hidden_size: Count
    num_attention_heads: Count
    num_key_value_heads: Count
    ffn_hidden_size: Count
    vocab_size: Count
    mlp: Mlp
    tied_embeddings: bool
    num_experts: Count = 0
    experts_per_token: Count = 0
    num_shared_experts: Count = 0
    expert_ffn_hidden_size: Count = 0
    num_dense_layers: Count = 0
    dense_layer_every: Count = 0
    nodes_per_token: Count = 0
    num_prediction_layers: Count = 0
    head_size: Count = 0
    attention: Attention = "mha"
    query_latent_size: Count = 0
    key_value_latent_size: Count = 0
    rotary_head_size: Count = 0
    value_head_size: Count = 0
    sliding_window: Count = 0
    learned_positions: Count = 0
    biases: bool = False
    expert_hidden_size: Count = 0
    residual_streams: Count = 1
    mixer: Any = None
    mix: Any = None
    source: str = ""
    _hash: int = field(default=0, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        """Return a cached hash of the distinguishing fields, for tables keyed by model."""
        return self._hash or self._compute_hash()

    def _compute_hash(self) -> int:
        sizes = self.num_layers, self.hidden_size, self.ffn_hidden_size, self.vocab_size
        heads = self.num_attention_heads, self.num_key_value_heads, self.tied_embeddings
        experts = self.num_experts, self.experts_per_token, self.expert_ffn_hidden_size
        kinds = self.num_dense_layers, self.mixer
        value = hash((self.name, self.mlp, *sizes, *heads, *experts, *kinds))
        object.__setattr__(self, "_hash", value)
        return value


def head_size(model: Model) -> Count:
    """Return the size of one head's queries and keys (mla: with the part for the position)."""
    return model.head_size or model.hidden_size // model.num_attention_heads


def value_head_size(model: Model) -> Count:
    """Return the size of one head's values."""
    return model.value_head_size or head_size(model)


def num_sparse_layers(model: Model) -> Count:
    """Return the layers with routed experts."""
    return num_sparse_in(model, range(model.num_layers))


def expert_input_size(model: Model) -> Count:
    """Return the width that routed experts read and write."""
    return model.expert_hidden_size or model.hidden_size


def residual_size(model: Model) -> Count:
    """Return the elements of a token between two layers."""
    return model.hidden_size * model.residual_streams


@lru_cache(maxsize=64)
def without_mixer(model: Model) -> Model:
    """Return the model whose layers have the attention that its sizes describe."""
    return replace(model, mixer=None)


LayerKind = tuple[Model, bool]


def layer_kinds(model: Model) -> tuple[LayerKind, ...]:
    """Return the kinds of a model's layers: a model that has it, and whether it has experts."""
    if model.mix:
        kinds: tuple[LayerKind, ...] = model.mix.kinds
        return kinds
    return (model, False), (model, bool(model.num_experts))


def kinds_in(model: Model, layers: range, predicting: Count = 0) -> tuple[Count, ...]:
    """Return how many of some layers are of each kind, with layers that predict further tokens."""
    if model.mix:
        counts: tuple[Count, ...] = model.mix.count(layers, predicting)
        return counts
    sparse = num_sparse_in(model, layers)
    dense = len(layers) - sparse
    return (dense, sparse + predicting) if model.num_experts else (dense + predicting, 0)


def sum_over_layers(model: Model, each: Callable[[LayerKind], float]) -> float:
    """Return the sum of what `each` says of a layer of a kind, over all layers."""
    pairs = zip(kinds_in(model, range(model.num_layers)), layer_kinds(model), strict=True)
    return sum(count * each(kind) for count, kind in pairs if count)


def commonest_kind(model: Model) -> Model:
    """Return a model of the kind that most layers have; with experts, if any layer has."""
    if not model.mix:
        return model
    counts = kinds_in(model, range(model.num_layers))
    kinds = layer_kinds(model)
    return max(zip(counts, kinds, strict=True), key=lambda pair: (pair[1][1], pair[0]))[1][0]


def num_sparse_in(model: Model, layers: range) -> Count:
    """Return the number of layers with experts."""
    if not model.num_experts:
        return 0
    if model.mix:
        pairs = zip(kinds_in(model, layers), layer_kinds(model), strict=True)
        return sum(count for count, (_, sparse) in pairs if sparse)
    start = max(layers.start, model.num_dense_layers)
    sparse = max(0, layers.stop - start)
    if not model.dense_layer_every or not sparse:
        return sparse
    every = model.dense_layer_every
    # Layers 0, every, 2 x every, ... are dense.
    return sparse - (-(-layers.stop // every) - -(-start // every))


def _gpt(name: str, num_layers: Count, hidden_size: Count, heads: Count, source: str) -> Model:
    """A GPT-3 style model as Megatron builds it: 51,200 rows of vocabulary, 2,048 positions."""
    return Model(
        name=name,
        num_layers=num_layers,
        hidden_size=hidden_size,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        ffn_hidden_size=4 * hidden_size,
        vocab_size=51200,
        mlp="gelu",
        tied_embeddings=True,
        learned_positions=2048,
        biases=True,
        source=source,
    )


def _llama(
    name: str,
    shape: tuple[Count, Count, Count, Count, Count],
    *,
    vocab_size: Count,
    source: str,
    tied_embeddings: bool = False,
) -> Model:
    """A Llama: (layers, hidden size, query heads, key-value heads, feed-forward size)."""
    num_layers, hidden_size, heads, key_value_heads, ffn_hidden_size = shape
    return Model(
        name=name,
        num_layers=num_layers,
        hidden_size=hidden_size,
        num_attention_heads=heads,
        num_key_value_heads=key_value_heads,
        ffn_hidden_size=ffn_hidden_size,
        vocab_size=vocab_size,
        mlp="swiglu",
        tied_embeddings=tied_embeddings,
        source=source,
    )


_DENSE: Mapping[str, Model] = {
    "gpt-3-5b": _gpt("GPT-3 5B", 24, 4096, 32, "nemo_2407"),
    "gpt-3-20b": _gpt("GPT-3 20B", 44, 6144, 48, "nemo_2407"),
    "gpt-22b": _gpt("GPT 22B", 48, 6144, 64, "korthikanti2022"),
    "gpt-3-175b": _gpt("GPT-3 175B", 96, 12288, 96, "brown2020"),
    "gpt-530b": _gpt("Megatron-Turing NLG 530B", 105, 20480, 128, "korthikanti2022"),
    "gpt-1t": _gpt("GPT 1T", 128, 25600, 160, "korthikanti2022"),
    "llama-2-7b": _llama(
        "Llama 2 7B", (32, 4096, 32, 32, 11008), vocab_size=32000, source="touvron2023"
    ),
    "llama-2-13b": _llama(
        "Llama 2 13B", (40, 5120, 40, 40, 13824), vocab_size=32000, source="touvron2023"
    ),
    "llama-2-70b": _llama(
        "Llama 2 70B", (80, 8192, 64, 8, 28672), vocab_size=32000, source="touvron2023"
    ),
    "llama-3-8b": _llama(
        "Llama 3 8B", (32, 4096, 32, 8, 14336), vocab_size=128256, source="dubey2024"
    ),
    "llama-3-70b": _llama(
        "Llama 3 70B", (80, 8192, 64, 8, 28672), vocab_size=128256, source="dubey2024"
    ),
    "llama-3-405b": _llama(
        "Llama 3 405B", (126, 16384, 128, 8, 53248), vocab_size=128256, source="dubey2024"
    ),
    "bloom-176b": Model(
        name="BLOOM 176B",
        num_layers=70,
        hidden_size=14336,
        num_attention_heads=112,
        num_key_value_heads=112,
        ffn_hidden_size=57344,
        vocab_size=250880,
        mlp="gelu",
        tied_embeddings=True,
        biases=True,
        source="scao2022",
    ),
    "mpt-7b": Model(
        name="MPT 7B",
        num_layers=32,
        hidden_size=4096,
        num_attention_heads=32,
        num_key_value_heads=32,
        ffn_hidden_size=16384,
        vocab_size=50432,
        mlp="gelu",
        tied_embeddings=True,
        source="mosaicml2023",
    ),
}

# A Llama small enough to print, with every part of a large one: 32 + 2 x 96 + 36 = 260 parameters.
TINY_260 = Model(
    name="tiny-260",
    num_layers=2,
    hidden_size=4,
    num_attention_heads=2,
    num_key_value_heads=2,
    ffn_hidden_size=2,
    vocab_size=8,
    mlp="swiglu",
    tied_embeddings=False,
)


def _models_of(rows: tuple[Row, ...]) -> dict[str, Model]:
    """Return the models of table rows; authors' files share one bibliography entry."""
    models = {}
    for key, name, layers, hidden, heads, groups, width, vocabulary, others, source in rows:
        sizes: dict[str, Any] = {"mlp": "swiglu", "tied_embeddings": False, **others}
        models[key] = Model(
            name=name,
            num_layers=layers,
            hidden_size=hidden,
            num_attention_heads=heads,
            num_key_value_heads=groups,
            ffn_hidden_size=width,
            vocab_size=vocabulary,
            source=source or "model_files",
            **sizes,
        )
    return models


MODELS: Mapping[str, Model] = {
    **_DENSE,
    **_models_of(DENSE_ROWS),
    **_models_of(SPARSE_ROWS),
    "tiny-260": TINY_260,
}

# Small enough for plain data parallelism: all states of one fit on an 80 GB GPU.
SMALL_MODELS: Mapping[str, Model] = {
    "llama-3.2-1b": _llama(
        "Llama 3.2 1B",
        (16, 2048, 32, 8, 8192),
        vocab_size=128256,
        source="llama32_card",
        tied_embeddings=True,
    ),
    "llama-3.2-3b": _llama(
        "Llama 3.2 3B",
        (28, 3072, 24, 8, 8192),
        vocab_size=128256,
        source="llama32_card",
        tied_embeddings=True,
    ),
}
