"""The planner in pictures: two steps side by side, a map of splits, frontiers, tables."""

from collections.abc import Sequence
from dataclasses import replace

from engine.core.slices import Slices
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, SHARE, TOKEN_RATE
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Heatmap,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Table,
)
from engine.form.memory_bar import parts_of
from engine.form.planner.answer import Answer
from engine.form.planner.plan_text import MOVES, limited, name, reason, split, tied
from engine.simulate.planner.evaluate import Candidate

_PARTS = (
    ("compute", "computation", "compute"),
    ("tensor_parallel", "tensor parallel", "tensor"),
    ("context_parallel", "context parallel", "context"),
    ("expert_parallel", "experts", "expert"),
    ("pipeline", "stages", "pipeline"),
    ("data_parallel", "data parallel", "data"),
    ("bubble", "bubble", "idle"),
    ("optimizer", "optimizer", "optimizer"),
    ("other", "host, slowest GPU", "muted"),
)
_VERDICTS = {
    "impossible": ("Impossible", "communication"),
    "too large": ("Does not fit", "communication"),
    "slower": ("Slower", "communication"),
    "tied": ("A tie", "compute"),
    "best": ("The best", "compute"),
}


def step_bar(key: str, label: str, one: Candidate) -> Bar:
    """Return a plan's step as one bar, by what takes the time."""
    segments = tuple(
        Segment(key=part, label=words, value=getattr(one.time, part), color=color)
        for part, words, color in _PARTS
    )
    return Bar(key=key, label=label, segments=segments)


def versus(found: Answer) -> Bars:
    """Return the step of the reader's plan and of the best one, by what takes the time."""
    bars = []
    if found.why.plan:
        note = "yours, which does not fit" if found.why.verdict == "too large" else "yours"
        bars.append(step_bar("own", note, found.why.plan))
    if found.best:
        bars.append(step_bar("best", "best that fits", found.best))
    if not bars:
        nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
        bars = [Bar(key="none", label="no plan fits", segments=(nothing,))]
    most = max(found.own_step, found.step, 1e-9)
    return Bars(
        title="Your plan and the best one",
        axis=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.08 * most),
        bars=tuple(bars),
        caption=name(found.best.plan, found.best.training) + "."
        if found.best
        else "No plan fits this job on these GPUs.",
    )


def filled(found: Answer) -> Bars:
    """Return the memory of both plans beside the room there is."""
    pairs = [("own", "yours", found.why.plan), ("best", "best that fits", found.best)]
    bars = [Bar(key=k, label=w, segments=parts_of(one.held)) for k, w, one in pairs if one]
    if not bars:
        nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
        bars = [Bar(key="none", label="no plan fits", segments=(nothing,))]
    most = max(found.own_held, found.held, found.room)
    return Bars(
        title="Memory of the fullest GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.08 * most),
        bars=tuple(bars),
        rules=(Rule(key="room", label="may be filled", axis="x", at=found.room),),
    )


def why(found: Answer) -> Badge:
    """Return what speaks against the reader's plan."""
    text, color = _VERDICTS[found.why.verdict]
    if found.best is None and found.why.verdict == "best":
        text = "Fits"
    return Badge(text=text, sentence=reason(found.why), color=color)


def best(found: Answer) -> Badge:
    """Return the best plan by its name, and how far beyond measured runs the job lies."""
    if not found.best or not found.evidence:
        return Badge(
            text="No plan fits",
            sentence=_none(found),
            color="communication",
        )
    beyond = " ".join(found.evidence().spread.beyond)
    sentence = f"{name(found.best.plan, found.best.training)}. {beyond}".strip()
    return Badge(text="Best plan", sentence=sentence, color="compute")


def _none(found: Answer) -> Text:
    if not found.shapes:
        return say(
            "A batch of {b} sequences of {s} tokens does not divide over {n} GPUs.",
            b=(found.job.training.global_batch_size, COUNT),
            s=(found.job.training.sequence_length, COUNT),
            n=(found.job.world_size, COUNT),
        )
    return "Every plan that divides needs more memory than a GPU has room for."


def ties(found: Answer) -> Slices[Badge]:
    """Return what ties with the best, and the simplest of those plans."""
    if not found.tie:
        return Badge(text="No tie", sentence="Nothing fits.", color="muted")
    one = yield from found.tie.rest()
    simplest = f" The simplest of them: {name(one.simplest.plan, one.simplest.training)}."
    told = tied(one)
    if isinstance(told, str):
        return Badge(text="No tie", sentence=told, color="compute")
    return Badge(
        text="A tie",
        sentence=replace(told, template=told.template + simplest),
        color="compute",
    )


