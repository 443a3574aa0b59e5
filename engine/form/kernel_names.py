"""Names of kernels, as short as a table needs them."""

import re

_ANONYMOUS = "(anonymous namespace)::"
_LONGEST = 60
_ARGUMENTS = re.compile(r"[<(]")


def short_kernel(name: str) -> str:
    """Return a kernel's name without its return type, namespaces of nobody and arguments."""
    text = " ".join(name.replace(_ANONYMOUS, "").removeprefix("void ").split())
    if not text.startswith(("Memcpy", "Memset")):
        head = _ARGUMENTS.split(text, maxsplit=1)[0].strip()
        functor = re.search(r"([A-Za-z]\w*(?:Functor|Op|Ops))\b", text[len(head) :])
        text = f"{head} {functor[1]}" if head and functor else head or text
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
