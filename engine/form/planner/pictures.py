"""Charts, badges and tables of the planner."""

from collections.abc import Sequence

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
from engine.form.memory_fit import memory_segments, tight_mark, with_fit
from engine.form.planner.answer import Answer
from engine.form.planner.best_plan_text import MOVES, limit_text, ties_text
from engine.form.planner.plan_bar import step_bar
from engine.form.planner.plan_table import listed_table
from engine.form.planner.plan_text import plan_name, reason_text, split_text
from engine.simulate.planner.evaluate import Candidate

_VERDICTS = {
    "impossible": ("Impossible", "communication"),
    "too large": ("Does not fit", "communication"),
    "slower": ("Slower", "communication"),
    "tied": ("A tie", "compute"),
    "best": ("The best", "compute"),
}


def step_comparison(answer: Answer) -> Bars:
    """Return the step of the reader's plan and of the best one, split by cause."""
    bars = []
    if answer.why.plan:
        note = "yours, which does not fit" if answer.why.verdict == "too large" else "yours"
        bars.append(step_bar("own", note, answer.why.plan))
    if answer.best:
        bars.append(step_bar("best", "best that fits", answer.best))
    if not bars:
        nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
        bars = [Bar(key="none", label="no plan fits", segments=(nothing,))]
    most = max(answer.own_step, answer.step, 1e-9)
    return Bars(
        title="Your plan and the best one",
        axis=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.08 * most),
        bars=tuple(bars),
        caption=plan_name(answer.best.plan, answer.best.training) + "."
        if answer.best
        else "No plan fits this job on these GPUs.",
    )


def memory_comparison(answer: Answer) -> Bars:
    """Return the memory of both plans beside the available memory."""
    pairs = [("own", "yours", answer.why.plan), ("best", "best that fits", answer.best)]
    bars = [
        Bar(key=k, label=w, segments=memory_segments(candidate.memory))
        for k, w, candidate in pairs
        if candidate
    ]
    if not bars:
        nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
        bars = [Bar(key="none", label="no plan fits", segments=(nothing,))]
    most = max(answer.own_held, answer.held, answer.room)
    return Bars(
        title="Memory of the rank that holds most",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.08 * most),
        bars=tuple(bars),
        rules=(Rule(key="room", label="may be filled", axis="x", at=answer.room),),
    )


def plan_verdict(answer: Answer) -> Badge:
    """Return what rules out the reader's plan, if anything does."""
    text, color = _VERDICTS[answer.why.verdict]
    if answer.best is None and answer.why.verdict == "best":
        text = "Fits"
    return Badge(text=text, sentence=reason_text(answer.why), color=color)


def best_plan_badge(answer: Answer) -> Badge:
    """Return the best plan's name, and how far the job is beyond measured runs."""
    if not answer.best or not answer.evidence:
        return Badge(
            text="No plan fits",
            sentence=_no_plan_text(answer),
            color="communication",
        )
    beyond = " ".join(answer.evidence().spread.beyond)
    sentence = f"{plan_name(answer.best.plan, answer.best.training)}. {beyond}".strip()
    return with_fit(Badge(text="Best plan", sentence=sentence, color="compute"), answer.best.fit)


def _no_plan_text(answer: Answer) -> Text:
    if not answer.shapes:
        return say(
            "A batch of {b} sequences of {s} tokens does not divide over {n} GPUs.",
            b=(answer.job.training.global_batch_size, COUNT),
            s=(answer.job.training.sequence_length, COUNT),
            n=(answer.job.world_size, COUNT),
        )
    return "The process of every plan that divides takes more memory than a GPU has."


def _name(candidate: Candidate) -> str:
    return plan_name(candidate.plan, candidate.training) + tight_mark(candidate.fit)


def ties_badge(answer: Answer) -> Slices[Badge]:
    """Return the kinds of plans that tie with the best, and the simplest plan of them."""
    if not answer.tie:
        return Badge(text="No tie", sentence="Nothing fits.", color="muted")
    tie = yield from answer.tie.rest()
    text = "A tie" if len(tie.kinds) > 1 else "No tie"
    return Badge(text=text, sentence=ties_text(tie), color="compute")


