"""Token flow: 64 tokens choose experts, fill their places and overflow them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE, Count, Ratio, Share, Tokens
from engine.core.views import Frame, Scene, Shape, Table
from engine.draw.drag_handle import DragHandle
from engine.draw.shapes import rect, text
from engine.formulas.experts import EXPERT_CAPACITY
from engine.simulate.layer.routed_batch import expert_queues, lost_tokens, route_batch
from engine.simulate.layer.router import Gate, Keep, Router, Routing, Row

_WIDTH, _BATCH, _BIN, _SIDE, _WIDE = 428.0, 28.0, 118.0, 11.5, 4
_GLIDE = "transition:transform var(--step,0.5s) ease-in-out"
_MOST = 3.0  # the largest preference that is drawn
_BAR = 30.0  # its height
_ORDINAL = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    routing: Routing
    preferences: Row
    places: dict[tuple[Count, Count], tuple[Count, Count]]
    rows: Count

    @property
    def column(self) -> float:
        return _WIDTH / len(self.preferences)

    @property
    def zero(self) -> float:
        """Where the bars of the preferences begin."""
        return _BIN + self.rows * _SIDE + 30 + _BAR


def flow_scene(routing: Routing, preferences: Row) -> Scene:
    """Return a scene of the batch: frames for each choice, dropped tokens, and the return."""
    cells = {
        pair: (expert, at)
        for expert, queue in enumerate(expert_queues(routing))
        for at, pair in enumerate(queue)
    }
    longest = max(*routing.asked, min(routing.capacity, len(routing.chosen)))
    sheet = _Sheet(
        routing=routing, preferences=preferences, places=cells, rows=-(-longest // _WIDE)
    )
    slots = len(routing.chosen[0])
    ground = tuple(_static_shapes(sheet))
    frames = [
        Frame(caption=caption, shapes=(*ground, *_tokens(sheet, stage)))
        for stage, caption in enumerate(_captions(routing, slots))
    ]
    return Scene(
        title="Tokens flowing to their experts",
        width=_WIDTH,
        height=sheet.zero + 50,
        frames=tuple(frames),
        caption="Each square is a token, or its copy for one more expert. The outlined box under "
        "an expert has a place for as many as its capacity allows; a crossed square found no "
        "place. The bars below are the experts' preferences: drag one.",
    )


def _captions(routing: Routing, slots: Count) -> Iterable[Text]:
    tokens, experts = len(routing.chosen), len(routing.asked)
    yield say(
        "{t} tokens arrive at the router, which gives each of them a score for every one of "
        "{e} experts.",
        t=(tokens, COUNT),
        e=(experts, COUNT),
    )
    for slot in range(slots):
        loads = [0] * experts
        for ids in routing.chosen:
            for expert in ids[: slot + 1]:
                loads[expert] += 1
        yield say(
            f"Each token goes to its {_ORDINAL[slot]} choice. The busiest expert has now been "
            "asked {n} times.",
            n=(max(loads), COUNT),
        )
    yield say(
        "An expert has {c} places. {d} of {a} choices find their expert full and are dropped, {s}.",
        c=(routing.capacity, COUNT),
        d=(routing.dropped, COUNT),
        a=(sum(routing.asked), COUNT),
        s=(routing.dropped_share, SHARE),
    )
    yield say(
        "The results return and are added up by their weights. {l} of {t} tokens got no expert at "
        "all: they pass the layer unchanged.",
        l=(lost_tokens(routing), COUNT),
        t=(tokens, COUNT),
    )


def _static_shapes(sheet: _Sheet) -> Iterable[Shape]:
    """Yield shapes that no frame changes: names, boxes and preferences."""
    yield _text("batch", (0, 16), f"a batch of {len(sheet.routing.chosen)} tokens", "start")
    for token in range(len(sheet.routing.chosen)):
        x, y = _batch_position(token)
        inner = _SIDE - 2
        hollow = {"fill-opacity": "0.04"}
        yield _rect(f"seat{token}", (x + 1, y + 1), (inner, inner), "cell c-muted", hollow)
    full = min(sheet.routing.capacity, sheet.rows * _WIDE)
    for expert, want in enumerate(sheet.preferences):
        left = _bin_left(sheet, expert)
        links = f"expert:{expert}"
        yield _text(f"name{expert}", (left + 2 * _SIDE, _BIN - 10), f"E{expert + 1}", "middle")
        yield Shape(
            key=f"box{expert}",
            tag="path",
            attributes={
                "d": _outline(left - 2, _BIN - 2, full),
                "class": "c-expert",
                "fill": "none",
                "stroke": "currentColor",
                "stroke-width": "2",
                "data-links": links,
            },
        )
        yield from _preference(sheet, expert, want)


def _outline(left: float, top: float, cells: Count) -> str:
    """Return the outline of so many places, the last row of which may be shorter."""
    rows, remainder = divmod(cells, _WIDE)
    whole, edge = _WIDE * _SIDE + 4, 4.0
    if not remainder:
        return f"M{left:.1f} {top:.1f}h{whole:.1f}v{rows * _SIDE + edge:.1f}h{-whole:.1f}z"
    part = remainder * _SIDE + edge
    down = f"v{rows * _SIDE + edge:.1f}" if rows else f"v{edge:.1f}"
    return (
        f"M{left:.1f} {top:.1f}h{whole if rows else part:.1f}{down}"
        f"{f'h{part - whole:.1f}' if rows else ''}v{_SIDE:.1f}h{-part:.1f}z"
    )


def _preference(sheet: _Sheet, expert: Count, want: float) -> Iterable[Shape]:
    """Yield the bar of an expert's preference and its number; the bar can be dragged."""
    left, zero = _bin_left(sheet, expert), sheet.zero
    height = _BAR * min(abs(want), _MOST) / _MOST
    top = zero - height if want > 0 else zero
    grip = DragHandle(
        name=f"favor_{expert + 1}",
        key=f"{expert}",
        notch=_BAR / _MOST / 4,
        label=f"Preference for expert {expert + 1}",
        now=round(4 * want),
        low=-12,
        high=12,
        text=_signed_preference(want),
        steps=1,
        up=True,
    )
    yield _rect(f"zero{expert}", (left, zero - 0.5), (_WIDE * _SIDE, 1), "cell c-muted", {})
    yield _rect(f"favor{expert}", (left, top), (_WIDE * _SIDE, max(height, 1)), "cell c-accent", {})
    # The whole field is the grip, so that a finger finds it at zero too.
    yield _rect(
        f"grip{expert}",
        (left - 2, zero - _BAR),
        (_WIDE * _SIDE + 4, 2 * _BAR),
        "cell c-accent",
        {"fill-opacity": "0.08", **grip.attributes()},
    )
    yield _text(
        f"want{expert}",
        (left + 2 * _SIDE, zero + _BAR + 17),
        _signed_preference(want),
        "middle",
    )


