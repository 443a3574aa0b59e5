"""Verdict and run file of the picked row of MLPerf® Training, and the challenge."""

import json

from engine.calculators.whole_runs.mlperf_runs.result import Picked, Result
from engine.calculators.whole_runs.mlperf_runs.tables import signed_share
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SECONDS
from engine.core.views import Badge, Challenge, Code, Condition

# What the challenge asks for: so many rows, and so much jitter.
FEWEST, JITTER = 5, 1.2


def verdict(present: Presenter, picked: Picked) -> Badge:
    """Return whether the measured step of the picked row lies in its range."""
    row = picked.row
    if row is None:
        return Badge(text="No row", sentence="No row is left to pick.", color="muted")
    words = f"{row.name}, {row.row.submitter}, {row.row.version}: measured {{picked_measured}} "
    words += f"(unverified), predicted {{picked_step}} ({signed_share(row.error)}), with a range "
    words += "from {low} to {high}."
    if row.row.jitter:
        words += " The 99th percentile of its steps is {picked_jitter} the median."
    return Badge(
        text="Inside the range" if row.inside else "Outside the range",
        sentence=present.say(words, low=(row.step.low, SECONDS), high=(row.step.high, SECONDS)),
        color="compute" if row.inside else "bad",
    )


def run_file(picked: Picked) -> Code:
    """Return the run file of the picked row."""
    row = picked.row
    text = json.dumps(row.document, indent=1) if row else "{}"
    return Code(title="The run file of this row", language="json", text=text)


def challenge(present: Presenter, result: Result) -> Challenge:
    """Return the goal: the rows whose steps vary most."""
    return Challenge(
        title="Where do steps vary?",
        goal="Filter the rows until those are left whose steps vary most.",
        conditions=(
            Condition(
                text=say("{n} rows or more are left", n=(float(FEWEST), COUNT)),
                met=result.rows >= FEWEST,
            ),
            Condition(
                text=present.say(
                    "their median jitter, {jitter_median}, is {most} or more",
                    most=(JITTER, RATIO),
                ),
                met=result.jitter_median >= JITTER,
            ),
        ),
        hints=(
            "The slowest of many takes longer than the slowest of few.",
            "Try the largest dense model, and then one type of GPU.",
        ),
        start={"benchmark": "all", "gpu": "all", "network": "all", "submitter": "all",
               "tokens": "all"},
        solution={"benchmark": "llama31_405b", "gpu": "H100"},
    )  # fmt: skip