def map_of_splits(found: Answer) -> Slices[Heatmap]:
    """Return the speed of the best plan of each tensor and pipeline parallelism, over the best."""
    best_of = yield from found.cells.rest()
    tensors = sorted({one.plan.tensor_parallel for one in found.shapes}) or [1]
    stages = sorted({pipeline for _, pipeline in best_of} | {1, 2, 4, 8})
    return Heatmap(
        title="Speed of the best plan for each split, of the best of all",
        x_label="tensor parallel",
        y_label="pipeline parallel",
        x=tuple(map(str, tensors)),
        y=tuple(map(str, stages)),
        values=tuple(
            tuple(
                found.step / best_of[tensor, stage].step if (tensor, stage) in best_of else 0.0
                for tensor in tensors
            )
            for stage in stages
        ),
        quantity=SHARE,
        points=_own_split(found, tensors, stages),
        caption="0 %: nothing fits or divides. Each cell is the best over context parallelism, "
        "sharding, micro-batch, recomputation, pieces and software. The frame marks the split of "
        "your plan, whose other settings may be worse.",
    )


def _own_split(found: Answer, tensors: Sequence[int], stages: Sequence[int]) -> tuple[Point, ...]:
    """Return the cell of the reader's tensor and pipeline parallelism, if it is on the map."""
    own = found.own.plan
    if own.tensor_parallel not in tensors or own.pipeline_parallel not in stages:
        return ()
    x, y = tensors.index(own.tensor_parallel), stages.index(own.pipeline_parallel)
    return (Point(key="own", label="framed: your split", x=x, y=y, color="ink"),)


def memory_frontier(found: Answer) -> Slices[Lines]:
    """Return the plans that no other beats in both speed and memory, and the reader's."""
    front = yield from found.frontier.rest()
    x = tuple(one.held.total for one in reversed(front))
    y = tuple(found.step / one.step for one in reversed(front))
    points = [_point(found, "best", "best", found.best)] if found.best else []
    own = found.why.plan
    if own:
        points.append(_point(found, "own", "yours", own))
    most = max((*x, found.room, found.own_held))
    fastest = max((*y, *(point.y for point in points), 1.0))
    return Lines(
        title="Speed against memory",
        x=Axis(label="memory of the fullest GPU", quantity=BYTES, low=0.0, high=1.05 * most),
        y=Axis(label="speed, of the best", quantity=SHARE, low=0.0, high=1.1 * fastest),
        series=(Series(key="front", label="no plan is better in both", x=x, y=y, color="memory"),),
        points=tuple(points),
        rules=(Rule(key="room", label="may be filled", axis="x", at=found.room, color="bad"),),
    )


def _point(found: Answer, key: str, label: str, one: Candidate) -> Point:
    return Point(key=key, label=label, x=one.held.total, y=found.step / one.step)


def gpu_frontier(found: Answer) -> Slices[Lines]:
    """Return the best throughput on fewer and on more GPUs, with the same batch."""
    best_of, counts = (yield from found.by_gpus.rest()), found.counts
    training = found.job.training
    tokens = training.global_batch_size * training.sequence_length
    x = tuple(float(count) for count in best_of)
    y = tuple(tokens / one.step for one in best_of.values())
    ideal = tuple(y[0] / x[0] * count for count in x) if x else ()
    most = max((*y, *ideal, 1.0))
    return Lines(
        title="Throughput against GPUs, the batch as it is",
        x=Axis(
            label="GPUs", quantity=COUNT, low=counts[0] / 1.2, high=1.2 * counts[-1], scale="log"
        ),
        y=Axis(label="tokens per second", quantity=TOKEN_RATE, low=0.0, high=1.1 * most),
        series=(
            Series(key="best", label="best plan that fits", x=x, y=y, color="compute"),
            Series(key="ideal", label="in proportion", x=x, y=ideal, color="muted", dashed=True),
        ),
        points=(
            Point(key="now", label="now", x=float(found.job.world_size), y=tokens / found.step),
        )
        if found.best
        else (),
    )


def limits(found: Answer) -> Badge:
    """Return what of the best step is no computation."""
    one = found.limit
    if not one:
        return Badge(text="Memory", sentence="No plan fits; memory is the limit.", color="memory")
    text = "Computation" if one.computing > 0.9 else "Communication and waiting"
    return Badge(text=text, sentence=limited(one), color="compute")


def next_moves(found: Answer) -> Slices[Table]:
    """Return what changes of the job itself would gain."""
    columns = ("Change", "Speed", "Per GPU", "Best plan then")
    if not found.moves:
        return Table(title="What would change more", columns=columns, rows=())
    rows: list[tuple[Cell, ...]] = [
        (
            MOVES[one.key],
            say("{g}", g=(one.gain, RATIO)),
            say("{g}", g=(one.per_gpu, RATIO)),
            split(one.best.plan),
        )
        for one in (yield from found.moves.rest())
    ]
    return Table(
        title="What would change more",
        columns=columns,
        rows=tuple(rows),
        caption="For each change the plans near the best one are searched again.",
    )


def table(found: Answer) -> Table:
    """Return the fastest plans."""
    rows: list[tuple[Cell, ...]] = [
        (
            say("{t}", t=(one.step, SECONDS)),
            say("{m}", m=(one.held.total, BYTES)),
            name(one.plan, one.training),
        )
        for one in found.found.best
    ]
    return Table(
        title="The fastest plans that fit",
        columns=("Step", "Fullest GPU", "Plan"),
        rows=tuple(rows),
    )
