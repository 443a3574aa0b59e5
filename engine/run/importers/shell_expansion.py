"""Variables of a shell script and the words that they expand to, each with line and condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import translate

from engine.run.importers.shell_sums import evaluate_sum
from engine.run.importers.shell_words import Bit, Token, shell_tokens

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,80})(\+?)=")
_EXPANSION = re.compile(
    r"(?P<name>[A-Za-z_]\w{0,80}|\d{1,3}|[@*#?$!])(?P<all>\[[@*]\])?"
    r"(?P<operator>:?[-=+?]|%%?|##?|//?|:|\^\^?|,,?)?(?P<rest>.*)",
    re.DOTALL,
)
_LONGEST = 40_000
_MOST = 5000  # words of a value
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a condition that nothing decides.

    Attributes:
        identifier: of the condition.
        number: of the branch.
        condition: in words.
    """

    identifier: int
    number: int
    condition: str


@dataclass(frozen=True, slots=True)
class ShellWord:
    """A word of a command: text, line, and the branches without which it is not there.

    `pieces` are those of a word that is a text of several words.
    """

    text: str
    line: int
    branches: tuple[Branch, ...] = ()
    pieces: tuple[Field, ...] = ()

    def inner(self) -> list[ShellWord]:
        """Return the words of a text in quotes, each with the line that it was written on."""
        quotes = str.maketrans("", "", "\"'")
        return [
            ShellWord(piece.text.translate(quotes), piece.line, (*self.branches, *piece.branches))
            for piece in _split(self.pieces)
        ]


@dataclass(frozen=True, slots=True)
class Field:
    """A piece of a value: it begins a word of its own, or goes on with the one before."""

    text: str
    line: int
    begins: bool
    branches: tuple[Branch, ...] = ()

    @staticmethod
    def of(word: ShellWord) -> Field:
        """Return a word of a command as a piece of a value."""
        return Field(word.text, word.line, True, word.branches)


