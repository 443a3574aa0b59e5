"""Flags of a launch script, with variables, arrays, continued lines and sums resolved.

No command is run. What a variable holds is what the text assigns to it; a default in
`${NAME:-8}` counts, an argument such as `$1` does not and is told.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping

from engine.run.importers.import_report import Setting

_ASSIGNED = re.compile(
    r"^\s*(?:export\s+|local\s+|declare\s+|readonly\s+)?([A-Za-z_]\w{0,80})="
    r"(\$\{\w{1,80}:?[-=][\"']?[^{}\"'\n]{0,200}[\"']?\}|\"[^\"\n]*\"|'[^'\n]*'|[^\s;()\"']*(?:\(\([^()\n]{0,200}\)\))?)"
)
_VARIABLE = re.compile(
    r"\$\{([A-Za-z_]\w{0,80})(?::?[-=]([^{}\n]{0,200}))?\}|\$([A-Za-z_]\w{0,80})"
)
_SUM = re.compile(r"\$\(\(([^()\n]{0,200})\)\)")
_ENDS = frozenset((";", "|", "||", "&", "&&", ">", ">>", "<", "2>&1", "then", "fi", "do", "done"))
_LONGEST = 2000
_OPERATORS: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def script_flags(text: str, first_line: int = 1) -> list[Setting]:
    """Return every `--flag value` of a script, in order; a flag without a value is `True`.

    The value of a flag with several words is the list of them.
    """
    variables = _variables(text)
    tokens = _tokens(text, variables, first_line)
    flags: list[Setting] = []
    place = 0
    while place < len(tokens):
        word, line = tokens[place]
        place += 1
        if not word.startswith("--") or len(word) < 3:
            continue
        key, _, value = word.partition("=")
        values = [value] if value else []
        while not value and place < len(tokens) and _is_value(tokens[place], line):
            # What an unknown variable holds behind a value are further arguments.
            if not values or not tokens[place][0].startswith("$"):
                values.append(tokens[place][0])
            place += 1
        flags.append(Setting(key=key, value=_join_values(values), line=line))
    said = {flag.key.replace("-", "_") for flag in flags}
    return flags + [
        flag for flag in _launcher_settings(text, variables) if not said & _FLAGS_OF[flag.key]
    ]


def resolve_variables(text: str) -> str:
    """Return a script with its variables replaced by their assigned values."""
    variables = _variables(text)
    return "\n".join(_resolve_line(line, variables) for line in text.splitlines())


def _resolve_line(line: str, variables: Mapping[str, str]) -> str:
    """Return a line with its variables resolved; a long line is resolved word by word."""
    if len(line) <= _LONGEST:
        return _substitute(line, variables)
    return " ".join(_substitute(word, variables) for word in line.split(" "))


def _join_values(values: list[str]) -> object:
    if not values:
        return True
    return values[0] if len(values) == 1 else values[:64]


def _is_value(token: tuple[str, int], line: int) -> bool:
    word, at = token
    plain = not word.startswith("--") and word not in _ENDS
    return at == line and plain and not word.endswith((".py", ".sh"))


def _variables(text: str) -> dict[str, str]:
    """Return the final value of each variable, limited in length."""
    variables: dict[str, str] = {}
    for line in text.splitlines():
        match = _ASSIGNED.match(line)
        if match:
            value = match[2].strip("\"'")
            variables[match[1]] = _substitute(value, variables)[:_LONGEST]
    return variables


def _substitute(text: str, variables: Mapping[str, str]) -> str:
    """Return the text with variables and sums resolved; unknown variables stay."""

    def named(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        default = match[0] if match[2] is None else match[2].strip("\"'")
        value = variables.get(name, default)
        # Arguments that a variable holds are read where they are assigned.
        return "" if value.lstrip().startswith("--") else value

    text = _VARIABLE.sub(named, text[:_LONGEST])
    text = _VARIABLE.sub(named, text[:_LONGEST])  # a default may hold another variable
    return _SUM.sub(
        lambda match: _evaluate_sum(_substitute_names(match[1], variables)), text[: 4 * _LONGEST]
    )


def _substitute_names(text: str, variables: Mapping[str, str]) -> str:
    """Return a sum with its variables replaced; inside a sum they need no dollar sign."""
    return re.sub(r"[A-Za-z_]\w*", lambda match: variables.get(match[0], match[0]), text)[:200]


def _evaluate_sum(text: str) -> str:
    try:
        return str(_evaluate(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "$((...))"


def _evaluate(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value < 10**12:
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.Div | ast.FloorDiv) and right:
            return left // right
        if type(node.op) in _OPERATORS and abs(left) < 10**12 and abs(right) < 10**12:
            return _OPERATORS[type(node.op)](left, right)
    raise ValueError("no sum of whole numbers")


def _tokens(text: str, variables: Mapping[str, str], first_line: int) -> list[tuple[str, int]]:
    """Return the words of the script with their lines; comments, quotes and brackets are gone."""
    tokens: list[tuple[str, int]] = []
    for number, line in enumerate(text.splitlines(), first_line):
        code = re.sub(r"(^|\s)#(?!SBATCH).*$", " ", line)
        code = re.sub(r"\$\{?\w+\[[@*]\]\}?", " ", code)
        code = _substitute(code.removesuffix("\\").replace("\x01", ""), variables)
        code = re.sub(r"^(\s*(?:export\s+)?[A-Za-z_]\w*)=[\"'(]?", " ", code)
        code = re.sub(r"\$\{(\w+)\}", r"$\1", code)  # an unknown variable stays one word
        words: list[str] = []
        code = _QUOTED.sub(lambda match, kept=words: _protect(match, kept), code)  # type: ignore[misc]
        code = re.sub(r"[\"'(){}\[\]]|\\(?=\s|$)", " ", code)
        for word in code.split():
            plain = re.sub(r"\x01(\d+)\x01", lambda match: words[int(match[1])], word)  # noqa: B023
            tokens.append((plain[:_LONGEST], number))
    return tokens


# A quoted word without spaces keeps its brackets.
_QUOTED = re.compile(r"\"([^\"\s]{1,500})\"|'([^'\s]{1,500})'")


def _protect(match: re.Match[str], words: list[str]) -> str:
    words.append(match[1] or match[2])
    return f"\x01{len(words) - 1}\x01"


# What variables say of nodes counts where no launcher's flag (its hyphens as underscores) does.
_NODES = frozenset(("__nnodes", "__nodes"))
_PER_NODE = frozenset(("__nproc_per_node", "__gpus_per_node"))
_FLAGS_OF = {
    "NNODES": _NODES,
    "NUM_NODES": _NODES,
    "GPUS_PER_NODE": _PER_NODE,
    "NPROC_PER_NODE": _PER_NODE,
    "WORLD_SIZE": _NODES,
    "NGPU": _PER_NODE,
}


def _launcher_settings(text: str, variables: Mapping[str, str]) -> list[Setting]:
    """Return node and process counts from well-known variables."""
    settings = []
    for name in _FLAGS_OF:
        value = variables.get(name, "")
        if value.isdigit():
            line = next(
                (
                    n
                    for n, text_line in enumerate(text.splitlines(), 1)
                    if f"{name}=" in text_line.lstrip()
                ),
                0,
            )
            settings.append(Setting(key=name, value=value, line=line))
    return settings


_PRINTED = re.compile(r"^.{0,60}?\b([a-z][a-z0-9_]{2,60})\s?\.{3,}\s?(.{0,300})$")


def printed_arguments(text: str, first_line: int = 1) -> list[Setting]:
    """Return the arguments that Megatron prints at its start: `name ........ value`."""
    settings = []
    for number, line in enumerate(text.splitlines(), first_line):
        match = _PRINTED.match(line[:500])
        if match:
            value = match[2].strip()
            settings.append(
                Setting(key="--" + match[1].replace("_", "-"), value=value, line=number)
            )
    return settings