def _signed_preference(want: float) -> str:
    return f"{want:+.2f}".replace("-", "−")


def _tokens(sheet: _Sheet, stage: Count) -> Iterable[Shape]:
    """Yield all copies where they are: in the batch, in a bin, or back."""
    slots = len(sheet.routing.chosen[0])
    for token, ids in enumerate(sheet.routing.chosen):
        for slot in reversed(range(len(ids))):
            kept = sheet.routing.kept[token][slot]
            placed = stage > slot and (stage <= slots + 1 or not kept)
            dropped = stage > slots and not kept
            x, y = _bin_position(sheet, (token, slot)) if placed else _batch_position(token)
            yield _token_copy(f"{token}.{slot}", (x, y), token, ids[slot], dropped=dropped)


def _token_copy(
    key: str, at: tuple[float, float], token: Count, expert: Count, *, dropped: bool
) -> Shape:
    """Return a copy of a token, crossed out if `dropped`."""
    inner = _SIDE - 2
    square = f"M1 1h{inner:g}v{inner:g}h{-inner:g}z"
    cross = f"M1 1l{inner:g} {inner:g}M{inner + 1:g} 1l{-inner:g} {inner:g}"
    return Shape(
        key=f"t{key}",
        tag="path",
        attributes={
            "d": square + cross if dropped else square,
            "class": "c-ink" if dropped else "c-activations",
            "fill": "currentColor",
            "fill-opacity": "0.08" if dropped else "0.75",
            "stroke": "currentColor",
            "stroke-width": "1",
            "style": f"transform:translate({at[0]:.1f}px,{at[1]:.1f}px);{_GLIDE}",
            "data-links": f"token:{token + 1} expert:{expert}",
        },
    )


