"""Models whose layers differ: the kind of every layer, from letters and a few sizes.

A letter stands for a layer: `*` attention to all tokens before, `W` attention with a window, `S`
attention to keys that an indexer chose (`s`: chosen by that of a layer before), `G` gated DeltaNet,
`K` Kimi Delta Attention, `M` Mamba-2, `C` and `H` attention to a window and to keys of 4 or 128
tokens, `-` a feed-forward part alone, `E` experts alone. `M`, `*`,
`-` and `E` are the letters of Megatron-LM and of Nemotron-H's files; where `-` or `E` occur, every
layer is one part, and else every layer has a feed-forward part behind its mixer.
"""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

from engine.catalog.mixers.attention import Attending, NoMixer
from engine.catalog.mixers.compressed import CHOSEN_FROM, Compressed
from engine.catalog.mixers.delta import Delta
from engine.catalog.mixers.mamba import Mamba
from engine.catalog.models import LayerKind, Model, num_sparse_in
from engine.core.record import record
from engine.core.units import Count, Ratio

# Published steps of models whose layers differ: nine rows of Megatron-Bridge 26.08
# (`engine.catalog.mixed_runs`: Nemotron 3 Nano, Super and Ultra, DeepSeek-V4-Flash; GB200 and
# GB300, 8 to 256 GPUs) took up to so many times the predicted step if their layers of multi-token
# prediction are left out, and 1.1 to 1.9 times with them.
SLOWER: Ratio = 2.1
NOTE = (
    "The layers of this model differ, and no constant is fitted to such models: published steps "
    "took 1.1 to 1.9 times as long as predicted, and 2.1 times without their layers of multi-token "
    "prediction."
)

LETTERS = "*WSsGKMCH-E"


@record
class LayerSizes:
    """The sizes that tell the layers of a model apart, as in a run file's `model.layers`.

    Attributes:
        order: a letter for each layer; a shorter text is repeated.
        window: tokens that a layer `W` attends to.
        window_query_heads, window_key_value_heads, window_head_size, window_value_head_size: of
            layers `W`, where they differ from those of the others; 0: they do not.
        gated: attention has a gate for each element of its result.
        shared: layers `*` take their keys for values.
        key_heads, value_heads, key_size, value_size: of layers `G` and `K`.
        gate_rank: rank of the output gate of layers `K`; 0: a whole matrix.
        state_heads, state_head_size, state_size, state_groups: of layers `M`.
        kernel: tokens that the convolutions of `G`, `K` and `M` join.
        index_heads, index_size, index_tokens: of the indexer of layers `S`.
        expert_hidden_size: width that routed experts work in; 0: that of the model.
        query_rank, output_rank, output_groups: of layers `C` and `H`, and of `W` beside them.
        streams: of the residual (hyper-connections).
        prediction: letters of the layers that predict a further token; empty: the last letter.
    """

    order: str = "*"
    window: Count = 0
    window_query_heads: Count = 0
    window_key_value_heads: Count = 0
    window_head_size: Count = 0
    window_value_head_size: Count = 0
    gated: bool = False
    shared: bool = False
    key_heads: Count = 0
    value_heads: Count = 0
    key_size: Count = 0
    value_size: Count = 0
    gate_rank: Count = 0
    state_heads: Count = 0
    state_head_size: Count = 0
    state_size: Count = 0
    state_groups: Count = 0
    kernel: Count = 4
    index_heads: Count = 0
    index_size: Count = 0
    index_tokens: Count = 0
    expert_hidden_size: Count = 0
    query_rank: Count = 0
    output_rank: Count = 0
    output_groups: Count = 0
    streams: Count = 1
    prediction: str = ""


# Letter -> sizes that a layer of it needs.
_NEEDED = {
    "W": ("window",),
    "S": ("index_heads", "index_size", "index_tokens"),
    "s": ("index_tokens",),
    "G": ("key_heads", "value_heads", "key_size", "value_size", "kernel"),
    "K": ("key_heads", "value_heads", "key_size", "value_size", "kernel"),
    "C": ("window", "query_rank", "output_rank", "output_groups", "index_heads", "index_tokens"),
    "H": ("window", "query_rank", "output_rank", "output_groups"),
    "M": ("state_heads", "state_head_size", "state_size", "state_groups", "kernel"),
}


@record
class Mix:
    """The kinds of the layers of a model.

    Attributes:
        kinds: a model of each kind, of one layer, and whether it has experts.
        order: the kind of every layer.
        further: the kinds of the layers that predict a further token.
        sizes: what they were made of.
    """

    kinds: tuple[LayerKind, ...]
    order: tuple[Count, ...]
    further: tuple[Count, ...]
    sizes: LayerSizes

    @property
    def slower(self) -> Ratio:
        """Times the predicted step that published steps took, at most."""
        return SLOWER

    @property
    def unmeasured(self) -> str:
        """A sentence that says so."""
        return NOTE

    def count(self, layers: range, predicting: Count = 0) -> tuple[Count, ...]:
        """Return how many of some layers are of each kind, with those that predict tokens."""
        counted = _count(self.order, len(self.kinds), layers.start, layers.stop)
        if not predicting:
            return counted
        more = Counter(self.further)
        return tuple(count + predicting * more[kind] for kind, count in enumerate(counted))


@lru_cache(maxsize=4096)
def _count(order: tuple[Count, ...], kinds: Count, start: Count, stop: Count) -> tuple[Count, ...]:
    counted = Counter(order[start:stop])
    return tuple(counted[kind] for kind in range(kinds))


