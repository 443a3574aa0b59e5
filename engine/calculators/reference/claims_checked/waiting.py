"""The claim that a GPU shows full utilization while it waits."""

from engine.basis.text import say
from engine.basis.units import SHARE
from engine.basis.views import Value
from engine.calculators.reference.claims_checked.claim import Claim
from engine.calculators.whole_runs.three_meters import calculator as three_meters


def waiting_claim() -> Claim:
    """Return the claim, with the meters of a GPU that waits for a rank that is late."""
    views = three_meters.compute(three_meters.Inputs())
    names = {"u": "utilization", "s": "sm_active", "t": "tensor_active", "w": "waiting"}
    found = {key: views[name] for key, name in names.items()}
    return Claim(
        key="E3.25",
        said="A GPU shows full utilization while it waits",
        printed="100% utilization",
        right=say(
            "{u} utilization, {s} SM active, {t} tensor active, if it waits {w} of the time",
            **{key: (view.value, SHARE) for key, view in found.items() if isinstance(view, Value)},
        ),
        verdict="right",
        why="A collective that waits is a kernel that runs, and utilization counts kernels.",
        sources=("pingdo_sync", "nvml_utilization", "dcgm_profiling"),
    )
