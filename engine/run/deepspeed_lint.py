"""Lint messages for a DeepSpeed JSON: errors, warnings and notes, line by line.

Every error is one that DeepSpeed 0.19.8 raises itself (pydantic's `extra="forbid"`, `ge=0`, the
assertions of `DeepSpeedConfig`, the list of what was removed); warnings and notes are consequences
of its rules.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from engine.catalog.deepspeed_settings import (
    ALIASES,
    REMOVED,
    SETTINGS,
    TOP_LEVEL_KEYS,
    ZeroSetting,
)
from engine.core.closest_name import closest
from engine.core.units import Count
from engine.run.deepspeed_values import (
    ZERO,
    LintJob,
    SettingLine,
    ZeroValues,
    is_number,
    read_zero_values,
)

# Rules for single settings of a DeepSpeed JSON, each with a verdict and a sentence.

Verdict = Literal["ok", "note", "warning", "error"]
RuleResult = tuple[Verdict, str]


def _stage(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if value not in (0, 1, 2, 3):
        return "error", "There are stages 0 to 3; DeepSpeed refuses to start."
    if values.whole_gradients:
        return "warning", (
            "With bf16 and sums in fp32 it runs as BF16_Optimizer: each rank keeps all gradients "
            "in 16 and in 32 bits, and reduces them after the backward pass."
        )
    names = ("nothing", "the optimizer", "optimizer and gradients", "all three states")
    return "ok", f"Divides {names[value]} among {values.job.ranks} ranks."


def _bucket(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    size = values.elements("reduce_bucket_size")
    if size == 0:
        return "error", "It must be above 0; DeepSpeed refuses to start."
    if size >= values.job.parameters:
        return "warning", "Larger than the model: one bucket, so nothing overlaps."
    if size > 1e9:
        return "warning", "The buffer is allocated whole, and the last bucket is exposed."
    return "ok", "Gradients that are reduced together; the buffer is allocated whole."


def _overlap(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if not value:
        return "warning", "The backward pass stops for every bucket."
    if values.whole_gradients:
        return "warning", "Without effect: BF16_Optimizer reduces after the backward pass."
    if values.stage < 3:
        return "note", "On; two buffers for buckets instead of one."
    return "ok", "On, as it is by default for stage 3."


def _live(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    live = values.elements("stage3_max_live_parameters")
    if live == 0:
        return "warning", "No parameter is ever prefetched: every gather is waited for."
    if live > 2e9:
        return "warning", "Prefetches run so far ahead that this much memory fills up."
    return "ok", "Prefetches stop here; a large tensor may exceed it."


def _reuse(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    reuse = values.elements("stage3_max_reuse_distance")
    if reuse > values.elements("stage3_max_live_parameters"):
        return "warning", "Kept parameters count as live: they stop prefetches at the turn."
    return "ok", SETTINGS["stage3_max_reuse_distance"].effect


def _prefetch(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    size = values.elements("stage3_prefetch_bucket_size")
    if size == 0:
        return "warning", "No prefetch: every gather is waited for."
    if size > values.elements("stage3_max_live_parameters"):
        return "note", "Above the limit of live parameters, which decides."
    return "ok", SETTINGS["stage3_prefetch_bucket_size"].effect


def _persistent(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if values.elements("stage3_param_persistence_threshold") >= values.job.matrix:
        return "warning", "Whole matrices of this model stay on every rank."
    return "ok", SETTINGS["stage3_param_persistence_threshold"].effect


def _sharded_groups(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    group = values.count("zero_hpz_partition_size")
    if group > 1 and values.job.ranks % group:
        return "error", f"{values.job.ranks} ranks are no multiple of it."
    return "ok", "Each such group keeps a copy of the parameters; memory grows."


def _offload(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    ratio = value.get("ratio", 1.0) if isinstance(value, Mapping) else 1.0
    if is_number(ratio) and ratio < 1 and values.stage != 3:
        return "error", "A ratio below 1 needs stage 3; DeepSpeed refuses to start."
    return "note", "The optimizer leaves the GPU; the link to the host sets its pace."


RULES: Mapping[str, Callable[[Any, ZeroValues], RuleResult]] = {
    "stage": _stage,
    "reduce_bucket_size": _bucket,
    "overlap_comm": _overlap,
    "stage3_max_live_parameters": _live,
    "stage3_max_reuse_distance": _reuse,
    "stage3_prefetch_bucket_size": _prefetch,
    "stage3_param_persistence_threshold": _persistent,
    "zero_hpz_partition_size": _sharded_groups,
    "offload_optimizer": _offload,
}


def _sum(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if value == "sum" and values.stage == 3:
        return "error", "'sum' is not supported at stage 3; DeepSpeed refuses to start."
    return "ok", "How gradients are combined."


OTHERS: Mapping[str, Callable[[Any, ZeroValues], RuleResult]] = {"gradient_allreduce_op": _sum}


SEVERITY: Mapping[Verdict, Count] = {"ok": 0, "note": 1, "warning": 2, "error": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintMessage:
    """A lint message for one line of the file."""

    number: Count
    path: str
    value: str
    verdict: Verdict
    text: str


def lint(lines: tuple[SettingLine, ...], job: LintJob) -> tuple[LintMessage, ...]:
    """Return the most severe message for every key, in the order of the lines."""
    values = read_zero_values(lines, job)
    worst: dict[tuple[Count, str], LintMessage] = {}
    for message in (
        *(message for line in lines for message in _line_messages(line, values)),
        *_batch_messages(lines, job),
    ):
        key = message.number, message.path
        if key not in worst or SEVERITY[message.verdict] > SEVERITY[worst[key].verdict]:
            worst[key] = message
    return tuple(sorted(worst.values(), key=lambda message: message.number))


def _line_messages(line: SettingLine, values: ZeroValues) -> Iterator[LintMessage]:
    if line.path.startswith(ZERO) and line.path.count(".") == 1:
        yield _zero_message(line, values)
    elif line.path in REMOVED:
        yield _removed(line, REMOVED[line.path])
    elif "." not in line.path and line.path not in TOP_LEVEL_KEYS:
        close = closest(line.path, TOP_LEVEL_KEYS)
        yield _message(line, "warning", f"DeepSpeed does not read this{_suggestion(close)}.")
    elif line.path in OTHERS:
        yield _message(line, *OTHERS[line.path](line.value, values))
    elif line.path.count(".") <= 1 and not isinstance(line.value, Mapping):
        yield _message(line, "ok", "No bearing on buffers or overlap.")


def _zero_message(line: SettingLine, values: ZeroValues) -> LintMessage:
    name = ALIASES.get(line.path.removeprefix(ZERO), line.path.removeprefix(ZERO))
    setting = SETTINGS.get(name)
    if setting is None:
        close = closest(name, SETTINGS)
        return _message(
            line, "error", f"No such setting: DeepSpeed refuses to start{_suggestion(close)}."
        )
    if setting.gone:
        return _removed(line, setting.gone)
    if setting.replacement:
        return _message(line, "warning", f"Deprecated: use {setting.replacement}.")
    problem = _type_problem(setting, line.value)
    if problem:
        return _message(line, "error", problem)
    if name != "stage" and values.stage not in setting.stages:
        stages = " and ".join(map(str, setting.stages))
        plural = "s" if len(setting.stages) > 1 else ""
        return _message(
            line, "warning", f"Without effect at stage {values.stage}: for stage{plural} {stages}."
        )
    if name in RULES:
        return _message(line, *RULES[name](line.value, values))
    return _message(line, "ok", setting.effect)


def _type_problem(setting: ZeroSetting, value: object) -> str:
    """Return pydantic's error for the value, or an empty text if it is accepted."""
    if value == "auto":
        return ""
    if setting.kind in ("elements", "count"):
        if not is_number(value) or float(str(value)) != int(float(str(value))):
            return "A whole number is needed; DeepSpeed refuses to start."
        if setting.kind == "elements" and float(str(value)) < 0:
            return "It must be 0 or more; DeepSpeed refuses to start."
    if setting.kind == "switch" and not isinstance(value, bool):
        return "true or false is needed."
    return ""


