"""The settings of ZeRO as DeepSpeed would use them: of a file, of "auto", or by default."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from engine.catalog.deepspeed_settings import ALIASES, SETTINGS
from engine.core.inputs import InputError
from engine.core.units import Count, Parameters

# Parser of a DeepSpeed JSON: settings with their lines, or an error with line and column.

_DEEPEST = 50
_BRACKETS = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\]]')
_MOST = 1e300  # numbers beyond it overflow where something is computed from them


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLine:
    """A key of the file with its value and line number.

    Attributes:
        path: keys from the outermost one, joined by points.
        value: as read; an object where the key opens one.
        number: of the line, from 1.
    """

    path: str
    value: Any
    number: int


def read_settings(text: str) -> tuple[SettingLine, ...]:
    """Return every key of a file in its order.

    Raises:
        InputError: the text is no JSON object, a key stands in an object twice, or a number is not
            finite.
    """
    tree = _parse(text)
    if not isinstance(tree, Mapping):
        raise InputError("line 1, column 1: a DeepSpeed configuration begins with '{'")
    return tuple(_lines(text, tree))


def _parse(text: str) -> Any:  # noqa: ANN401
    _check_depth(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        location = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{location}: {_reason(text, error)}") from None
    except ValueError:
        raise InputError("line 1: a number is too long") from None


def _check_depth(text: str) -> None:
    """Raise if brackets nest too deeply: in a browser, the decoder would crash Python."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        depth += (bracket in "{[") - (bracket in "}]")
        if depth > _DEEPEST:
            before = text[: match.start()]
            location = (
                f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
            )
            raise InputError(
                f"{location}: brackets are too deep, more than {_DEEPEST} in one another"
            )


def _reason(text: str, error: json.JSONDecodeError) -> str:
    """Return the JSON syntax error in the words of an author of configuration files."""
    there = text[error.pos : error.pos + 1]
    if there in ("#", "/"):
        return "a comment; DeepSpeed reads Hjson, which has them, but JSON has none"
    if there in ("}", "]"):
        return "a key or a value is missing; the comma before it may be one too many"
    return error.msg[:1].lower() + error.msg[1:]


def _lines(text: str, tree: Mapping[str, Any]) -> Iterator[SettingLine]:
    """Yield the keys in the order of the text; the decoder has read it, so it is sound."""
    decoder = json.JSONDecoder()
    stack: list[tuple[str, set[str]]] = []
    path: list[str] = []
    at, key = 0, ""
    while at < len(text):
        letter = text[at]
        if letter == '"':
            word, end = decoder.raw_decode(text, at)
            next_line = end
            while next_line < len(text) and text[next_line].isspace():
                next_line += 1
            if next_line < len(text) and text[next_line] == ":":
                number = text.count("\n", 0, at) + 1
                _check_unique(stack[-1][1], word, number, at - text.rfind("\n", 0, at))
                key = word
                where = (*path, key)
                value = _value_at(tree, where)
                _check_finite(value, word, number, at - text.rfind("\n", 0, at))
                yield SettingLine(path=".".join(where), value=value, number=number)
            at = end
            continue
        if letter in "{[":
            path = [*path, key] if stack and letter == "{" and stack[-1][0] == "{" else path
            stack.append((letter, set()))
        elif letter in "}]":
            stack.pop()
            if letter == "}" and path and stack and stack[-1][0] == "{":
                path = path[:-1]
        at += 1


def _check_unique(seen: set[str], word: str, number: int, column: int) -> None:
    if word in seen:
        raise InputError(
            f"line {number}, column {column}: '{word[:40]}' stands in this object twice; "
            "DeepSpeed refuses that"
        )
    seen.add(word)


def _check_finite(value: Any, word: str, number: int, column: int) -> None:  # noqa: ANN401
    """Raise if a number is not finite: Python's JSON reads NaN and 1e400."""
    for element in value if isinstance(value, list) else (value,):
        if isinstance(element, int | float) and not abs(element) < _MOST:
            raise InputError(
                f"line {number}, column {column}: the number of '{word[:40]}' is not finite"
            )


