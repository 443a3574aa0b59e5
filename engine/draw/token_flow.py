"""Tokens on their way to experts, as a scene: a batch, the bins of the experts, what overflows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.drag_handle import Grip
from engine.draw.shapes import rect, text
from engine.simulate.layer.routed_batch import lost_tokens, queues
from engine.simulate.layer.router import Routing, Row

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
    """Return the batch, a frame for every choice, what is dropped, and what comes back."""
    places = {
        pair: (expert, at)
        for expert, queue in enumerate(queues(routing))
        for at, pair in enumerate(queue)
    }
    longest = max(*routing.asked, min(routing.capacity, len(routing.chosen)))
    sheet = _Sheet(
        routing=routing, preferences=preferences, places=places, rows=-(-longest // _WIDE)
    )
    slots = len(routing.chosen[0])
    ground = tuple(_ground(sheet))
    frames = [
        Frame(caption=caption, shapes=(*ground, *_tokens(sheet, stage)))
        for stage, caption in enumerate(_captions(routing, slots))
    ]
    return Scene(
        title="Tokens flowing to their experts",
        width=_WIDTH,
        height=sheet.zero + 50,
        frames=tuple(frames),
        opening=slots + 1,
        caption="Each square is a token, or its copy for one more expert. The outlined box under "
        "an expert has a place for as many as its capacity allows; a crossed square found no "
        "place. The bars below are the experts' preferences: drag one, or use its arrow keys.",
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
        found = [0] * experts
        for ids in routing.chosen:
            for expert in ids[: slot + 1]:
                found[expert] += 1
        yield say(
            f"Each token goes to its {_ORDINAL[slot]} choice. The busiest expert has now been "
            "asked {n} times.",
            n=(max(found), COUNT),
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


def _ground(sheet: _Sheet) -> Iterable[Shape]:
    """Yield what no frame changes: names, boxes and preferences."""
    yield _text("batch", (0, 16), f"a batch of {len(sheet.routing.chosen)} tokens", "start")
    for token in range(len(sheet.routing.chosen)):
        x, y = _in_batch(token)
        inner = _SIDE - 2
        hollow = {"fill-opacity": "0.04"}
        yield _rect(f"seat{token}", (x + 1, y + 1), (inner, inner), "cell c-muted", hollow)
    full = min(sheet.routing.capacity, sheet.rows * _WIDE)
    for expert, want in enumerate(sheet.preferences):
        left = _left(sheet, expert)
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


def _outline(left: float, top: float, places: Count) -> str:
    """Return the outline of so many places, the last row of which may be shorter."""
    rows, rest = divmod(places, _WIDE)
    whole, edge = _WIDE * _SIDE + 4, 4.0
    if not rest:
        return f"M{left:.1f} {top:.1f}h{whole:.1f}v{rows * _SIDE + edge:.1f}h{-whole:.1f}z"
    part = rest * _SIDE + edge
    down = f"v{rows * _SIDE + edge:.1f}" if rows else f"v{edge:.1f}"
    return (
        f"M{left:.1f} {top:.1f}h{whole if rows else part:.1f}{down}"
        f"{f'h{part - whole:.1f}' if rows else ''}v{_SIDE:.1f}h{-part:.1f}z"
    )


def _preference(sheet: _Sheet, expert: Count, want: float) -> Iterable[Shape]:
    """Yield the bar of an expert's preference and its number; the bar can be dragged."""
    left, zero = _left(sheet, expert), sheet.zero
    height = _BAR * min(abs(want), _MOST) / _MOST
    top = zero - height if want > 0 else zero
    grip = Grip(
        name=f"favor_{expert + 1}",
        key=f"{expert}",
        notch=_BAR / _MOST / 4,
        label=f"Preference for expert {expert + 1}",
        now=round(4 * want),
        low=-12,
        high=12,
        text=_signed(want),
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
        _signed(want),
        "middle",
    )


def _signed(want: float) -> str:
    return f"{want:+.2f}".replace("-", "−")


def _tokens(sheet: _Sheet, stage: Count) -> Iterable[Shape]:
    """Yield all copies where they are: in the batch, in a bin, or back."""
    slots = len(sheet.routing.chosen[0])
    for token, ids in enumerate(sheet.routing.chosen):
        for slot in reversed(range(len(ids))):
            kept = sheet.routing.kept[token][slot]
            placed = stage > slot and (stage <= slots + 1 or not kept)
            told = stage > slots and not kept
            x, y = _in_bin(sheet, (token, slot)) if placed else _in_batch(token)
            yield _copy(f"{token}.{slot}", (x, y), token, ids[slot], told=told)


def _copy(key: str, at: tuple[float, float], token: Count, expert: Count, *, told: bool) -> Shape:
    """Return a copy of a token; one that is told to be dropped is crossed out."""
    inner = _SIDE - 2
    square = f"M1 1h{inner:g}v{inner:g}h{-inner:g}z"
    cross = f"M1 1l{inner:g} {inner:g}M{inner + 1:g} 1l{-inner:g} {inner:g}"
    return Shape(
        key=f"t{key}",
        tag="path",
        attributes={
            "d": square + cross if told else square,
            "class": "c-ink" if told else "c-activations",
            "fill": "currentColor",
            "fill-opacity": "0.08" if told else "0.75",
            "stroke": "currentColor",
            "stroke-width": "1",
            "style": f"transform:translate({at[0]:.1f}px,{at[1]:.1f}px);{_GLIDE}",
            "data-links": f"token:{token + 1} expert:{expert}",
        },
    )


def _left(sheet: _Sheet, expert: Count) -> float:
    return sheet.column * expert + (sheet.column - _WIDE * _SIDE) / 2


def _in_bin(sheet: _Sheet, pair: tuple[Count, Count]) -> tuple[float, float]:
    expert, at = sheet.places[pair]
    row, column = divmod(at, _WIDE)
    return _left(sheet, expert) + column * _SIDE, _BIN + row * _SIDE


def _in_batch(token: Count) -> tuple[float, float]:
    row, column = divmod(token, 32)
    return 2 + column * (_SIDE + 1.7), _BATCH + row * (_SIDE + 4)


def _text(key: str, at: tuple[float, float], words: str, anchor: str) -> Shape:
    return text(key, *at, 14, words, anchor)


def _rect(
    key: str, at: tuple[float, float], size: Sequence[float], kind: str, more: Mapping[str, str]
) -> Shape:
    return rect(key, at, (size[0], size[1]), kind, tuple(more.items()))
