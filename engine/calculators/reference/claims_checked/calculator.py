"""Claims we checked: what is widely published, what the engine says, and why they differ."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.inputs import Choice
from engine.basis.units import COUNT
from engine.basis.views import Cell, Cite, Receipt, Table, Value, View
from engine.calculators.reference.claims_checked import axes as _claims_axes
from engine.calculators.reference.claims_checked import memory as _claims_memory
from engine.calculators.reference.claims_checked import network as _claims_network
from engine.calculators.reference.claims_checked import pipeline as _claims_pipeline
from engine.calculators.reference.claims_checked import schedules as _claims_schedules
from engine.calculators.reference.claims_checked import sync as _claims_sync
from engine.calculators.reference.claims_checked.claim import VERDICTS, Claim

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


def compute(inputs: Inputs) -> dict[str, View]:
    """Return how many claims there are by verdict, and those asked for."""
    known = [claim for claims in all_claims().values() for claim in claims]
    shown = [
        claim
        for topic, claims in all_claims().items()
        for claim in claims
        if inputs.topic in ("all", topic) and inputs.verdict in ("all", claim.verdict)
    ]
    return {
        "checked": _count("Checked", known),
        "wrong": _count("Wrong", [c for c in known if c.verdict == "wrong"]),
        "hold": _count("Right", [c for c in known if c.verdict == "right"]),
        "claims": Table(
            title="What is printed, and what is right",
            columns=("Claim", "Printed", "Right", "Verdict", "Why", "Sources"),
            rows=tuple(_row(claim) for claim in shown),
            caption="Printed digits are computed by the published arithmetic, right ones by the "
            "formulas of this project.",
        ),
    }


def _row(claim: Claim) -> tuple[Cell, ...]:
    return (
        claim.said,
        claim.printed,
        claim.right,
        VERDICTS[claim.verdict],
        claim.why,
        Cite(claim.sources),
    )


def _count(label: str, claims: list[Claim]) -> Value:
    receipt = Receipt(basis="definition", assumptions=("Counted in the table of this page.",))
    return Value(label=label, value=len(claims), quantity=COUNT, receipt=receipt)
