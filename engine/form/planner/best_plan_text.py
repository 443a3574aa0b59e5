"""The best plan as text: what limits it, what ties with it, what a change of the job gains.

Apart from `plan_text`, because this needs the planner's search, and names of plans do not.
"""

from collections.abc import Mapping

from engine.catalog.gain_errors import GAIN_ERROR, PAIRS
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE
from engine.form.memory_fit import tight_mark
from engine.form.planner.plan_text import PARTS, RECOMPUTED, plan_name
from engine.simulate.planner.moves import StepLimit
from engine.simulate.planner.ties import Tie, Variant


def limit_text(limit: StepLimit) -> Text:
    """Return the largest part of the best step that is no computation."""
    return say(
        "{computing} of its step computes. The largest other part is "
        f"{PARTS[limit.part]}: {{seconds}}, {{share}}.",
        computing=(limit.computing, SHARE),
        seconds=(limit.seconds, SECONDS),
        share=(limit.share, SHARE),
    )


def ties_text(tie: Tie) -> Text:
    """Return how many kinds of plans tie with the best, by which rule, and the simplest plan."""
    simplest = plan_name(tie.simplest.plan, tie.simplest.training) + tight_mark(tie.simplest.fit)
    error, pairs = (GAIN_ERROR, SHARE), (PAIRS, COUNT)
    kinds = len(tie.kinds)
    if kinds == 1:
        return say(
            "No plan of another kind is within {error} of the fastest, and four in five of {pairs} "
            f"pairs of published runs are predicted that well. The simplest: {simplest}.",
            error=error,
            pairs=pairs,
        )
    return say(
        "{n} kinds of plans tie: within {error} of the fastest, where one in five of {pairs} pairs "
        f"of published runs is predicted worse. The simplest plan of them: {simplest}.",
        n=(kinds, COUNT),
        error=error,
        pairs=pairs,
    )


def others_text(others: Mapping[str, tuple[Variant, ...]]) -> str:
    """Return what other plans of a kind have: "2 or 4 virtual stages; a micro-batch of 2"."""
    words = []
    if stages := others.get("virtual_pipeline"):
        words.append(f"{_numbers(stages)} virtual stage{'s' * (stages != (1,))}")
    if batches := others.get("micro_batch_size"):
        words.append(f"a micro-batch of {_numbers(batches)}")
    words += [
        RECOMPUTED.get(str(name), f"{name} recomputed") for name in others.get("recompute", ())
    ]
    stages = others.get("zero_stage", ())
    words += [f"ZeRO-{stage}" if stage else "nothing sharded" for stage in stages]
    groups = others.get("shard_group", ())
    words += ["one group of all replicas"] if 0 in groups else []
    if inner := tuple(group for group in groups if group):
        words.append(f"groups of {_numbers(inner)}")
    return "; ".join(words)


def _numbers(values: tuple[Variant, ...]) -> str:
    """Return numbers as words: "2", "2 or 4", "2 to 16" for more than three."""
    texts = list(map(str, values))
    if len(texts) > 3:
        return f"{texts[0]} to {texts[-1]}"
    return " or ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


MOVES: Mapping[str, str] = {
    "batch": "Twice the global batch",
    "fp8": "Linear layers in FP8",
    "ports": "Ports of twice the speed",
    "memory": "H200 instead of H100",
    "gpus": "Twice the GPUs, the batch as it is",
}


def gain_text(gain: float, per_gpu: float) -> Text:
    """Return the gain of a job change as text."""
    return say("{gain} as fast, {each} per GPU", gain=(gain, RATIO), each=(per_gpu, RATIO))
