"""Pipeline parallelism of the 260-parameter model: a micro-batch forward and backward."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.numbers import format_significant, typeset
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, Count, Share
from engine.core.views import Badge, Frame, Scene, Shape, Table
from engine.draw.shapes import rect, text
from engine.formulas.pipeline import BUBBLE_SHARE, bubble_share
from engine.tiny.depth_record import DepthRecord, StageTurn, depth_record

_WIDTH, _FONT = 460.0, 16.0
_BOX, _TOP = 96.0, 8.0
_MESSAGE, _GRID, _LINE = 136.0, 168.0, 24.0
_LEFT = 70.0


def depth_scene(depth: DepthRecord) -> Scene:
    """Return a scene with a frame for each turn."""
    frames = tuple(
        Frame(caption=_caption(depth, at), shapes=tuple(_shapes(depth, at)))
        for at in range(len(depth.turns))
    )
    return Scene(
        title="One micro-batch through the stages and back",
        width=_WIDTH,
        height=_GRID + len(depth.stages) * _LINE + 8,
        frames=frames,
        caption="Above, the stages with their parts of the model. Below, a row for each GPU: turns "
        "in which it works are filled, the others are idle.",
    )


def _shapes(depth: DepthRecord, at: int) -> list[Shape]:
    stages, now = depth.stages, depth.turns[at]
    room = _WIDTH / len(stages)
    shapes: list[Shape] = []
    for stage, parts in enumerate(stages):
        left = stage * room + 4
        works = stage == now.stage
        color = ("activations" if now.forward else "gradients") if works else "pipeline"
        opacity = "0.45" if works else "0.12"
        size = (room - 8, _BOX)
        shapes.append(
            rect(f"box{stage}", (left, _TOP), size, f"cell c-{color}", (("fill-opacity", opacity),))
        )
        middle = left + size[0] / 2
        shapes.append(text(f"gpu{stage}", middle, _TOP + 20, _FONT, f"GPU {stage}"))
        for line in range(4):
            words = _short(parts[line]) if line < len(parts) else ""
            shapes.append(text(f"part{stage}.{line}", middle, _TOP + 40 + 18 * line, 15, words))
    shapes.append(text("message", _WIDTH / 2, _MESSAGE, _FONT, _message(now)))
    return shapes + _turns(depth, at)


def _short(part: str) -> str:
    return "embedding" if part == "embedding" else part


def _message(now: StageTurn) -> str:
    if not now.row:
        return f"loss {typeset(f'{now.loss:.4f}')}" if now.loss is not None else ""
    numbers = ", ".join(typeset(f"{x:.4f}") for x in now.row)
    arrow = "→" if now.forward else "←"
    return f"{arrow} ({numbers})"


def _turns(depth: DepthRecord, at: int) -> list[Shape]:
    """Return the grid of turns: a row per GPU, future turns empty."""
    wide = (_WIDTH - _LEFT - 4) / len(depth.turns)
    shapes: list[Shape] = []
    for stage in range(len(depth.stages)):
        top = _GRID + stage * _LINE
        shapes.append(text(f"row{stage}", 4, top + 16, 15, f"GPU {stage}", "start"))
        for turn, tasks in enumerate(depth.turns):
            works = tasks.stage == stage
            color = ("activations" if tasks.forward else "gradients") if works else "muted"
            seen = "0.75" if works and turn <= at else ("0.15" if turn <= at else "0.03")
            shapes.append(
                rect(
                    f"turn{stage}.{turn}",
                    (_LEFT + turn * wide, top),
                    (wide - 2, _LINE - 3),
                    f"cell c-{color}",
                    (("fill-opacity", seen),),
                )
            )
    return shapes


def _caption(depth: DepthRecord, at: int) -> Text:
    now, stages = depth.turns[at], len(depth.stages)
    waits = f"{stages - 1} of {stages} GPUs wait." if stages > 1 else ""
    rank, sent = (now.stage, COUNT), (now.numbers, COUNT)
    if now.loss is not None:
        return say(
            f"GPU {{r}} ends the forward pass and has the loss. {waits}",
            r=rank,
        )
    if now.forward:
        return say(
            "Forward: GPU {r} computes its parts and sends {n} numbers to GPU {t}: for each of its "
            f"8 tokens one row of four. The first row is shown. {waits}",
            r=rank,
            n=sent,
            t=(now.stage + 1, COUNT),
        )
    if now.row:
        return say(
            "Backward: GPU {r} computes the gradients of its own parameters and sends {n} numbers "
            f"back, the gradient of what it had received. {waits}",
            r=rank,
            n=sent,
        )
    return say(
        f"Backward: GPU {{r}} has the gradients of the first part. In this order, the next "
        f"micro-batch begins only now. {waits}",
        r=rank,
    )


TITLE = "260 parameters, cut by depth"
QUESTION = "What does a model that is cut between its layers send, and who waits?"
HEADLINE = "held"
EQUATIONS = (BUBBLE_SHARE,)
PRESETS = {"Two GPUs": {"ranks": "2"}}
_SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[str, Choice(label="GPUs", options={n: n for n in ("1", "2", "4")})] = "4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The turns, and the training that they belong to."""

    depth: DepthRecord
    held: Annotated[
        Count,
        Output(
            "Parameters on the GPU that holds most",
            "",
            "of {size}",
            "parameters",
            assumes=("Every GPU holds its own parts of the model and nothing else.",),
            sources=("huang2019",),
            basis="simulated",
        ),
    ]
    size: Count
    sent: Annotated[
        Count,
        Output(
            "Sent by the busiest GPU in a step",
            "",
            "numbers, in {micro_batches} micro-batches",
            "pipeline",
            assumes=("Every message of the run was counted.",),
            sources=("huang2019",),
            basis="simulated",
        ),
    ]
    micro_batches: Count
    busy: Annotated[
        Share,
        Output(
            "A GPU works for",
            "",
            "of the time, one micro-batch at a time",
            "compute",
            assumes=("All stages take equally long, and messages no time: turns are counted.",),
            sources=("huang2019",),
            basis="simulated",
        ),
    ]
    idle: Annotated[
        Share,
        Output("Idle, by the formula", "q", "one micro-batch", assumes=("All stages alike.",)),
    ]
    stages: Annotated[Count, Output(symbol="p", of="ranks")]
    microbatches: Annotated[Count, Output(symbol="m")] = 1
    chunks: Annotated[Count, Output(symbol="v")] = 1


