"""The flags of a launch script: variables, arrays, continued lines and sums are resolved.

No command is run. What a variable holds is what the text assigns to it; a default in
`${NAME:-8}` counts, an argument such as `$1` does not and is told.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping

from engine.run.importers.import_report import Given

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


def script_flags(text: str, first_line: int = 1) -> list[Given]:
    """Return every `--flag value` of a script, in order; a flag without a value is `True`.

    The value of a flag with several words is the list of them.
    """
    variables = _variables(text)
    tokens = _tokens(text, variables, first_line)
    found: list[Given] = []
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
        found.append(Given(key=key, value=_joined(values), line=line))
    said = {one.key.replace("-", "_") for one in found}
    return found + [one for one in _launcher(text, variables) if not said & _FLAGS_OF[one.key]]


def resolved(text: str) -> str:
    """Return a script whose variables are replaced by what the text assigns to them."""
    variables = _variables(text)
    return "\n".join(_line(line, variables) for line in text.splitlines())


def _line(line: str, variables: Mapping[str, str]) -> str:
    """Return a line with its variables worked out, of a long one every word alone."""
    if len(line) <= _LONGEST:
        return _resolved(line, variables)
    return " ".join(_resolved(word, variables) for word in line.split(" "))


def _joined(values: list[str]) -> object:
    if not values:
        return True
    return values[0] if len(values) == 1 else values[:64]


def _is_value(token: tuple[str, int], line: int) -> bool:
    word, at = token
    plain = not word.startswith("--") and word not in _ENDS
    return at == line and plain and not word.endswith((".py", ".sh"))


def _variables(text: str) -> dict[str, str]:
    """Return what each variable holds at last; nothing grows beyond a few lines."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _ASSIGNED.match(line)
        if match:
            value = match[2].strip("\"'")
            found[match[1]] = _resolved(value, found)[:_LONGEST]
    return found


def _resolved(text: str, variables: Mapping[str, str]) -> str:
    """Return the text with variables and sums worked out; an unknown variable stays."""

    def named(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        default = match[0] if match[2] is None else match[2].strip("\"'")
        value = variables.get(name, default)
        # Arguments that a variable holds are read where they are assigned.
        return "" if value.lstrip().startswith("--") else value

    text = _VARIABLE.sub(named, text[:_LONGEST])
    text = _VARIABLE.sub(named, text[:_LONGEST])  # a default may hold another variable
    return _SUM.sub(lambda match: _sum(_bare(match[1], variables)), text[: 4 * _LONGEST])


def _bare(text: str, variables: Mapping[str, str]) -> str:
    """Inside a sum a variable needs no dollar sign."""
    return re.sub(r"[A-Za-z_]\w*", lambda match: variables.get(match[0], match[0]), text)[:200]


def _sum(text: str) -> str:
    try:
        return str(_value(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "$((...))"


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value < 10**12:
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Div | ast.FloorDiv) and right:
            return left // right
        if type(node.op) in _OPERATORS and abs(left) < 10**12 and abs(right) < 10**12:
            return _OPERATORS[type(node.op)](left, right)
    raise ValueError("no sum of whole numbers")


def _tokens(text: str, variables: Mapping[str, str], first_line: int) -> list[tuple[str, int]]:
    """Return the words of the script with their lines; comments, quotes and brackets are gone."""
    found: list[tuple[str, int]] = []
    for number, line in enumerate(text.splitlines(), first_line):
        code = re.sub(r"(^|\s)#(?!SBATCH).*$", " ", line)
        code = re.sub(r"\$\{?\w+\[[@*]\]\}?", " ", code)
        code = _resolved(code.removesuffix("\\").replace("\x01", ""), variables)
        code = re.sub(r"^(\s*(?:export\s+)?[A-Za-z_]\w*)=[\"'(]?", " ", code)
        code = re.sub(r"\$\{(\w+)\}", r"$\1", code)  # an unknown variable stays one word
        words: list[str] = []
        code = _QUOTED.sub(lambda match, kept=words: _kept(match, kept), code)  # type: ignore[misc]
        code = re.sub(r"[\"'(){}\[\]]|\\(?=\s|$)", " ", code)
        for word in code.split():
            plain = re.sub(r"\x01(\d+)\x01", lambda match: words[int(match[1])], word)  # noqa: B023
            found.append((plain[:_LONGEST], number))
    return found


# A quoted word without spaces keeps its brackets.
_QUOTED = re.compile(r"\"([^\"\s]{1,500})\"|'([^'\s]{1,500})'")


def _kept(match: re.Match[str], words: list[str]) -> str:
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


def _launcher(text: str, variables: Mapping[str, str]) -> list[Given]:
    """Return what variables say of nodes."""
    found = []
    for name in _FLAGS_OF:
        value = variables.get(name, "")
        if value.isdigit():
            line = next(
                (n for n, one in enumerate(text.splitlines(), 1) if f"{name}=" in one.lstrip()), 0
            )
            found.append(Given(key=name, value=value, line=line))
    return found


_PRINTED = re.compile(r"^.{0,60}?\b([a-z][a-z0-9_]{2,60})\s?\.{3,}\s?(.{0,300})$")


def printed_arguments(text: str, first_line: int = 1) -> list[Given]:
    """Return the arguments that Megatron prints at its start: `name ........ value`."""
    found = []
    for number, line in enumerate(text.splitlines(), first_line):
        match = _PRINTED.match(line[:500])
        if match:
            value = match[2].strip()
            found.append(Given(key="--" + match[1].replace("_", "-"), value=value, line=number))
    return found
