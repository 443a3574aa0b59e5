"""The inputs of the sandbox: every input of a run, and for a second plan all but the job's.

They are made from those of one run, so that an input which a run gains is here twice at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, fields, make_dataclass, replace
from typing import Annotated, Any, get_args, get_type_hints

from engine.core.inputs import Choice, Field, Number, Scalar, Switch
from engine.form.run import inputs as run_inputs

SECOND_PREFIX = "b_"
# What is trained: the same for both plans.
JOB_INPUTS = ("model", "sequence_length", "global_batch_size")
# What was measured on the reader's cluster counts in whichever plan has its GPU.
_MEASURED = ("own_constants",)
_SHAPE = (
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "ffn_hidden_size",
    "vocab_size",
    "mlp",
    "tied_embeddings",
    "num_experts",
    "experts_per_token",
    "num_shared_experts",
    "expert_ffn_hidden_size",
    "num_dense_layers",
)
PLAN = tuple(
    item.name
    for item in fields(run_inputs.Inputs)
    if item.name not in JOB_INPUTS + _SHAPE + _MEASURED
)
# The page opens with a plan that needs less memory than the first, and is as fast.
_OTHER: Mapping[str, Scalar] = {
    "tensor_parallel": 8,
    "pipeline_parallel": 2,
    "virtual_pipeline": 10,
    "context_parallel": 1,
}
_HINTS = get_type_hints(run_inputs.Inputs, include_extras=True)
_DEFAULTS = run_inputs.Inputs()
# How each input of a run is declared.
MARKS: Mapping[str, Field] = {
    name: next(mark for mark in get_args(hint) if isinstance(mark, Field))
    for name, hint in _HINTS.items()
}


def _job_field(name: str) -> tuple[str, Any, Any]:
    """Return an input of both plans as a dataclass takes it."""
    return name, _HINTS[name], field(default=getattr(_DEFAULTS, name))


def _plan_fields(name: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield an input of plan A, and the same of plan B."""
    default = getattr(_DEFAULTS, name)
    kind = get_args(_HINTS[name])[0]
    yield name, Annotated[kind, _for_plan(MARKS[name], "A")], field(default=default)
    other = _OTHER.get(name, default)
    yield SECOND_PREFIX + name, Annotated[kind, _for_plan(MARKS[name], "B")], field(default=other)


def _for_plan(mark: Field, plan: str) -> Field:
    assert isinstance(mark, Number | Choice | Switch)
    label = f"{mark.label}, {plan}"
    if isinstance(mark, Number):
        return replace(mark, label=label, symbol="")
    return replace(mark, label=label)


def _input_fields() -> Iterator[tuple[str, Any, Any]]:
    yield from map(_job_field, JOB_INPUTS)
    for name in PLAN:
        yield from _plan_fields(name)
    yield from map(_job_field, _SHAPE + _MEASURED)


Inputs = make_dataclass("Inputs", list(_input_fields()), frozen=True, slots=True, kw_only=True)


def inputs_of(inputs: Any, plan: str) -> run_inputs.Inputs:  # noqa: ANN401 (made above)
    """Return the inputs of plan "A" or "B" as those of one run."""
    prefix = SECOND_PREFIX if plan == "B" else ""
    keys = {name: prefix + name for name in PLAN} | {
        name: name for name in JOB_INPUTS + _SHAPE + _MEASURED
    }
    return run_inputs.Inputs(**{name: getattr(inputs, key) for name, key in keys.items()})