@dataclass(slots=True)
class Environment:
    """Variables at one place of a script.

    Attributes:
        values: name -> pieces.
        arrays: names of arrays.
        lines: name -> line of the last assignment.
        used: names that a command has expanded.
        exported: names that another script may expand.
        inside: branches that are being followed.
        counts: condition -> number of its branches.
    """

    values: dict[str, list[Field]] = field(default_factory=dict)
    arrays: set[str] = field(default_factory=set)
    lines: dict[str, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    exported: set[str] = field(default_factory=set)
    inside: tuple[Branch, ...] = ()
    counts: dict[int, int] = field(default_factory=dict)

    def copy(self) -> Environment:
        """Return a copy whose variables may change; what is used and counted is shared."""
        return replace(
            self, values=dict(self.values), arrays=set(self.arrays), lines=dict(self.lines)
        )

    def enter(self, branch: Branch) -> None:
        """Follow a branch."""
        self.inside = (*self.inside, branch)

    def leave(self) -> None:
        """Return from the branch that is followed."""
        self.inside = self.inside[:-1]

    # Assignments

    def assign(self, token: Token) -> bool:
        """Assign if a token is an assignment, and return whether it is one."""
        first = token.bits[0] if token.bits else None
        if first is None or first.kind != "text" or first.quoted:
            return False
        match = _ASSIGNMENT.match(first.text)
        if not match:
            return False
        name, adds = match[1], bool(match[2])
        if token.kind == "array":
            fields = [piece for word in token.words for piece in self.pieces(word.bits)]
            self.arrays.add(name)
        else:
            value_bit = Bit("text", first.text[match.end() :], first.line)
            fields = self.joined([value_bit, *token.bits[1:]])
            if not adds:
                self.arrays.discard(name)
        before = self.values.get(name, []) if adds else []
        self.values[name] = [*before, *fields][:_MOST]
        self.lines[name] = token.line
        return True

    def joined(self, bits: Sequence[Bit]) -> list[Field]:
        """Return a value as one text: nothing in it begins a word but what spaces part."""
        quoted = [replace(bit, quoted=True) for bit in bits]
        return [
            replace(piece, begins=False, text=(" " if piece.begins and at else "") + piece.text)
            for at, piece in enumerate(self.pieces(quoted))
        ]

    def set_loop(self, name: str, values: Sequence[ShellWord]) -> None:
        """Give the variable of a loop its value, or none of several."""
        if len(values) == 1:
            self.values[name] = [Field.of(values[0])]
        else:
            self.values.pop(name, None)

    def merge(self, results: Sequence[tuple[Branch, Environment]], *, whole: bool) -> None:
        """Take what branches assigned: shared parts as they are, others with their condition.

        `whole`: one of the branches is taken for certain.
        """
        names = {name for _, after in results for name in after.values}
        for name in sorted(names):
            before = self.values.get(name, [])
            options = [(branch, after.values.get(name, [])) for branch, after in results]
            if all(value == before for _, value in options):
                continue
            self.values[name] = _merged(name, before, options, whole=whole)
            for _, after in results:
                self.lines[name] = after.lines.get(name, self.lines.get(name, 0))
                self.arrays |= after.arrays

    # Expansions

    def words_of(self, name: str) -> list[ShellWord]:
        """Return the words that a variable holds."""
        return self.words([Token("word", "", 0, [Bit("variable", f"{name}[@]", 0)])])

    def words(self, tokens: Sequence[Token]) -> list[ShellWord]:
        """Return the words that tokens of a command expand to."""
        words: list[ShellWord] = []
        for token in tokens:
            if token.kind == "array":
                continue
            for piece in self.pieces(token.bits):
                branches = (*self.inside, *piece.branches)
                if piece.begins or not words:
                    words.append(ShellWord(piece.text[:_LONGEST], piece.line, branches, (piece,)))
                else:
                    last = words[-1]
                    both = tuple(dict.fromkeys((*last.branches, *branches)))
                    text = (last.text + piece.text)[:_LONGEST]
                    words[-1] = ShellWord(text, last.line, both, (*last.pieces, piece))
            if len(words) > _MOST:
                break
        return [word for word in words if word.text or word.branches == ()]

    def pieces(self, bits: Sequence[Bit]) -> list[Field]:
        """Return the pieces of a word; the first one begins a word."""
        pieces: list[Field] = []
        begins = True
        # "${NAME[@]}" of an array without words is no word, and not an empty one.
        arrays = any(bit.text.endswith("[@]") or bit.text == "@" for bit in bits)
        for bit in bits:
            quoted = bit.quoted
            fields = self.expanded(bit)
            for piece in fields if quoted or bit.kind == "text" else _split(fields):
                pieces.append(replace(piece, begins=begins or piece.begins))
                begins = False
            if quoted and not fields and begins and not arrays:
                pieces.append(Field("", bit.line, True))
                begins = False
        return pieces

    def expanded(self, bit: Bit, depth: int = 0) -> list[Field]:
        """Return the fields of a piece of a word; only words of an array begin one."""
        if bit.kind == "text":
            return [Field(bit.text, bit.line, False)] if bit.text else []
        if bit.kind == "sum":
            value = evaluate_sum(self.sum_text(bit.text))
            return [Field("$((...))" if value is None else str(value), bit.line, False)]
        if bit.kind == "command":
            number = re.fullmatch(r"\s*expr\s+([^`;|&]{1,200})", bit.text[:300])
            value = evaluate_sum(self.sum_text(number[1].replace("\\*", "*"))) if number else None
            text = self.output(bit.text, bit.line) if value is None else str(value)
            return [Field(text, bit.line, False)]
        match = _EXPANSION.fullmatch(bit.text[:500])
        return (
            self.variable(match, bit, depth) if match else [Field("$" + bit.text, bit.line, False)]
        )

    def output(self, command: str, line: int) -> str:
        """Return the text that `echo` prints, its words joined by IFS, unknown of others."""
        match = re.fullmatch(
            r"\s*(?:IFS=(?P<quote>['\"]?)(?P<mark>[^'\";]?)[^'\";]*(?P=quote)\s*;)?\s*echo\s+(?P<rest>[^|;&<>]+)",
            command[:500],
        )
        if not match:
            return "$(...)"
        star = re.fullmatch(r"\"?\$\{(\w+)\[\*\]\}\"?\s*", match["rest"])
        if star and star[1] in self.values:
            self.used.add(star[1])
            mark = match["mark"] or " "
            return mark.join(word.text for word in self.words_of(star[1]))
        return " ".join(word.text for word in self.words(shell_tokens(match["rest"], line)))

    def variable(self, match: re.Match[str], bit: Bit, depth: int) -> list[Field]:
        """Return the fields of a variable: its value, a default, a part of it."""
        name, operator, operand = match["name"], match["operator"] or "", match["rest"]
        self.used.add(name)
        value = self.values.get(name)
        empty = value is None or (":" in operator and not text_of(value))
        if operator[-1:] in ("-", "=") and empty:
            value = self.default(operand, bit.line, depth)
            self.keep(name, value, bit.line, assigns=operator[-1:] == "=")
            return value
        if operator[-1:] == "+" and operator != "":
            return self.default(operand, bit.line, depth) if not empty else []
        if name in "#!" and operand:
            return [Field(self.counted(name, operand), bit.line, False)]
        if name in ("@", "*") and value is None:
            return []  # a pasted script is read as if it were started without arguments
        if value is None:
            return [Field(f"${name}", bit.line, False)]
        if operator and operator[-1:] not in ("?", "-", "="):
            return [Field(_altered(text_of(value), operator, operand), bit.line, False)]
        if name in self.arrays and not match["all"]:
            return _element(value, operand)
        return value

    def keep(self, name: str, value: list[Field], line: int, *, assigns: bool) -> None:
        """Assign the default of `${NAME:=...}`."""
        if assigns:
            self.values[name], self.lines[name] = value, line

    def counted(self, sign: str, variable: str) -> str:
        """Return `${#NAME}` or `${#NAME[@]}`, or what `${!NAME}` points to."""
        name = variable.partition("[")[0]
        value = self.values.get(name)
        if value is None:
            return f"${sign}{variable}"
        if sign == "!":
            return text_of(self.values.get(text_of(value), [Field(f"${text_of(value)}", 0, False)]))
        return str(sum(piece.begins for piece in value) if "[" in variable else len(text_of(value)))

    def default(self, text: str, line: int, depth: int) -> list[Field]:
        """Return the fields of the default in `${NAME:-...}`."""
        if depth >= _DEEPEST:
            return [Field(text, line, False)]
        tokens = shell_tokens(f'"{text}"' if "'" not in text and '"' not in text else text, line)
        bits = [bit for token in tokens for bit in token.bits]
        return [piece for bit in bits for piece in self.expanded(bit, depth + 1)]

    def sum_text(self, text: str) -> str:
        """Return a sum with its variables replaced; inside a sum they need no dollar sign."""

        def value(match: re.Match[str]) -> str:
            inner = match[1] or match[2]
            if match[1]:
                fields = self.expanded(Bit("variable", match[1], 0))
            else:
                fields = self.values.get(inner, [Field(inner, 0, False)])
                self.used.add(inner)
            return f"({text_of(fields)[:40]})" if text_of(fields) else "0"

        return re.sub(r"\$\{([^{}]{1,200})\}|\$?([A-Za-z_]\w*|(?<=\$)\d)", value, text[:500])


def _element(value: list[Field], index: str) -> list[Field]:
    """Return one element of an array; `$NAME` is the first."""
    number = re.fullmatch(r"\[(\d{1,4})\]", index)
    starts = [at for at, piece in enumerate(value) if piece.begins] + [len(value)]
    element = int(number[1]) if number else 0
    return value[starts[element] : starts[element + 1]] if element + 1 < len(starts) else []


def _split(pieces: Sequence[Field]) -> Iterator[Field]:
    """Yield the words of an expansion that is not quoted."""
    apart = False
    for piece in pieces:
        words = piece.text.split()
        if piece.begins or piece.text[:1].isspace():
            apart = True
        for word in words:
            yield replace(piece, text=word, begins=apart)
            apart = True
        apart = (bool(piece.text) and piece.text[-1:].isspace()) or (apart and not words)


def text_of(value: Sequence[Field]) -> str:
    """Return a value as one text."""
    parts = [(" " if piece.begins and at else "") + piece.text for at, piece in enumerate(value)]
    return "".join(parts)


def _altered(text: str, operator: str, operand: str) -> str:
    """Return `${NAME%.json}`, `${NAME##*/}`, `${NAME^^}`, `${NAME:0:3}`, `${NAME/a/b}`."""
    if operator in ("^^", ",,"):
        return text.upper() if operator == "^^" else text.lower()
    if operator == ":":
        numbers = re.fullmatch(r"\s*(\d{1,6})(?::(\d{1,6}))?", operand)
        if numbers:
            start = int(numbers[1])
            return text[start : start + int(numbers[2])] if numbers[2] else text[start:]
    if operator in ("/", "//"):
        old, _, new = operand.partition("/")
        return text.replace(old, new, -1 if operator == "//" else 1) if old else text
    if operator[:1] in "%#" and operator:
        return _trimmed(text, operator, operand)
    return "$" + text


def _trimmed(text: str, operator: str, pattern: str) -> str:
    expression = re.compile(translate(pattern[:100]))
    lengths = range(len(text[:_LONGEST]) + 1)
    for length in reversed(lengths) if len(operator) == 2 else lengths:
        if operator[0] == "%" and expression.match(text[len(text) - length :]):
            return text[: len(text) - length]
        if operator[0] == "#" and expression.match(text[:length]):
            return text[length:]
    return text


def _merged(
    name: str,
    before: Sequence[Field],
    options: Sequence[tuple[Branch, list[Field]]],
    *,
    whole: bool,
) -> list[Field]:
    """Return one value for several: what is common, then each remainder with its condition."""
    values = [value for _, value in options] + ([] if whole else [list(before)])
    if all(value == values[0] for value in values):
        return list(values[0])
    common = 0
    while all(len(value) > common and value[common] == values[0][common] for value in values):
        common += 1
    rests = [(branch, value[common:]) for branch, value in options]
    every = [branch_fields for _, branch_fields in rests] + (
        [] if whole else [list(before[common:])]
    )
    if not all(
        text_of(branch_fields).strip().startswith("--") or not text_of(branch_fields).strip()
        for branch_fields in every
    ):
        texts = dict.fromkeys(text_of(value)[:40] or "nothing" for value in values)
        return [Field(f"${name}={'|'.join(texts)}", 0, False)]
    merged = list(values[0][:common])
    for branch, branch_fields in rests:
        for at, piece in enumerate(branch_fields):
            begins = piece.begins or at == 0
            merged.append(replace(piece, begins=begins, branches=(*piece.branches, branch)))
    if not whole:
        missing = Branch(options[0][0].identifier, len(options), f"not {options[0][0].condition}")
        merged += [
            replace(piece, begins=piece.begins or at == 0, branches=(*piece.branches, missing))
            for at, piece in enumerate(before[common:])
        ]
    return merged