_record = lru_cache(maxsize=4)(depth_record)


def solve(inputs: Inputs) -> Result:
    """Return the turns and their counts."""
    depth = _record(int(inputs.ranks))
    stages = len(depth.stages)
    worked = max(sum(turn.stage == stage for turn in depth.turns) for stage in range(stages))
    return Result(
        depth=depth,
        held=max(depth.held),
        size=sum(depth.held),
        sent=max(depth.sent),
        micro_batches=depth.micro_batches,
        busy=worked / len(depth.turns),
        idle=bubble_share(stages, 1),
        stages=stages,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(depth_scene, result.depth),
        "equal": _equal(present, result),
        **present.values("held", "sent", "busy", "idle"),
        "parts": partial(_parts, result),
    }


def _equal(present: Presenter, result: Result) -> Badge:
    off = result.depth.off
    least = max(off, 1e-14)
    how = f"{'less than' if off < least else 'up to'} {typeset(format_significant(least, 2))}"
    same = off <= _SAME
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=present.say(
            f"After a step of {{micro_batches}} micro-batches the {{size}} parameters differ by "
            f"{how} from those of one GPU that was given the whole batch."
        ),
        color="parameters" if same else "communication",
    )


def _parts(result: Result) -> Table:
    rows = tuple(
        (f"GPU {rank}", ", ".join(parts), str(tensors), str(sent))
        for rank, (parts, tensors, sent) in enumerate(
            zip(result.depth.stages, result.depth.held, result.depth.sent, strict=True)
        )
    )
    return Table(
        title="What each GPU holds and sends",
        columns=("GPU", "Parts", "Parameters", "Numbers sent in a step"),
        rows=rows,
    )