def _value_at(tree: Any, where: Sequence[str]) -> Any:  # noqa: ANN401
    for key in where:
        tree = tree[key] if isinstance(tree, Mapping) and key in tree else None
    return tree


ZERO = "zero_optimization."


@dataclass(frozen=True, slots=True, kw_only=True)
class LintJob:
    """Sizes of the model and the job that the file does not contain.

    Attributes:
        parameters: of the model.
        hidden: its hidden size, by which accelerate replaces "auto".
        matrix: elements of its smallest matrix.
        ranks: data-parallel ranks.
    """

    parameters: Parameters
    hidden: Count
    matrix: Parameters
    ranks: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroValues:
    """The settings of ZeRO as DeepSpeed would use them: of the file, of "auto", or by default.

    Attributes:
        stage: of ZeRO.
        settings: of the section on ZeRO.
        job: what the file does not contain.
        whole_gradients: `BF16_Optimizer` runs in place of ZeRO's: each rank keeps all gradients,
            in 16 and in 32 bits.
    """

    stage: Count
    settings: Mapping[str, Any]
    job: LintJob
    whole_gradients: bool = False

    def elements(self, name: str) -> float:
        """Return a number of elements."""
        value = self.settings.get(name)
        if value == "auto":
            return auto_value(name, self.job.hidden) or float(SETTINGS[name].default)
        if is_number(value) and value >= 0:
            return float(value)
        return float(SETTINGS[name].default)

    def switch(self, name: str) -> bool:
        """Return a switch; `overlap_comm` is on by default for stage 3 only."""
        value = self.settings.get(name)
        if isinstance(value, bool):
            return value
        return self.stage == 3 if name == "overlap_comm" else SETTINGS[name].default == "true"

    def count(self, name: str) -> Count:
        """Return a number of ranks."""
        value = self.settings.get(name)
        return int(value) if is_number(value) else int(SETTINGS[name].default)


def auto_value(name: str, hidden: Count) -> float:
    """Return accelerate's value for "auto"; 0 where it leaves DeepSpeed's default."""
    square = hidden * hidden
    values = {
        "reduce_bucket_size": square,
        "stage3_prefetch_bucket_size": int(0.9 * square),
        "stage3_param_persistence_threshold": 10 * hidden,
    }
    return float(values.get(name, 0))


def read_zero_values(lines: tuple[SettingLine, ...], job: LintJob) -> ZeroValues:
    """Return the settings of ZeRO that a file gives."""
    settings: dict[str, Any] = {}
    everything = {line.path: line.value for line in lines}
    for line in lines:
        if line.path.startswith(ZERO) and line.path.count(".") == 1:
            name = line.path.removeprefix(ZERO)
            settings[ALIASES.get(name, name)] = line.value
    stage = settings.get("stage", 0)
    valid = is_number(stage) and stage in (0, 1, 2, 3)
    return ZeroValues(
        stage=int(stage) if valid else 0,
        settings=settings,
        job=job,
        whole_gradients=stage == 1 and _keeps_whole_gradients(everything),
    )


def _keeps_whole_gradients(settings: Mapping[str, Any]) -> bool:
    """Return whether stage 1 runs as `BF16_Optimizer`.

    Source: `_do_optimizer_sanity_check` of DeepSpeed's runtime/engine.py (0.19.8): a model in bf16
    whose gradients are summed in fp32, and no optimizer on the host.
    """
    sections = ("bf16.enabled", "bfloat16.enabled")
    half = any(settings.get(name) is True for name in sections)
    wide = settings.get("data_types.grad_accum_dtype") in ("fp32", "float32", "float")
    return half and wide and settings.get(ZERO + "offload_optimizer.device") != "cpu"


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value of JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