def _bin_left(sheet: _Sheet, expert: Count) -> float:
    return sheet.column * expert + (sheet.column - _WIDE * _SIDE) / 2


def _bin_position(sheet: _Sheet, pair: tuple[Count, Count]) -> tuple[float, float]:
    expert, at = sheet.places[pair]
    row, column = divmod(at, _WIDE)
    return _bin_left(sheet, expert) + column * _SIDE, _BIN + row * _SIDE


def _batch_position(token: Count) -> tuple[float, float]:
    row, column = divmod(token, 32)
    return 2 + column * (_SIDE + 1.7), _BATCH + row * (_SIDE + 4)


def _text(key: str, at: tuple[float, float], words: str, anchor: str) -> Shape:
    return text(key, *at, 14, words, anchor)


def _rect(
    key: str, at: tuple[float, float], size: Sequence[float], kind: str, more: Mapping[str, str]
) -> Shape:
    return rect(key, at, (size[0], size[1]), kind, tuple(more.items()))


TITLE = "Tokens flowing to their experts"
QUESTION = "Where do 64 tokens go, and which of them find their expert full?"
HEADLINE = "dropped_share"
EQUATIONS = (EXPERT_CAPACITY,)
NUM_TOKENS, MOST = 64, 8
PRESETS = {
    "No favorites": {"favor_1": 0.0, "favor_3": 0.0},
    "Two experts per token, capacity factor 1.25": {
        "experts_per_token": 2,
        "capacity_factor": 1.25,
    },
    "Two favorites": {"favor_1": 2.0, "favor_6": 2.0},
}
_FAVOR = partial(Number, low=-3.0, high=3.0, step=0.25, advanced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_experts: Annotated[
        int, Number(label="Experts", low=2, high=MOST, whole=True, symbol="E")
    ] = MOST
    experts_per_token: Annotated[
        int,
        Number(
            label="Experts per token",
            low=1,
            high=MOST,
            whole=True,
            symbol="k",
            help="No more than there are experts.",
        ),
    ] = 1
    capacity_factor: Annotated[
        float, Number(label="Capacity factor", low=0.5, high=4.0, step=0.25, symbol="f")
    ] = 1.0
    gate: Annotated[
        str,
        Choice(
            label="Scores",
            options={"softmax": "softmax (Switch)", "sigmoid": "sigmoid (DeepSeek-V3)"},
        ),
    ] = "softmax"
    keep: Annotated[
        str,
        Choice(
            label="Kept in a full expert",
            options={"first": "the first of the batch", "likeliest": "the highest scores"},
        ),
    ] = "first"
    token: Annotated[int, Number(label="Token followed", low=1, high=NUM_TOKENS, whole=True)] = 7
    seed: Annotated[int, Number(label="Batch", low=1, high=100, whole=True)] = 1
    favor_1: Annotated[float, _FAVOR(label="Preference for expert 1")] = 0.5
    favor_2: Annotated[float, _FAVOR(label="Preference for expert 2")] = 0.0
    favor_3: Annotated[float, _FAVOR(label="Preference for expert 3")] = 1.0
    favor_4: Annotated[float, _FAVOR(label="Preference for expert 4")] = 0.0
    favor_5: Annotated[float, _FAVOR(label="Preference for expert 5")] = 0.0
    favor_6: Annotated[float, _FAVOR(label="Preference for expert 6")] = 0.0
    favor_7: Annotated[float, _FAVOR(label="Preference for expert 7")] = 0.0
    favor_8: Annotated[float, _FAVOR(label="Preference for expert 8")] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The batch, routed, and its counts."""

    preferences: Row
    rows: tuple[Row, ...]
    routing: Routing
    num_tokens: Annotated[Count, Output(symbol="T")] = NUM_TOKENS
    capacity: Annotated[
        Count,
        Output(
            "Places of an expert",
            "C",
            "an even share would be {even}",
            "expert",
            assumes=("Rounded up.",),
        ),
    ]
    even: Tokens
    busiest: Annotated[
        Count,
        Output(
            "Asked of the busiest expert",
            note="{imbalance} the mean",
            color="activations",
            basis="simulated",
            assumes=("Logits: the preference of the expert plus normal noise of each token.",),
        ),
    ]
    imbalance: Ratio
    dropped_share: Annotated[
        Share,
        Output(
            "Dropped",
            note="{dropped} of {choices} choices",
            basis="simulated",
            assumes=("First choices are placed before second ones, as in GShard and Switch.",),
            sources=("fedus2022",),
        ),
    ]
    dropped: Count
    choices: Count
    lost: Annotated[
        Count,
        Output(
            "Tokens without any expert",
            note="the residual stream alone carries them on",
            basis="simulated",
            assumes=("All of the token's choices were dropped.",),
        ),
    ]
    empty: Annotated[
        Share,
        Output(
            "Places left empty",
            note="padding, if every expert computes all its places",
            basis="simulated",
            assumes=("Dropless kernels compute no padding.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the batch and its counts."""
    preferences = tuple(float(getattr(inputs, f"favor_{i + 1}")) for i in range(inputs.num_experts))
    router = Router(
        num_experts=inputs.num_experts,
        experts_per_token=min(inputs.experts_per_token, inputs.num_experts),
        capacity_factor=inputs.capacity_factor,
        gate=cast(Gate, inputs.gate),
        keep=cast(Keep, inputs.keep),
        seed=inputs.seed,
    )
    rows, routing = route_batch(router, preferences, NUM_TOKENS)
    choices = sum(routing.asked)
    places = routing.capacity * inputs.num_experts
    return Result(
        preferences=preferences,
        rows=rows,
        routing=routing,
        capacity=routing.capacity,
        even=choices / inputs.num_experts,
        busiest=max(routing.asked),
        imbalance=routing.imbalance,
        dropped_share=routing.dropped_share,
        dropped=routing.dropped,
        choices=choices,
        lost=lost_tokens(routing),
        empty=1 - sum(routing.taken) / places,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: the scene, its counts, and the route of a token."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(flow_scene, result.routing, result.preferences),
        **present.values("dropped_share", "busiest"),
        "capacity": present.value(
            "capacity", symbols={"k": (len(result.routing.chosen[0]), COUNT)}
        ),
        **present.values("empty", "lost"),
        "follow": partial(_token_table, inputs, result),
    }


def _token_table(inputs: Inputs, result: Result) -> Table:
    """Return a token's logits, scores, choices and weights."""
    at, routing = inputs.token - 1, result.routing
    chosen = routing.chosen[at]
    rows = []
    for expert, (logit, score) in enumerate(zip(result.rows[at], routing.scores[at], strict=True)):
        picked = expert in chosen
        slot = chosen.index(expert) if picked else 0
        rows.append(
            (
                f"E{expert + 1}",
                f"{logit:.3f}".replace("-", "−"),
                f"{score:.4f}",
                f"choice {slot + 1}" if picked else "-",
                f"{routing.weights[at][slot]:.4f}" if picked else "-",
                ("kept" if routing.kept[at][slot] else "dropped") if picked else "-",
            )
        )
    return Table(
        title=f"Token {inputs.token} and its experts",
        columns=("Expert", "Logit", "Score", "Chosen", "Weight", "Place"),
        rows=tuple(rows),
        caption="Several chosen experts share a weight of 1; a single one keeps its score.",
        links=tuple((f"expert:{expert}",) for expert in range(len(rows))),
    )
