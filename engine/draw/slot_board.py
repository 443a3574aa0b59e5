"""Scenes of a job in time slots: a cell per slot, colored by its outcome."""

from collections.abc import Iterator, Sequence

from engine.core.text import Text, say
from engine.core.units import COUNT, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.job.slotted_run import (
    CHECKPOINT,
    FAILED,
    LOST,
    RESTART,
    SAVED,
    WORK,
    SlotEvent,
    SlottedJob,
)

COLUMNS = 24
_CELL, _TOP, _FONT = 30.0, 44.0, 21.0
_KINDS = {
    SAVED: ("cell c-compute", "0.75", "saved"),
    CHECKPOINT: ("cell c-memory", "0.75", "checkpoint"),
    LOST: ("cell c-ink", "0.2", "lost"),
    FAILED: ("cell c-ink", "0.85", "failure"),
    RESTART: ("cell c-idle", "1", "r: restart"),
    WORK: ("cell c-compute", "0.3", "work"),
}
_MARKS = {FAILED: ("×", "c-paper"), RESTART: ("r", "c-ink")}
_FREE = ("cell c-muted", "0.06")


def board_scene(job: SlottedJob, events: Sequence[SlotEvent]) -> Scene:
    """Return the scene, one frame per event; the last one opens."""
    most = len(events[-1].slots)
    rows = max(3, -(-most // COLUMNS))
    frames = tuple(
        Frame(caption=_caption(job, event), shapes=tuple(_shapes(job, event, rows)))
        for event in events
    )
    return Scene(
        title="A job, slot by slot",
        width=COLUMNS * _CELL,
        height=_TOP + rows * _CELL + 44,
        frames=frames,
        opening=len(frames) - 1,
        caption="Read it like a page. Each cell is a slot of time, for all GPUs of the job.",
    )


def _shapes(job: SlottedJob, event: SlotEvent, rows: Count) -> Iterator[Shape]:
    yield text("done", 2, 26, _FONT, f"{event.done} of {job.work} saved", "start", "value c-ink")
    clock = f"slot {len(event.slots)}"
    yield text("clock", COLUMNS * _CELL - 2, 26, _FONT, clock, "end", "value c-ink")
    for slot in range(rows * COLUMNS):
        kind = event.slots[slot] if slot < len(event.slots) else ""
        row, column = divmod(slot, COLUMNS)
        corner = (column * _CELL + 1, _TOP + row * _CELL + 1)
        look, opacity = _KINDS[kind][:2] if kind else _FREE
        size = (_CELL - 2, _CELL - 2)
        yield rect(f"slot{slot}", corner, size, look, (("fill-opacity", opacity),))
        mark, tone = _MARKS.get(kind, ("", "c-ink"))
        middle = (corner[0] + 14, corner[1] + 22)
        yield text(f"mark{slot}", *middle, _FONT, mark, "middle", f"value {tone}")
    yield from _legend(_TOP + rows * _CELL + 16)


def _legend(top: float) -> Iterator[Shape]:
    left = 2.0
    for kind, width in ((SAVED, 96.0), (CHECKPOINT, 142.0), (LOST, 78.0), (FAILED, 104.0)):
        look, opacity, words = _KINDS[kind]
        yield rect(f"{kind}.key", (left, top), (18, 18), look, (("fill-opacity", opacity),))
        yield text(f"{kind}.words", left + 26, top + 16, _FONT, words, "start")
        left += width + 36
    look, opacity, words = _KINDS[RESTART]
    yield rect("restart.key", (left, top), (18, 18), look, (("fill-opacity", opacity),))
    yield text("restart.words", left + 26, top + 16, _FONT, words, "start")


def _caption(job: SlottedJob, event: SlotEvent) -> Text:
    figures = {
        "s": (len(event.slots), COUNT),
        "d": (event.done, COUNT),
        "w": (job.work, COUNT),
        "l": (event.lost, COUNT),
    }
    if event.kind == CHECKPOINT:
        end = " The job is done." if event.done == job.work else ""
        return say(
            f"Slot {{s}}: a checkpoint. {{d}} of {{w}} slots of work are saved.{end}", **figures
        )
    if event.kind == RESTART:
        return say("Slot {s}: restarted. Work goes on from slot {d} of {w}.", **figures)
    if event.lost:
        return say("Slot {s}: a failure. Work lost since the last checkpoint: {l}.", **figures)
    return say("Slot {s}: a failure. No work was lost but the slot itself.", **figures)