def splits_heatmap(answer: Answer) -> Slices[Heatmap]:
    """Return the speed of the best plan of each tensor and pipeline parallelism, over the best."""
    best_of = yield from answer.cells.rest()
    tensors = sorted({candidate.plan.tensor_parallel for candidate in answer.shapes}) or [1]
    stages = sorted({pipeline for _, pipeline in best_of} | {1, 2, 4, 8})
    return Heatmap(
        title="Speed of the best plan for each split, of the best of all",
        x_label="tensor parallel",
        y_label="pipeline parallel",
        x=tuple(map(str, tensors)),
        y=tuple(map(str, stages)),
        values=tuple(
            tuple(
                answer.step / best_of[tensor, stage].step if (tensor, stage) in best_of else 0.0
                for tensor in tensors
            )
            for stage in stages
        ),
        quantity=SHARE,
        points=_own_split(answer, tensors, stages),
        caption="0 %: nothing fits or divides. Each cell is the best over context parallelism, "
        "sharding, micro-batch, recomputation, virtual stages and software. The frame marks the "
        "split of your plan, whose other settings may be worse.",
    )


def _own_split(answer: Answer, tensors: Sequence[int], stages: Sequence[int]) -> tuple[Point, ...]:
    """Return the cell of the reader's tensor and pipeline parallelism, if it is on the map."""
    plan = answer.reader_run.plan
    if plan.tensor_parallel not in tensors or plan.pipeline_parallel not in stages:
        return ()
    x, y = tensors.index(plan.tensor_parallel), stages.index(plan.pipeline_parallel)
    return (Point(key="own", label="framed: your split", x=x, y=y, color="ink"),)


def memory_frontier(answer: Answer) -> Slices[Lines]:
    """Return the plans that no other beats in both speed and memory, and the reader's."""
    front = yield from answer.frontier.rest()
    x = tuple(candidate.memory.total for candidate in reversed(front))
    y = tuple(answer.step / candidate.step for candidate in reversed(front))
    points = [_point(answer, "best", "best", answer.best)] if answer.best else []
    plan = answer.why.plan
    if plan:
        points.append(_point(answer, "own", "yours", plan))
    most = max((*x, answer.room, answer.own_held))
    fastest = max((*y, *(point.y for point in points), 1.0))
    return Lines(
        title="Speed against memory",
        x=Axis(
            label="memory of the rank that holds most", quantity=BYTES, low=0.0, high=1.05 * most
        ),
        y=Axis(label="speed, of the best", quantity=SHARE, low=0.0, high=1.1 * fastest),
        series=(Series(key="front", label="no plan is better in both", x=x, y=y, color="memory"),),
        points=tuple(points),
        rules=(Rule(key="room", label="may be filled", axis="x", at=answer.room, color="bad"),),
    )


def _point(answer: Answer, key: str, label: str, candidate: Candidate) -> Point:
    return Point(key=key, label=label, x=candidate.memory.total, y=answer.step / candidate.step)


def gpu_frontier(answer: Answer) -> Slices[Lines]:
    """Return the best throughput on fewer and on more GPUs, with the same batch."""
    best_of, counts = (yield from answer.by_gpus.rest()), answer.counts
    training = answer.job.training
    tokens = training.global_batch_size * training.sequence_length
    x = tuple(float(count) for count in best_of)
    y = tuple(tokens / candidate.step for candidate in best_of.values())
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
            Point(key="now", label="now", x=float(answer.job.world_size), y=tokens / answer.step),
        )
        if answer.best
        else (),
    )


def limits_badge(answer: Answer) -> Badge:
    """Return the largest part of the best step that is no computation."""
    limit = answer.limit
    if not limit:
        return Badge(text="Memory", sentence="No plan fits; memory is the limit.", color="memory")
    text = "Computation" if limit.computing > 0.9 else "Communication and waiting"
    return Badge(text=text, sentence=limit_text(limit), color="compute")


def moves_table(answer: Answer) -> Slices[Table]:
    """Return the gains from changes of the job itself."""
    columns = ("Change", "Speed", "Per GPU", "Best plan then")
    if not answer.moves:
        return Table(title="What would change more", columns=columns, rows=())
    rows: list[tuple[Cell, ...]] = [
        (
            MOVES[move.key],
            say("{g}", g=(move.gain, RATIO)),
            say("{g}", g=(move.per_gpu, RATIO)),
            split_text(move.best.plan) + tight_mark(move.best.fit),
        )
        for move in (yield from answer.moves.rest())
    ]
    return Table(
        title="What would change more",
        columns=columns,
        rows=tuple(rows),
        caption="For each change the plans near the best one are searched again.",
    )


def plans_table(answer: Answer) -> Slices[Table]:
    """Return the fastest plan, the plans of other kinds that tie with it, and slower ones."""
    kinds = (yield from answer.tie.rest()).kinds if answer.tie else ()
    return listed_table(answer.search.best, kinds, len(answer.search.best))
