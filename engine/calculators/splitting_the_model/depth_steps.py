"""The 260-parameter model cut by depth: one micro-batch through the stages and back."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.numbers import significant, typeset
from engine.core.outputs import Teller, Told, Views
from engine.core.units import Count, Share
from engine.core.views import Badge, Table
from engine.draw.depth_stages import depth_scene
from engine.formulas.pipeline import BUBBLE_SHARE, bubble_share
from engine.tiny.depth_record import Depth, depth_record

TITLE = "260 parameters, cut by depth"
QUESTION = "What does a model that is cut between its layers send, and who waits?"
EQUATIONS = (BUBBLE_SHARE,)
PRESETS = {"Two GPUs": {"ranks": "2"}}
_SAME = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[str, Choice(label="GPUs", options={n: n for n in ("1", "2", "4")})] = "4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The turns, and the training that they belong to."""

    depth: Depth
    held: Annotated[
        Count,
        Told(
            "Parameters on the fullest GPU",
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
        Told(
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
        Told(
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
        Told("Idle, by the formula", "q", "one micro-batch", assumes=("All stages alike.",)),
    ]
    stages: Annotated[Count, Told(symbol="p", of="ranks")]
    microbatches: Annotated[Count, Told(symbol="m")] = 1
    chunks: Annotated[Count, Told(symbol="v")] = 1


_record = lru_cache(maxsize=4)(depth_record)


def solve(inputs: Inputs) -> Result:
    """Return the turns and what was counted in them."""
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
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(depth_scene, result.depth),
        "equal": _equal(tell, result),
        **tell.values("held", "sent", "busy", "idle"),
        "parts": partial(_parts, result),
    }


def _equal(tell: Teller, result: Result) -> Badge:
    off = result.depth.off
    least = max(off, 1e-14)
    how = f"{'less than' if off < least else 'up to'} {typeset(significant(least, 2))}"
    same = off <= _SAME
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence=tell.say(
            f"After a step of {{micro_batches}} micro-batches the {{size}} parameters differ by "
            f"{how} from those of one GPU that was given the whole batch."
        ),
        color="parameters" if same else "communication",
    )


def _parts(result: Result) -> Table:
    rows = tuple(
        (f"GPU {rank}", ", ".join(parts), str(held), str(sent))
        for rank, (parts, held, sent) in enumerate(
            zip(result.depth.stages, result.depth.held, result.depth.sent, strict=True)
        )
    )
    return Table(
        title="What each GPU holds and sends",
        columns=("GPU", "Parts", "Parameters", "Numbers sent in a step"),
        rows=rows,
    )
