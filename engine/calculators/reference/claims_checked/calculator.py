"""Claims we checked: what is widely published, what the engine says, and why they differ."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.reference.claims_checked import axes as _claims_axes
from engine.calculators.reference.claims_checked import memory as _claims_memory
from engine.calculators.reference.claims_checked import network as _claims_network
from engine.calculators.reference.claims_checked import pipeline as _claims_pipeline
from engine.calculators.reference.claims_checked import schedules as _claims_schedules
from engine.calculators.reference.claims_checked import sync as _claims_sync
from engine.calculators.reference.claims_checked.claim import VERDICTS, Claim
from engine.core.inputs import Choice
from engine.core.outputs import Teller, Told, Views
from engine.core.text import as_printed
from engine.core.units import Count
from engine.core.views import Cell, Cite, Table

TITLE = "Claims, checked"
QUESTION = "Which widely published numbers hold, and what is right instead?"
TOPICS = {
    "sync": ("Summing gradients", _claims_sync.claims),
    "memory": ("Memory", _claims_memory.claims),
    "pipeline": ("Pipelines", _claims_pipeline.claims),
    "schedules": ("Schedules of a pipeline", _claims_schedules.claims),
    "axes": ("Tensor parallelism, sharding, counting", _claims_axes.claims),
    "network": ("Links, latency, overlap", _claims_network.claims),
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

    checked: Annotated[Count, Told("Checked", assumes=_COUNTED, basis="definition")]
    wrong: Annotated[Count, Told("Wrong", assumes=_COUNTED, basis="definition")]
    hold: Annotated[Count, Told("Right", assumes=_COUNTED, basis="definition")]
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
        **Teller(result).values("checked", "wrong", "hold"),
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
        as_printed(claim.printed),
        claim.right,
        VERDICTS[claim.verdict],
        claim.why,
        Cite(claim.sources),
    )
