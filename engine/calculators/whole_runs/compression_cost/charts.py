"""The cost of compression: which way is the fastest, and by how many GPUs."""

from engine.calculators.whole_runs.compression_cost.inputs import COUNTS, Inputs, Result
from engine.core.outputs import Teller
from engine.core.units import BYTES, COUNT, SECONDS, Gbit, Seconds
from engine.core.views import Axis, Badge, Challenge, Condition, Lines, Point, Rule, Series, Table
from engine.simulate.data_parallel.compressed_sync import Sync, Ways

# Compressing takes at least so much, so what is hardly faster is no winner.
_TIE = 0.9


def verdict(tell: Teller, result: Result) -> Badge:
    """Return which way is the fastest, if the job fits."""
    if result.room < 0:
        return Badge(
            text="Does not fit",
            sentence=tell.say(
                "The job and what it owes need {over} more than a GPU has.",
                over=(-result.room, BYTES),
            ),
            color="bad",
        )
    rows = (
        ("An all-reduce", "The plain all-reduce is the fastest: {dense_time}.", result.dense_time),
        ("Top-k", "Top-k takes {top_k_time}, the all-reduce {dense_time}.", result.top_k_time),
        (
            "Factors",
            "Factors take {low_rank_time}, the all-reduce {dense_time}.",
            result.low_rank_time,
        ),
    )
    name, words, least = min(rows, key=lambda row: row[2])
    if name != "An all-reduce" and least > _TIE * result.dense_time:
        sentence = tell.say(f"{words} Compressing takes about what the wire saves.")
        return Badge(text="A tie", sentence=sentence, color="gradients")
    color = {"Top-k": "communication", "Factors": "parameters"}.get(name, "gradients")
    return Badge(text=name, sentence=tell.say(words), color=color)


def curve(inputs: Inputs, result: Result) -> Lines:
    """Return the time of the three ways by the number of GPUs."""
    rows = (
        ("dense", "all-reduce", "gradients"),
        ("top_k", "top-k", "communication"),
        ("low_rank", "thin factors", "parameters"),
    )
    x = tuple(map(float, COUNTS))

    def time(one: Ways, key: str) -> Seconds:
        way: Sync = getattr(one, key)
        return way.total

    every = [time(one, key) for one in result.curve for key, _, _ in rows]
    inside = COUNTS[0] <= result.break_even <= COUNTS[-1]
    rule = Rule(key="even", label="top-k sends more from here", axis="x", at=result.break_even)
    return Lines(
        title="Time to sum the gradients of a step",
        x=Axis(label="GPUs", quantity=COUNT, low=2.0, high=4096.0, scale="log"),
        y=Axis(
            label="time", quantity=SECONDS, low=min(every) / 1.5, high=max(every) * 1.5, scale="log"
        ),
        series=tuple(
            Series(
                key=key,
                label=label,
                x=x,
                y=tuple(time(one, key) for one in result.curve),
                color=color,
                dashed=key == "dense",
            )
            for key, label, color in rows
        ),
        points=tuple(
            Point(
                key=key, label="", x=float(inputs.world_size), y=time(result.now, key), color=color
            )
            for key, _, color in rows
        ),
        rules=(rule,) if inside else (),
        handle="world_size",
        caption="Compressing and rebuilding included. Up to eight GPUs are one node.",
    )


def table(tell: Teller, result: Result) -> Table:
    """Return the three ways at the reader's number of GPUs."""
    rows = (("all-reduce", result.now.dense), ("top-k", result.now.top_k))
    return Table(
        title="The three ways, at your number of GPUs",
        columns=("Way", "Sent", "On the wire", "Compressing", "Sums on the way"),
        rows=tuple(
            (
                name,
                tell.say("{v}", v=(way.sent, BYTES)),
                tell.say("{v}", v=(way.wire, SECONDS)),
                tell.say("{v}", v=(way.work, SECONDS)),
                "no" if name == "top-k" else "yes",
            )
            for name, way in (*rows, ("thin factors", result.now.low_rank))
        ),
    )


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge."""
    return Challenge(
        title="Worth the trouble",
        goal="A gradient sum on at least 256 GPUs with 8 ports a node, three times as fast as the "
        "plain all-reduce, with a rank of at least 32 or a hundredth of the numbers.",
        conditions=(
            Condition(text="256 GPUs or more", met=inputs.world_size >= 256),
            Condition(text="8 ports a node", met=inputs.ports == 8),
            Condition(
                text="rank 32 or more, 1 % or more",
                met=inputs.rank >= 32 and inputs.keep >= 0.01,
            ),
            Condition(
                text="three times as fast",
                met=3 * min(result.top_k_time, result.low_rank_time) <= result.dense_time,
            ),
            Condition(text="it fits", met=result.room >= 0),
        ),
        hints=(
            "Which of the two still sums on the way at this number of GPUs?",
            "What does compressing take, whatever the wire?",
            "On what kind of network does an all-reduce of this size take long?",
        ),
        start={"world_size": 256, "ports": 8, "port": 400 * Gbit, "rank": 32, "keep": 0.01},
        solution={
            "world_size": 256,
            "ports": 8,
            "port": 25 * Gbit,
            "rank": 32,
            "keep": 0.01,
        },
    )
