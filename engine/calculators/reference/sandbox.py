"""Sandbox: two plans with every input of a run, compared change by change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, make_dataclass, replace
from functools import partial
from typing import Annotated, Any, get_args, get_type_hints

from engine.core.inputs import Choice, Field, Number, Scalar, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Bytes, Ratio, Seconds, Share, TokenRate
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Code, Rule, Table
from engine.estimate import estimate
from engine.form.conventions import STEP_MODEL_COUNT
from engine.form.imported.export_formats import EXPORTS
from engine.form.memory_fit import memory_segments, tight_mark
from engine.form.planner.plan_bar import step_bar
from engine.form.planner.plan_text import differing_parts, plan_name
from engine.form.run import inputs as run_inputs
from engine.form.run import verdicts
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.prediction_text import value_with_range
from engine.run.doubts import RunWarnings, run_warnings
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, run_candidate
from engine.simulate.planner.why import differences
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_range import step_range

SECOND_PREFIX = "b_"
# What is trained: the same for both plans.
JOB_INPUTS = ("model", "sequence_length", "global_batch_size")
# What is said of the reader's own cluster counts in whichever plan has its GPU.
_MEASURED = (
    "own_constants",
    "own_peak",
    "own_peak_fp8",
    "own_memory",
    "own_bandwidth",
    "own_scale_up",
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPlan:
    """An intermediate plan, and the inputs changed since the plan before."""

    changed: tuple[str, ...]
    plan: Candidate


def plans_between(before: RunInputs, after: RunInputs) -> Iterator[ChangedPlan]:
    """Yield the valid plans between two; a change without a valid plan joins the next change."""
    now, waiting = before, list[str]()
    for name in differing_inputs(before, after):
        change: dict[str, Any] = {name: getattr(after, name)}
        now = replace(now, **change)
        waiting.append(name)
        run, repaired = nearest_run(now)
        if repaired and now != after:
            continue
        yield ChangedPlan(changed=tuple(waiting), plan=run_candidate(run))
        waiting.clear()


def differing_inputs(before: RunInputs, after: RunInputs) -> list[str]:
    """Return the names of the inputs that differ."""
    return [name for name in PLAN if getattr(before, name) != getattr(after, name)]


# The export that suits a family of software.
_FORMATS = {"megatron": "megatron", "fsdp": "torchtitan-toml", "deepspeed": "deepspeed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A plan: its nearest valid run, the adjusted inputs, memory and step."""

    run: Run
    doubts: RunWarnings
    evidence: Evidence
    changes: tuple[Text, ...]
    plan: Candidate


def verdict(first: Side, second: Side, parts: Mapping[str, Seconds], *, tied: bool) -> Badge:
    """Return the badge on the faster plan and the parts of the step that differ."""
    full = [letter for letter, side in (("A", first), ("B", second)) if not side.plan.fit.runs]
    if full:
        sentence = _memory_sentence(full, first, second)
        return Badge(text=f"{' and '.join(full)} too large", sentence=sentence, color="buffers")
    words, numbers = differing_parts(parts, first.plan.step)
    share = (abs(second.plan.step / first.plan.step - 1), SHARE)
    if tied:
        comparison = "The predicted steps differ by {share}, and their ranges overlap"
        return Badge(
            text="A tie",
            sentence=_joined_sentence(comparison, words, share=share, **numbers),
            color="muted",
        )
    longer = second.plan.step > first.plan.step
    comparison = f"B's step is {{share}} {'longer' if longer else 'shorter'}"
    return Badge(
        text="A is faster" if longer else "B is faster",
        sentence=_joined_sentence(comparison, words, share=share, **numbers),
        color="compute",
    )


def _joined_sentence(first: str, words: str, **numbers: tuple[float, object]) -> Text:
    sentence = words.replace("Per step:", "B compared with A, per step:")
    return say(f"{first}. {sentence}".strip(), **numbers)  # type: ignore[arg-type]


def _memory_sentence(full: list[str], first: Side, second: Side) -> Text:
    sides = {"A": first, "B": second}
    over = {
        letter: (sides[letter].plan.fit.least - sides[letter].plan.device, BYTES) for letter in full
    }
    words = " ".join(f"{letter} needs {{{letter}}} more than its GPUs hold." for letter in full)
    return say(words, **over)


