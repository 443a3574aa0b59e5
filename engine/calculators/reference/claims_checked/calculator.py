"""Claims checked: published numbers, the engine's numbers, and the reasons they differ."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.reference.claims_checked import axes as axes_claims
from engine.calculators.reference.claims_checked import memory as memory_claims
from engine.calculators.reference.claims_checked import network as network_claims
from engine.calculators.reference.claims_checked import pipeline as pipeline_claims
from engine.calculators.reference.claims_checked import schedules as schedule_claims
from engine.calculators.reference.claims_checked import sync as sync_claims
from engine.calculators.reference.claims_checked.claim import VERDICTS, Claim
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import with_published_digits
from engine.core.units import Count
from engine.core.views import Cell, Citation, Table

TITLE = "Claims, checked"
QUESTION = "Which widely published numbers hold, and what is right instead?"
HEADLINE = "checked"
TOPICS = {
    "sync": ("Summing gradients", sync_claims.claims),
    "memory": ("Memory", memory_claims.claims),
    "pipeline": ("Pipelines", pipeline_claims.claims),
    "schedules": ("Schedules of a pipeline", schedule_claims.claims),
    "axes": ("Tensor parallelism, sharding, counting", axes_claims.claims),
    "network": ("Links, latency, overlap", network_claims.claims),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Which claims to show."""

    topic: Annotated[
        str,
        Choice(label="About", options={"all": "everything"} | {k: v[0] for k, v in TOPICS.items()}),
    ] = "all"
    verdict: Annotated[str, Choice(label="Verdict", options={"all": "any"} | VERDICTS)] = "all"


def all_claims() -> dict[str, tuple[Claim, ...]]:
    """Return topic -> its claims."""
    return {topic: make() for topic, (_, make) in TOPICS.items()}


_COUNTED = ("Counted in the table of this page.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How many claims there are by verdict, and those asked for."""

    checked: Annotated[Count, Output("Checked", assumes=_COUNTED, basis="definition")]
    wrong: Annotated[Count, Output("Wrong", assumes=_COUNTED, basis="definition")]
    hold: Annotated[Count, Output("Right", assumes=_COUNTED, basis="definition")]
    shown: tuple[Claim, ...]


def solve(inputs: Inputs) -> Result:
    """Return the claims asked for, and how many there are in all."""
    known = all_claims()
    verdicts = [claim.verdict for claims in known.values() for claim in claims]
    return Result(
        checked=len(verdicts),
        wrong=verdicts.count("wrong"),
        hold=verdicts.count("right"),
        shown=tuple(
            claim
            for topic, claims in known.items()
            for claim in claims
            if inputs.topic in ("all", topic) and inputs.verdict in ("all", claim.verdict)
        ),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return {
        **Presenter(result).values("checked", "wrong", "hold"),
        "claims": Table(
            title="What is printed, and what is right",
            columns=("Claim", "Printed", "Right", "Verdict", "Why", "Sources"),
            rows=tuple(_row(claim) for claim in result.shown),
            caption="Printed digits are computed by the published arithmetic, right ones by the "
            "formulas of this project.",
        ),
    }


def _row(claim: Claim) -> tuple[Cell, ...]:
    return (
        claim.said,
        with_published_digits(claim.printed),
        claim.right,
        VERDICTS[claim.verdict],
        claim.why,
        Citation(claim.sources),
    )
