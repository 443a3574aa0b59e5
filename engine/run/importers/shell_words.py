"""Words and operators of a shell script, with the line of every piece (POSIX shell and bash)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from engine.run.importers.text_parts import HANDED_ON

_OPERATORS = ("<<<", "&>>", ";;&", "&&", "||", ";;", ";&", "<<", ">>", "&>", ">&", "<&", ">|",
              ";", "&", "|", "(", ")", "<", ">")  # fmt: skip
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,80}\+?=")
_NAME = re.compile(r"[A-Za-z_]\w{0,80}|[0-9@*#?$!-]")
_MOST = 60_000  # pieces
_DEEPEST = 20
_MOST_UNCLOSED = 50  # brackets
_HERE = re.compile(r"<<-?[ \t]*[\"']?(\w{1,40})[\"']?")


@dataclass(frozen=True, slots=True)
class Bit:
    """A piece of a word.

    Attributes:
        kind: literal text, a variable, a sum `$((...))`, or a command whose output is unknown.
        text: the text, the inside of `${...}`, the sum, the command.
        line: of it, from 1.
        quoted: whether it stands in quotes.
    """

    kind: Literal["text", "variable", "sum", "command"]
    text: str
    line: int
    quoted: bool = False


@dataclass(slots=True)
class Token:
    """A word, an operator, the end of a line, or `((...))`.

    Attributes:
        kind: which of them; of `NAME=(...)`, "array".
        text: the operator; of a word without pieces that expand, what it says.
        line: where it begins.
        bits: of a word.
        words: of an array.
    """

    kind: Literal["word", "array", "operator", "line", "sum"]
    text: str
    line: int
    bits: list[Bit] = field(default_factory=list)
    words: list["Token"] = field(default_factory=list)

    @property
    def plain(self) -> str:
        """The word if nothing in it is quoted or expands, otherwise an empty text."""
        whole = all(bit.kind == "text" and not bit.quoted for bit in self.bits)
        return "".join(bit.text for bit in self.bits) if whole else ""


@dataclass(slots=True)
class _Lexer:
    text: str
    line: int
    place: int = 0
    count: int = 0
    unclosed: int = 0
    documents: list[str] = field(default_factory=list)

    def tokens(self, depth: int = 0, end: str = "") -> Iterator[Token]:
        """Yield the tokens up to an unquoted `end`."""
        while self.place < len(self.text) and self.count < _MOST:
            letter = self.text[self.place]
            self.count += 1
            if letter == end:
                self.place += 1
                return
            if not self.skipped(letter):
                yield self.token(letter, depth)

    def skipped(self, letter: str) -> bool:
        """Step over spaces, continued lines and comments; return whether there were any."""
        if self.text.startswith("\\\n", self.place):
            self.place, self.line = self.place + 2, self.line + 1
        elif letter == "#":
            self.place = _end_of_line(self.text, self.place)
        elif letter.isspace() and letter != "\n":
            self.place += 1
        else:
            return False
        return True

    def token(self, letter: str, depth: int) -> Token:
        """Return the token that begins here."""
        text, line = self.text, self.line
        if letter == "\n":
            self.next_line()
            return Token("line", "\n", line)
        if text.startswith("((", self.place) and (inside := _sum(text, self.place, 2)):
            self.skip(len(inside) + 4)
            return Token("sum", inside, line)
        operator = next((o for o in _OPERATORS if text.startswith(o, self.place)), "")
        list_begins = text.startswith("([", self.place) and _inside(text, self.place, "(", ")")
        if operator and not list_begins:
            self.note_document(operator)
            self.place += len(operator)
            return Token("operator", operator, line)
        return self.word(depth)

    def next_line(self) -> None:
        """Step over the end of a line, and over the documents that the line announced."""
        self.place, self.line = self.place + 1, self.line + 1
        for word in self.documents:
            match = re.compile(rf"^[ \t]*{word}[ \t]*$", re.MULTILINE).search(self.text, self.place)
            if match:
                self.skip(match.end() - self.place)
        self.documents.clear()

    def note_document(self, operator: str) -> None:
        match = _HERE.match(self.text, self.place) if operator == "<<" else None
        start = self.text.rfind("\n", 0, self.place) + 1
        # What another shell is given to run is a part of the script.
        if match and not HANDED_ON.search(self.text, start, self.place):
            self.documents.append(match[1])

    def skip(self, count: int) -> None:
        self.line += self.text.count("\n", self.place, self.place + count)
        self.place += count

    def word(self, depth: int) -> Token:
        """Return the word that begins here, or the array that is assigned here."""
        word, text = Token("word", "", self.line), self.text
        while self.place < len(text) and self.count < _MOST:
            letter = text[self.place]
            self.count += 1
            if letter == "(" and depth < _DEEPEST and _ASSIGNMENT.fullmatch(word.plain):
                self.place += 1
                inner = self.tokens(depth + 1, ")")
                words = [token for token in inner if token.kind in ("word", "array")]
                return Token("array", word.plain, word.line, word.bits, words)
            if text.startswith("([", self.place) and (
                inside := _inside(text, self.place, "(", ")")
            ):
                self.add(word, f"({inside})", quoted=True)  # a list of Megatron's, not quoted
                self.skip(len(inside) + 2)
                continue
            if letter.isspace() or letter in ";&|()<>":
                break
            if letter == "\\":
                self.escape(word)
            elif letter in "'\"":
                self.quote(word, letter)
            elif letter in "$`":
                self.expansion(word, quoted=False)
            else:
                self.add(word, letter, quoted=False)
                self.place += 1
        word.text = "".join(bit.text for bit in word.bits)
        return word

    def escape(self, word: Token) -> None:
        if self.text.startswith("\\\n", self.place):
            self.line += 1
        elif self.place + 1 < len(self.text):
            self.add(word, self.text[self.place + 1], quoted=True)
        self.place += 2

    def quote(self, word: Token, mark: str) -> None:
        """Add what stands in quotes; a mark without its other one is none."""
        end = _closing(self.text, self.place + 1, mark)
        self.place += 1
        if end is None:
            return
        word.bits.append(Bit("text", "", self.line, quoted=True))
        while self.place < end and self.count < _MOST:
            letter = self.text[self.place]
            self.count += 1
            if mark == '"' and letter in "$`":
                self.expansion(word, quoted=True)
                if self.place > end:  # the mark stood within what expands
                    end = _closing(self.text, self.place, mark) or self.place
            elif mark == '"' and letter == "\\" and self.text[self.place + 1] in '$`"\\\n':
                self.escape(word)
            else:
                self.add(word, letter, quoted=True)
                self.line += letter == "\n"
                self.place += 1
        self.place = max(self.place, end) + 1

    def expansion(self, word: Token, *, quoted: bool) -> None:
        """Add a variable, a sum or a command; a lone dollar is text."""
        text, start, line = self.text, self.place, self.line
        if self.unclosed > _MOST_UNCLOSED:  # no script, and every bracket would be searched for
            self.add(word, text[start], quoted=quoted)
            self.place += 1
            return
        expansion = expansion_at(text, start)
        if expansion is None:
            self.unclosed += text[start + 1 : start + 2] in ("{", "(")
            self.add(word, text[start], quoted=quoted)
            self.place += 1
            return
        kind, inside, length = expansion
        word.bits.append(Bit(kind, inside, line, quoted))
        self.skip(length)

    def add(self, word: Token, letter: str, *, quoted: bool) -> None:
        last = word.bits[-1] if word.bits else None
        joins = last and last.kind == "text" and last.quoted == quoted and last.line == self.line
        if last and joins:
            word.bits[-1] = Bit("text", last.text + letter, last.line, quoted)
        else:
            word.bits.append(Bit("text", letter, self.line, quoted))


def expansion_at(
    text: str, start: int
) -> tuple[Literal["variable", "sum", "command"], str, int] | None:
    """Return the expansion at a dollar or a backquote: kind, inside, length; None if nothing."""
    if text.startswith("$((", start) and (inside := _sum(text, start, 3)):
        return "sum", inside, len(inside) + 5
    if text.startswith("${", start) and (inside := _inside(text, start + 1, "{", "}")):
        return "variable", inside, len(inside) + 3
    if text.startswith("$(", start) and (inside := _inside(text, start + 1, "(", ")")):
        return "command", inside, len(inside) + 3
    if text[start] == "`" and (end := text.find("`", start + 1)) > 0:
        return "command", text[start + 1 : end], end + 1 - start
    if text[start] == "$" and (match := _NAME.match(text, start + 1)):
        return "variable", match[0], len(match[0]) + 1
    return None


def _end_of_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _closing(text: str, offset: int, mark: str) -> int | None:
    """Return the offset of a closing quote, or None."""
    while (end := text.find(mark, offset)) >= 0:
        before = text[max(0, end - 20) : end]
        slashes = len(before) - len(before.rstrip("\\"))
        if mark == "'" or slashes % 2 == 0:
            return end
        offset = end + 1
    return None


def _inside(text: str, offset: int, left: str, right: str) -> str:
    """Return the text between a bracket at `offset` and its other one, or an empty text."""
    depth = 0
    for at in range(offset, min(len(text), offset + 5000)):
        depth += (text[at] == left) - (text[at] == right)
        if depth == 0:
            return text[offset + 1 : at]
    return ""


def _sum(text: str, offset: int, opening: int) -> str:
    """Return the inside of `((...))` or `$((...))`, or an empty text."""
    inside = _inside(text, offset + opening - 2, "(", ")")
    whole = inside.startswith("(") and inside.endswith(")")
    return inside[1:-1] if whole and "\n" not in inside else ""


def shell_tokens(text: str, first_line: int = 1) -> list[Token]:
    """Return the tokens of a script; the end of a line is one."""
    return list(_Lexer(text, first_line).tokens())