def feasibility_badge(letter: str, side: Side) -> Badge:
    """Return whether software would run a plan as it is."""
    verdict = verdicts.possible_badge(side.run, side.doubts, side.changes)
    return Badge(text=f"{letter}: {verdict.text}", sentence=verdict.sentence, color=verdict.color)


def _label(letter: str, side: Side) -> str:
    return letter + tight_mark(side.plan.fit)


def step_bars(first: Side, second: Side) -> Bars:
    """Return the bars of both steps by part."""
    most = max(first.plan.step, second.plan.step)
    return Bars(
        title="Where both steps go",
        axis=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.08 * most),
        bars=(
            step_bar("first", _label("A", first), first.plan),
            step_bar("second", _label("B", second), second.plan),
        ),
        caption=f"A: {plan_name(first.run.plan, first.run.training)}. "
        f"B: {plan_name(second.run.plan, second.run.training)}.",
    )


def memory_bars(first: Side, second: Side) -> Bars:
    """Return the memory bars of the GPU that holds most of both plans, beside the capacity."""
    rooms = {first.plan.room: "may be filled"}
    if second.plan.room != first.plan.room:
        rooms = {first.plan.room: "room of A", second.plan.room: "room of B"}
    most = max(first.plan.memory.total, second.plan.memory.total, *rooms)
    return Bars(
        title="Memory of the GPU that holds most",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.08 * most),
        bars=(
            Bar(key="first", label="A", segments=memory_segments(first.plan.memory)),
            Bar(key="second", label="B", segments=memory_segments(second.plan.memory)),
        ),
        rules=tuple(
            Rule(key=f"room-{at}", label=words, axis="x", at=room)
            for at, (room, words) in enumerate(rooms.items())
        ),
    )


def change_table(
    pair: tuple[RunInputs, RunInputs], first: Side, stations: tuple[ChangedPlan, ...]
) -> Table:
    """Return the table of changes from plan A to plan B."""
    rows: list[tuple[Cell, ...]] = [("Plan A", *_numbers(first.plan))]
    rows += [
        ("; ".join(_change(name, *pair) for name in station.changed), *_numbers(station.plan))
        for station in stations
    ]
    return Table(
        title="From A to B, one change after another",
        columns=("Change", "Step then", "GPU that holds most, then", "Memory"),
        rows=tuple(rows),
        caption="In another order the single changes weigh differently; the end is the same. "
        "A change that makes no plan by itself is listed with the next one.",
    )


def _numbers(plan: Candidate) -> tuple[Cell, ...]:
    return (
        say("{t}", t=(plan.step, SECONDS)),
        say("{m}", m=(plan.memory.total, BYTES)),
        plan.fit.verdict,
    )


def _change(name: str, before: RunInputs, after: RunInputs) -> str:
    mark = MARKS[name]
    old, new = (mark.show(getattr(plan, name)) for plan in (before, after))
    return f"{mark.label}: {old} → {new}"


def config_code(letter: str, side: Side) -> Code:
    """Return a plan as the configuration of its software."""
    framework = side.run.training.framework
    if framework not in _FORMATS:
        return Code(title="No configuration is written for XLA", language="text", text="")
    exporter = EXPORTS[_FORMATS[framework]]
    return Code(
        title=f"{letter} for {exporter.title}",
        language=exporter.language,
        text=exporter.write(side.run),
    )