def _format_number(value: object) -> str:
    """Return a value as files write it: 5e8, not 500000000.0."""
    if is_number(value) and abs(value) >= 1e5 and float(f"{value:.3g}") == value:
        return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
    return str(value)


def _removed(line: SettingLine, version: str) -> LintMessage:
    return _message(
        line, "error", f"Removed in DeepSpeed {version}, which refuses to start with it."
    )


def _suggestion(close: str) -> str:
    return f"; perhaps {close} is meant" if close else ""


def _message(line: SettingLine, verdict: Verdict, text: str) -> LintMessage:
    value = line.value
    shown = "{ … }" if isinstance(value, Mapping) else "[ … ]" if isinstance(value, list) else ""
    shown = shown or (str(value).lower() if isinstance(value, bool) else _format_number(value))
    return LintMessage(
        number=line.number, path=line.path, value=shown[:24], verdict=verdict, text=text
    )


def _batch_problem(total: Count, micro: Count, steps: Count, ranks: Count) -> str:
    """Return the error if DeepSpeed's derived sizes do not multiply to the batch, else ""."""
    if micro:
        steps = total // micro // ranks
    elif steps:
        micro = total // ranks // steps
    else:
        micro, steps = total // ranks, 1
    if micro * steps * ranks == total:
        return ""
    text = f"{total} on {ranks} ranks leave a micro-batch of {micro} and {steps} steps of it"
    return f"{text}, which do not multiply to it; DeepSpeed refuses to start."


def _batch_messages(lines: tuple[SettingLine, ...], job: LintJob) -> Iterator[LintMessage]:
    """Yield messages on the combined batch sizes and precisions, as DeepSpeed asserts them."""
    by_path = {line.path: line for line in lines}
    names = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
    batch_lines = {name: by_path[name] for name in names if name in by_path}
    numbers = {name: line.value for name, line in batch_lines.items() if is_number(line.value)}
    total, micro, steps = (numbers.get(name, 0.0) for name in names)
    if not any(name in batch_lines for name in names[:2]):
        first = lines[0] if lines else SettingLine(path="", value=None, number=1)
        text = f"Neither {names[0]} nor {names[1]} is given; DeepSpeed refuses to start."
        yield LintMessage(number=first.number, path="(batch)", value="", verdict="error", text=text)
    elif len(numbers) == 3 and total != micro * steps * job.ranks:
        text = f"{total} is not {micro} x {steps} x {job.ranks} ranks; DeepSpeed refuses to start."
        yield _message(batch_lines[names[0]], "error", text)
    elif total and (text := _batch_problem(int(total), int(micro), int(steps), job.ranks)):
        yield _message(batch_lines[names[0]], "error", text)
    half = [name for name in ("fp16", "bf16") if _is_on(by_path.get(f"{name}.enabled"))]
    if len(half) == 2:
        yield _message(by_path["bf16.enabled"], "error", "fp16 and bf16 exclude each other.")


def _is_on(line: SettingLine | None) -> bool:
    return line is not None and line.value is True
