"""Where a line may end: not between what is live and its signs, and not inside a word of code."""

import re

from engine.draw import line_breaking

_LONG = 24  # letters of code that fit on one line of a phone with words beside them
_LIVE = re.compile(
    r'(\(?)(<(?P<opens>a|button) class="(?:number|term)\b[^>]*>[^<]*</(?P=opens)>'
    r'|<span class="inline-field"(?:(?!<span\b).)*?</span>)([.,;:!?)]*)',
    re.DOTALL,
)
# Not a listing, whose lines end where its author ended them.
_CODE = re.compile(r"(?<!<pre>)(?<!<span></span>)<code>([^<]+)</code>")
# Text outside of tags, and of what is live or has lines of its own.
_TEXT = re.compile(
    r"<(?P<apart>pre|code|math|button|select|textarea|script|template)\b.*?</(?P=apart)>"
    r'|<a class="number\b.*?</a>'
    r'|<span class="(?:also|note)\b.*?</span>'
    r"|<(?P<end>/?)(?P<name>\w+)(?P<live> data-fragment(?=>))?[^>]*>|<[^>]*>|(?P<text>[^<]+)",
    re.DOTALL,
)
_FLAG = re.compile(r"(?<![\w-])--[\w]+")


def bound(html: str) -> str:
    """Return the prose with what is live bound to the signs beside it, and its code cut well.

    A live number is a link, a term a button, and an input a field, before and after which a browser
    would break a line. Code in a sentence may break after a dot, an underscore or a hyphen, but
    not after the hyphens that begin a flag. A number and its unit stay on one line, and so do the
    signs of a name such as ZeRO++.
    """
    return _CODE.sub(_code, _LIVE.sub(_live, _TEXT.sub(_Texts(), html)))


class _Texts:
    """Binds what the texts it meets hold together, but for those that an answer replaces."""

    def __init__(self) -> None:
        self._inside, self._depth = "", 0

    def __call__(self, found: re.Match[str]) -> str:
        # A drawing may hold others.
        if (found["live"] or found["name"] == "svg") and not self._depth:
            self._inside = found["name"]
        if found["name"] and found["name"] == self._inside:
            self._depth += -1 if found["end"] else 1
            self._inside = self._inside if self._depth else ""
        if found["text"] and not self._depth:
            return line_breaking.whole(line_breaking.bound(found["text"]))
        return found[0]


def _live(found: re.Match[str]) -> str:
    return f'<span class="kept">{found[0]}</span>' if found[1] or found[4] else found[0]


def _code(found: re.Match[str]) -> str:
    text = found[1]
    if len(text) > _LONG:
        text = re.sub(r"(?<=\w)([._(/])(?=\w)(?<!\d\.(?=\d))", r"\1<wbr>", text)
    return f"<code>{_FLAG.sub(_flag, text)}</code>"


def _flag(found: re.Match[str]) -> str:
    return f'<span class="kept">{found[0]}</span>'
