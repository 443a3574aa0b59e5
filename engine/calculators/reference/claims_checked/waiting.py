"""The claim that a GPU shows full utilization while it waits."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.core.text import say
from engine.core.units import SHARE
from engine.simulate.streams.meters import LateRank, read_meters


def waiting_claim() -> Claim:
    """Return the claim, with the meters of a GPU that waits for a rank that is late."""
    meters = read_meters(LateRank())
    return Claim(
        key="E3.25",
        said="What the utilization shows while a GPU waits in a collective",
        printed="100% utilization",
        right=say(
            "{u} utilization, but {s} SM active and {t} tensor active, for a GPU that waits {w} of "
            "the time",
            u=(meters.utilization, SHARE),
            s=(meters.sm_active, SHARE),
            t=(meters.tensor_active, SHARE),
            w=(meters.waiting, SHARE),
        ),
        verdict="right",
        why="A collective that waits is a kernel that runs, and utilization is the share of time "
        "in which any kernel runs.",
        sources=("pingdo_sync", "nvml_utilization", "dcgm_profiling"),
    )