def letters_of(sizes: LayerSizes, num_layers: Count) -> str:
    """Return a letter for each layer."""
    order = sizes.order or "*"
    return (order * -(-num_layers // len(order)))[:num_layers]


def size_problems(model: Model, sizes: LayerSizes) -> list[str]:
    """Return the problems of letters and sizes, a line each."""
    unknown = [letter for letter in sizes.order + sizes.prediction if letter not in LETTERS]
    if unknown:
        return [f"layers.order: {unknown[0]!r}; allowed: letters of {LETTERS}"]
    problems = []
    if model.num_layers % len(sizes.order or "*"):
        problems.append(
            f"layers.order: {len(sizes.order)} letters; allowed: one for each of the "
            f"{model.num_layers} layers, or a divisor of them"
        )
    problems += [
        f"layers.{key}: 0; allowed: 1 or more, there are layers {letter}"
        for letter, keys in _NEEDED.items()
        if letter in sizes.order
        for key in keys
        if not getattr(sizes, key)
    ]
    if sizes.key_heads and sizes.value_heads % sizes.key_heads:
        problems.append(
            f"layers.value_heads: {sizes.value_heads}; allowed: a multiple of key_heads = "
            f"{sizes.key_heads}"
        )
    if "E" in sizes.order and not model.num_experts:
        problems.append("layers.order: 'E'; allowed: where num_experts is 1 or more")
    if model.sliding_window:
        problems.append(
            f"model.sliding_window: {model.sliding_window}; allowed: 0 beside layers, whose window "
            "is layers.window"
        )
    return problems


@lru_cache(maxsize=256)
def mixed_model(model: Model, sizes: LayerSizes) -> Model:
    """Return a model with layers of these kinds; its other sizes are those of `model`."""
    letters = letters_of(sizes, model.num_layers)
    alone = "-" in letters or "E" in letters
    wanted = [
        (letter, letter == "E" if alone else bool(num_sparse_in(model, range(n, n + 1))))
        for n, letter in enumerate(letters)
    ]
    last = wanted[-1]
    further = [
        (letter, letter == "E" if alone else last[1]) for letter in sizes.prediction or last[0]
    ]
    every = [*dict.fromkeys([*wanted, *further])]
    kinds = tuple((_kind(model, sizes, *kind, alone=alone), kind[1]) for kind in every)
    mix = Mix(
        kinds=kinds,
        order=tuple(every.index(kind) for kind in wanted),
        further=tuple(every.index(kind) for kind in further),
        sizes=sizes,
    )
    return replace(
        model,
        mix=mix,
        expert_hidden_size=sizes.expert_hidden_size,
        residual_streams=sizes.streams,
    )


def _kind(model: Model, sizes: LayerSizes, letter: str, sparse: bool, *, alone: bool) -> Model:
    """Return a model of one layer of a kind."""
    changes: dict[str, Any] = {
        "mixer": _mixer(sizes, letter, alone=alone),
        "expert_hidden_size": sizes.expert_hidden_size,
        "residual_streams": sizes.streams,
    }
    if not sparse:
        changes["num_experts"] = 0
    if alone and letter != "-":
        changes["ffn_hidden_size"] = 0
    if letter == "W":
        sizes_of_kind = {
            "num_attention_heads": sizes.window_query_heads,
            "num_key_value_heads": sizes.window_key_value_heads,
            "head_size": sizes.window_head_size,
            "value_head_size": sizes.window_value_head_size,
        }
        changes |= {key: size for key, size in sizes_of_kind.items() if size}
    return replace(
        model,
        num_layers=1,
        num_dense_layers=0,
        dense_layer_every=0,
        num_prediction_layers=0,
        **changes,
    )


def _mixer(sizes: LayerSizes, letter: str, *, alone: bool) -> object:
    """Return the mixer of a letter; None for the attention that the model's sizes describe."""
    if letter in "-E":
        return NoMixer()
    if letter in "GK":
        return Delta(
            key_heads=sizes.key_heads,
            value_heads=sizes.value_heads,
            key_size=sizes.key_size,
            value_size=sizes.value_size,
            kernel=sizes.kernel,
            channels=letter == "K",
            gate_rank=sizes.gate_rank if letter == "K" else 0,
            alone=alone,
        )
    if letter in "CH" or (letter == "W" and sizes.output_rank):
        chooses = letter == "C"
        return Compressed(
            window=sizes.window,
            ratio={"C": CHOSEN_FROM, "H": 128}.get(letter, 0),
            query_rank=sizes.query_rank,
            output_rank=sizes.output_rank,
            output_groups=sizes.output_groups,
            index_heads=sizes.index_heads if chooses else 0,
            index_size=sizes.index_size if chooses else 0,
            index_tokens=sizes.index_tokens if chooses else 0,
            streams=sizes.streams,
        )
    if letter == "M":
        return Mamba(
            heads=sizes.state_heads,
            head_size=sizes.state_head_size,
            state_size=sizes.state_size,
            groups=sizes.state_groups,
            kernel=sizes.kernel,
            alone=alone,
        )
    mixer = Attending(
        window=sizes.window if letter == "W" else 0,
        gated=sizes.gated,
        shared=sizes.shared and letter == "*",
        index_heads=sizes.index_heads if letter == "S" else 0,
        index_size=sizes.index_size if letter == "S" else 0,
        index_tokens=sizes.index_tokens if letter in "Ss" else 0,
        alone=alone,
    )
    return None if mixer == Attending() else mixer
