"""What is wrong, risky or worth knowing in a DeepSpeed JSON, line by line.

Every error is one that DeepSpeed 0.19.8 raises itself (pydantic's `extra="forbid"`, `ge=0`, the
assertions of `DeepSpeedConfig`, the list of what was removed); warnings and notes are consequences
of its rules.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.catalog.deepspeed_settings import ALIASES, GONE, SETTINGS, TOP, Setting
from engine.core.closest_name import nearest
from engine.core.units import Count
from engine.run.deepspeed_rules import OTHERS, RULES, Verdict
from engine.run.deepspeed_text import Line
from engine.run.deepspeed_values import ZERO, Job, Values, is_number, values_of

GRAVITY: Mapping[Verdict, Count] = {"ok": 0, "note": 1, "warning": 2, "error": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is said of a line."""

    number: Count
    path: str
    value: str
    verdict: Verdict
    text: str


def lint(lines: tuple[Line, ...], job: Job) -> tuple[Note, ...]:
    """Return a note for every key, the gravest if there are several, in the order of the lines."""
    values = values_of(lines, job)
    found: dict[tuple[Count, str], Note] = {}
    for note in (*(one for line in lines for one in _of_line(line, values)), *_batch(lines, job)):
        place = note.number, note.path
        if place not in found or GRAVITY[note.verdict] > GRAVITY[found[place].verdict]:
            found[place] = note
    return tuple(sorted(found.values(), key=lambda note: note.number))


def _of_line(line: Line, values: Values) -> Iterator[Note]:
    if line.path.startswith(ZERO) and line.path.count(".") == 1:
        yield _zero(line, values)
    elif line.path in GONE:
        yield _removed(line, GONE[line.path])
    elif "." not in line.path and line.path not in TOP:
        close = nearest(line.path, TOP)
        yield _note(line, "warning", f"DeepSpeed does not read this{_meant(close)}.")
    elif line.path in OTHERS:
        yield _note(line, *OTHERS[line.path](line.value, values))
    elif line.path.count(".") <= 1 and not isinstance(line.value, Mapping):
        yield _note(line, "ok", "No bearing on buffers or overlap.")


def _zero(line: Line, values: Values) -> Note:
    name = ALIASES.get(line.path.removeprefix(ZERO), line.path.removeprefix(ZERO))
    setting = SETTINGS.get(name)
    if setting is None:
        close = nearest(name, SETTINGS)
        return _note(line, "error", f"No such setting: DeepSpeed refuses to start{_meant(close)}.")
    if setting.gone:
        return _removed(line, setting.gone)
    if setting.old:
        return _note(line, "warning", f"Deprecated: use {setting.old}.")
    problem = _wrong(setting, line.value)
    if problem:
        return _note(line, "error", problem)
    if name != "stage" and values.stage not in setting.stages:
        stages = " and ".join(map(str, setting.stages))
        plural = "s" if len(setting.stages) > 1 else ""
        return _note(
            line, "warning", f"Without effect at stage {values.stage}: for stage{plural} {stages}."
        )
    if name in RULES:
        return _note(line, *RULES[name](line.value, values))
    return _note(line, "ok", setting.does)


def _wrong(setting: Setting, value: object) -> str:
    """Return why pydantic refuses the value; nothing if it does not."""
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


def _number(value: object) -> str:
    """Return a value as files write it: 5e8, not 500000000.0."""
    if is_number(value) and abs(value) >= 1e5 and float(f"{value:.3g}") == value:
        return f"{value:.3g}".replace("e+0", "e").replace("e+", "e")
    return str(value)


def _removed(line: Line, version: str) -> Note:
    return _note(line, "error", f"Removed in DeepSpeed {version}, which refuses to start with it.")


def _meant(close: str) -> str:
    return f"; perhaps {close} is meant" if close else ""


def _note(line: Line, verdict: Verdict, text: str) -> Note:
    value = line.value
    shown = "{ … }" if isinstance(value, Mapping) else "[ … ]" if isinstance(value, list) else ""
    shown = shown or (str(value).lower() if isinstance(value, bool) else _number(value))
    return Note(number=line.number, path=line.path, value=shown[:24], verdict=verdict, text=text)


def _unreachable(total: Count, micro: Count, steps: Count, ranks: Count) -> str:
    """Return why the sizes that DeepSpeed derives do not multiply to the batch; "" if they do."""
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


def _batch(lines: tuple[Line, ...], job: Job) -> Iterator[Note]:
    """Yield what batch sizes and precisions say together, as DeepSpeed asserts it."""
    by_path = {line.path: line for line in lines}
    names = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
    given = {name: by_path[name] for name in names if name in by_path}
    numbers = {name: line.value for name, line in given.items() if is_number(line.value)}
    total, micro, steps = (numbers.get(name, 0.0) for name in names)
    if not any(name in given for name in names[:2]):
        first = lines[0] if lines else Line(path="", value=None, number=1)
        text = f"Neither {names[0]} nor {names[1]} is given; DeepSpeed refuses to start."
        yield Note(number=first.number, path="(batch)", value="", verdict="error", text=text)
    elif len(numbers) == 3 and total != micro * steps * job.ranks:
        text = f"{total} is not {micro} x {steps} x {job.ranks} ranks; DeepSpeed refuses to start."
        yield _note(given[names[0]], "error", text)
    elif total and (text := _unreachable(int(total), int(micro), int(steps), job.ranks)):
        yield _note(given[names[0]], "error", text)
    half = [name for name in ("fp16", "bf16") if _on(by_path.get(f"{name}.enabled"))]
    if len(half) == 2:
        yield _note(by_path["bf16.enabled"], "error", "fp16 and bf16 exclude each other.")


def _on(line: Line | None) -> bool:
    return line is not None and line.value is True