TITLE = "Two plans side by side"
QUESTION = "Which of two plans is faster, which needs less memory, and what makes the difference?"
HEADLINE = "ratio"
EQUATIONS = ()
PRESETS = {
    "Tensor parallelism against ZeRO-3": {
        "model": "llama-3-8b",
        "tensor_parallel": 8,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "context_parallel": 1,
        "schedule": "1f1b",
        "b_tensor_parallel": 1,
        "b_pipeline_parallel": 1,
        "b_virtual_pipeline": 1,
        "b_schedule": "1f1b",
        "b_zero_stage": "3",
        "b_framework": "fsdp",
        "b_recompute": "selective",
    },
    "Recompute everything, or nothing": {
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "virtual_pipeline": 10,
        "context_parallel": 1,
        "b_recompute": "full",
    },
    "One port per node instead of eight": {
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "virtual_pipeline": 10,
        "context_parallel": 1,
        "b_nics_per_node": 1,
    },
    "64 H100 against 32 B200": {
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "virtual_pipeline": 10,
        "context_parallel": 1,
        "b_gpu": "B200",
        "b_world_size": 32,
    },
}
_MODEL = ("The cost model of the site, whose constants are fitted to published runs.",)
_MFU = (STEP_MODEL_COUNT, *_MODEL)
_HELD = (
    "States, activations and buffers of the rank that holds most, by the memory model of the site.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Both plans with their numbers.

    Attributes:
        first, second: plans A and B.
        parts: by how many seconds each part of B's step is longer than A's.
        tied: the ranges of their steps overlap.
        stations: the plans between them.
    """

    first: Side
    second: Side
    parts: dict[str, Seconds]
    tied: bool
    stations: tuple[ChangedPlan, ...]
    ratio: Annotated[Ratio, Output("B's step over A's", color="compute", assumes=_MODEL)]
    first_step: Annotated[Seconds, Output("Step of A", color="compute", assumes=_MODEL)]
    second_step: Annotated[Seconds, Output("Step of B", color="compute", assumes=_MODEL)]
    first_rate: Annotated[TokenRate, Output("Per GPU, A", assumes=_MODEL)]
    second_rate: Annotated[TokenRate, Output("Per GPU, B", assumes=_MODEL)]
    first_mfu: Annotated[Share, Output("MFU of A", assumes=_MFU)]
    second_mfu: Annotated[Share, Output("MFU of B", assumes=_MFU)]
    first_held: Annotated[Bytes, Output("GPU that holds most, A", color="memory", assumes=_HELD)]
    second_held: Annotated[Bytes, Output("GPU that holds most, B", color="memory", assumes=_HELD)]


def _side(inputs: RunInputs) -> Side:
    run, changes = nearest_run(inputs)
    return Side(
        run=run,
        changes=changes,
        plan=run_candidate(run),
        doubts=run_warnings(run),
        evidence=evidence(run),
    )


def solve(inputs: Any) -> Result:  # noqa: ANN401 (the inputs are made above)
    """Return both plans, and the sequence of changes between them."""
    before, after = inputs_of(inputs, "A"), inputs_of(inputs, "B")
    first, second = _side(before), _side(after)
    estimated, others = estimate(first.run), estimate(second.run)
    low, high, _ = step_range(first.run, first.plan.step)
    other_low, other_high, _ = step_range(second.run, second.plan.step)
    return Result(
        first=first,
        second=second,
        tied=other_low <= high and low <= other_high,
        parts=dict(differences(second.plan, first.plan)),
        stations=tuple(plans_between(before, after)),
        ratio=second.plan.step / first.plan.step,
        first_step=first.plan.step,
        second_step=second.plan.step,
        first_rate=estimated["tokens_per_second_per_gpu"],
        second_rate=others["tokens_per_second_per_gpu"],
        first_mfu=estimated["mfu"],
        second_mfu=others["mfu"],
        first_held=first.plan.memory.total,
        second_held=second.plan.memory.total,
    )


def views(inputs: Any, result: Result) -> Views:  # noqa: ANN401 (the inputs are made above)
    """Return the views, in the order of the page."""
    present, pair = Presenter(result), (inputs_of(inputs, "A"), inputs_of(inputs, "B"))
    return {
        "ratio": present.value("ratio"),
        "verdict": verdict(result.first, result.second, result.parts, tied=result.tied),
        "steps": partial(step_bars, result.first, result.second),
        "memory": partial(memory_bars, result.first, result.second),
        "first_step": value_with_range(
            present, "first_step", result.first.evidence, assumes=_MODEL
        ),
        "second_step": value_with_range(
            present, "second_step", result.second.evidence, assumes=_MODEL
        ),
        **present.values("first_rate", "second_rate", "first_mfu", "second_mfu"),
        **present.values("first_held", "second_held"),
        "first_possible": feasibility_badge("A", result.first),
        "second_possible": feasibility_badge("B", result.second),
        "changes": partial(change_table, pair, result.first, result.stations),
        "first_export": partial(config_code, "A", result.first),
        "second_export": partial(config_code, "B", result.second),
    }
