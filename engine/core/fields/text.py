"""Text input fields: multi-line text with samples, and a short text for links."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.core.fields.scalar import Scalar
from engine.core.input_errors import LONGEST_LIST, InputError, list_options, quote

_SAMPLE_PREFIX = "sample:"
_SURROGATES = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample text and its title."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A multi-line text input: typed, pasted, read from a file, or a sample.

    A link names a sample ("sample:NAME") and holds no other text: what a reader pastes stays with
    the reader.

    Attributes:
        label: what the reader sees above it.
        longest: characters that are read.
        samples: short name -> a text to try with one click.
        placeholder: what an empty box says.
        rows: lines that are seen at once.
        files: how the names of files end that may be chosen, as ".json,.txt"; empty: any.
        empty: why an empty text cannot be used; nothing: it can.
        check: raises `InputError` with line, column and reason where the text cannot be read.
        reader: what reads the files, where they are no text to look at: "trace"; then there is no
            box, and the text is what that reader hands over.
        help: one sentence.
        advanced: folded away until asked for.
    """

    label: str
    longest: int = 200_000
    samples: Mapping[str, Sample] = field(default_factory=dict)
    placeholder: str = ""
    rows: int = 10
    files: str = ""
    empty: str = "Nothing is here yet; paste a text, choose a file, or try a sample"
    check: Callable[[str], object] | None = None
    reader: str = ""
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> str:
        """Return the text with plain line ends, or the text of the sample that it names."""
        if len(text) <= LONGEST_LIST and text.strip().startswith(_SAMPLE_PREFIX):
            name = text.strip().removeprefix(_SAMPLE_PREFIX)
            if name not in self.samples:
                raise InputError(f"{quote(name)} is not among {list_options(list(self.samples))}")
            return self.samples[name].text
        text = _normalize_line_ends(text)
        self._refuse(text)
        if self.check:
            self.check(text)
        return text

    def _refuse(self, text: str) -> None:
        if self.empty and not text.strip():
            raise InputError(self.empty)
        if len(text) > self.longest:
            raise InputError(f"{len(text):,} characters; at most {self.longest:,} are read")
        place = text.find("\0")
        if place >= 0:
            line = text.count("\n", 0, place) + 1
            column = place - text.rfind("\n", 0, place)
            raise InputError(f"line {line}, column {column}: a zero byte; this is no text file")

    def show(self, value: object) -> str:
        """Return the text as it stands in its box."""
        return str(value)

    def write(self, value: object) -> str:
        """Return the text, or the name of the sample with that text."""
        return self.linked(value) or str(value)

    def linked(self, value: object) -> str:
        """Return the sample name for links; "" if the text is no sample."""
        names = (name for name, sample in self.samples.items() if sample.text == value)
        return next((_SAMPLE_PREFIX + name for name in names), "")

    def brief(self, value: object) -> str:
        """Return the size of the text in words, after its sample name."""
        text, name = str(value), self.linked(value)
        lines = max(1, len(text.splitlines()))
        size = f"{lines:,} line{'s' if lines > 1 else ''}, {len(text):,} characters"
        return f"{name}, {size}" if name else size

    def range_words(self) -> str:
        """Return the maximum length in words."""
        return f"up to {self.longest:,} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A one-line text input that is part of links.

    Attributes:
        label: what the reader sees beside it.
        parse: raises `ValueError` with the reason where a text is none; never of an empty one.
        description: of an allowed text, in words.
        example: a text that can be read.
        help: one sentence.
        advanced: folded away until asked for.
    """

    label: str
    parse: Callable[[str], object]
    description: str = "a text that another page writes, or nothing"
    example: str = ""
    help: str = ""
    advanced: bool = False

    def read(self, text: str, *, typed: bool) -> Scalar:
        """Return the text without blanks around it, if it can be read."""
        text = text.strip()
        if not text:
            return ""
        try:
            self.parse(text)
        except ValueError as error:
            raise InputError(str(error)) from None
        return text

    def show(self, value: Scalar) -> str:
        """Return the text."""
        return str(value)

    def range_words(self) -> str:
        """Return the description of an allowed text."""
        return self.description


def _normalize_line_ends(text: str) -> str:
    """Return the text with line feeds as its only line ends.

    Half of a character pair, which no file can hold, becomes a question mark.
    """
    plain_ends = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return (
        plain_ends.encode("utf-8", "replace").decode() if _SURROGATES.search(text) else plain_ends
    )
