"""Line breaking: keeps live numbers with their punctuation and breaks long code at good places."""

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


def prevent_breaks(html: str) -> str:
    """Return the HTML with live elements kept beside their punctuation, and with breakable code.

    A live number is a link, a term a button, and an input a field, before and after which a browser
    would break a line. Code in a sentence may break after a dot, an underscore or a hyphen, but
    not after the hyphens that begin a flag. A number and its unit stay on one line, and so do the
    signs of a name such as ZeRO++.
    """
    return _CODE.sub(_breakable_code, _LIVE.sub(_keep_live, _TEXT.sub(_TextBinder(), html)))


class _TextBinder:
    """Prevents bad breaks in text nodes, except in elements that an answer replaces."""

    def __init__(self) -> None:
        self._inside, self._depth = "", 0

    def __call__(self, match: re.Match[str]) -> str:
        # Drawings may be nested.
        if (match["live"] or match["name"] == "svg") and not self._depth:
            self._inside = match["name"]
        if match["name"] and match["name"] == self._inside:
            self._depth += -1 if match["end"] else 1
            self._inside = self._inside if self._depth else ""
        if match["text"] and not self._depth:
            return line_breaking.keep_names_whole(line_breaking.bind_units(match["text"]))
        return match[0]


def _keep_live(match: re.Match[str]) -> str:
    return f'<span class="kept">{match[0]}</span>' if match[1] or match[4] else match[0]


def _breakable_code(match: re.Match[str]) -> str:
    text = match[1]
    if len(text) > _LONG:
        text = re.sub(r"(?<=\w)([._(/])(?=\w)(?<!\d\.(?=\d))", r"\1<wbr>", text)
    return f"<code>{_FLAG.sub(_keep_flag, text)}</code>"


def _keep_flag(match: re.Match[str]) -> str:
    return f'<span class="kept">{match[0]}</span>'
