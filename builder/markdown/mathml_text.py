"""A formula in MathML as one line of text: for the Markdown of a page."""

import re

_INFIX = "=+−-⋅·×≤≥≈<>∈→"
# 4,096 · 10 % · 2.00 B · x · N_p
_ALONE = re.compile(r"[\d.,]+(\s[\w%/]+|[%×])?|\w(_\w+)?")
_MARKS = {"msub": "_", "munder": "_", "msup": "^", "mover": "^"}


class Linear:
    """Reads the elements of one formula; `end` returns its line when the formula is closed."""

    def __init__(self) -> None:
        self._open: list[tuple[str, list[str]]] = []

    def start(self, tag: str) -> None:
        """Begin an element."""
        self._open.append((tag, []))

    def data(self, text: str) -> None:
        """Take words of the innermost element."""
        if self._open and text.strip():
            self._open[-1][1].append(re.sub(r"\s+", " ", text))

    def end(self) -> str | None:
        """Close the innermost element; return the line if it was the last one."""
        tag, parts = self._open.pop()
        text = _joined(tag, parts)
        if not self._open:
            return re.sub(r" {2,}", " ", text).replace(" )", ")").replace("\u2061", "").strip()
        self._open[-1][1].append(text)
        return None


def _joined(tag: str, parts: list[str]) -> str:
    whole = "".join(parts)
    if tag == "mo":
        return f" {whole} " if whole in _INFIX else whole
    if tag == "mfrac" and len(parts) == 2:
        return f"{_grouped(parts[0])}/{_grouped(parts[1])} "
    if tag in _MARKS and len(parts) == 2:
        return f"{parts[0]}{_MARKS[tag]}{_mark(parts[1])}"
    if tag in ("msubsup", "munderover") and len(parts) == 3:
        return f"{parts[0]}_{_mark(parts[1])}^{_mark(parts[2])}"
    if tag == "msqrt":
        return f"√({whole.strip()})"
    if tag == "mtable":
        return "; ".join(part.strip() for part in parts)
    return whole


def _grouped(text: str) -> str:
    """Return a part of a fraction, in parentheses unless it is one number or one symbol."""
    text = text.strip()
    return text if _ALONE.fullmatch(text) else f"({text})"


def _mark(text: str) -> str:
    """Return an index or an exponent; words and numbers need no parentheses."""
    text = text.strip()
    return text if re.fullmatch(r"\w+", text) else _grouped(text)
