"""Muon on a job: the optimizer step in five ways, beside AdamW's, over GPUs and slices."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.whole_runs.muon_lab import charts
from engine.calculators.whole_runs.muon_lab.inputs import Inputs as Inputs
from engine.calculators.whole_runs.muon_lab.result import Result as Result
from engine.calculators.whole_runs.muon_lab.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.views import Badge, Challenge, Condition
from engine.form.memory_fit import with_fit
from engine.form.run.prediction_text import value_with_range
from engine.formulas.muon import OVERHEAD

TITLE = "Muon's optimizer step on your job"
QUESTION = "How long does Muon take, and who should orthogonalize?"
EQUATIONS = (OVERHEAD,)
_LARGE: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "world_size": 256,
    "tensor_parallel": 8,
    "pipeline_parallel": 4,
    "global_batch_size": 1024,
}
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Each matrix whole on one GPU": {"scheme": "owner"},
    "8B on 512 GPUs": {"world_size": 512},
    "70B on 256 GPUs": _LARGE,
    "Qwen3 30B-A3B on 64 GPUs": {"model": "qwen3-30b-a3b", "expert_parallel": 8},
}
START: Mapping[str, Scalar] = {**_LARGE, "scheme": "gather", "tensor_mode": "duplicated"}
SOLUTION: Mapping[str, Scalar] = {**_LARGE, "scheme": "owner", "tensor_mode": "layer_sharded"}
_MOST = 0.02
_STEP = "The model of every page of this site, with ZeRO-1."


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: curve, breakdown, numbers and bottleneck."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "curve": partial(charts.curve, inputs, result),
        **present.values("muon", "adam", "longer"),
        "step": value_with_range(present, "step", result.evidence, assumes=(_STEP,)),
        "regime": _regime(present, result),
        **present.values("products", "operations", "communication", "sent", "over_mean"),
        "parts": partial(charts.parts, result),
        "modes": partial(charts.modes, result),
        "balance": partial(charts.balance, inputs, result),
        "ladder": partial(charts.ladder, result),
        **present.values("overhead", "matrices", "parameters", "held"),
        "formula": present.formula("Operations beside the model's, at most", OVERHEAD),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, result: Result) -> Badge:
    if result.changes:
        return Badge(text="Changed", sentence=result.changes[0], color="muted")
    if not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence=present.say(
                "The fullest GPU would hold {held} of {capacity}. Recompute, share the model, or "
                "shard the states."
            ),
            color="bad",
        )
    words = (
        ("products", "Newton-Schulz", "products", "compute"),
        ("communication", "Numbers that have to travel", "communication", "communication"),
        ("update", "The pass over the states", "muon", "memory"),
    )
    longest = max(words, key=lambda phase: _part(result, phase[0]))
    badge = Badge(
        text=f"{longest[1]} binds",
        sentence=present.say(
            f"Of {{muon}} the largest part takes {{{longest[2]}}}."
            if longest[0] != "update"
            else "Of {muon} the largest part is reading and writing states, as with AdamW."
        ),
        color=longest[3],
    )
    return with_fit(badge, result.fit)


def _part(result: Result, name: str) -> float:
    if name == "update":
        return result.muon - result.products - result.communication
    return float(getattr(result, name))


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = all(getattr(inputs, key) == value for key, value in _LARGE.items())
    same = same and inputs.gpu == "H100-SXM" and inputs.sequence_length == 4096
    return Challenge(
        title="Challenge: the same update, a twentieth of the time",
        goal="Llama 3 70B trains on 256 H100, each matrix gathered on every GPU. Bring Muon below "
        "two percent of the step without changing the update.",
        conditions=(
            Condition(text="Llama 3 70B on 256 H100 with the plan of the preset", met=same),
            Condition(
                text="whole matrices are orthogonalized", met=inputs.tensor_mode != "blockwise"
            ),
            Condition(
                text="the step is longer by less than two percent", met=result.longer < _MOST
            ),
            Condition(text="it fits", met=result.fit.verdict == "fits"),
        ),
        hints=(
            "Sharing out matrices over replicas leaves the GPUs of a tensor-parallel group with "
            "the same work each.",
            "There are two inputs that say where a matrix is brought together.",
        ),
        start=START,
        solution=SOLUTION,
    )
