"""The modules that every page needs, joined into one file: one request, and they compress together.

Each module becomes a function that returns what it exports, in the order of their imports. Modules
that a page fetches later stay files of their own and take what they share from the joined one.
The imports and exports that can be joined are those this project writes: names in braces or a
namespace, from "./name.js", at the top; `export` before a function or a single constant.
"""

import re
from collections.abc import Mapping

_IMPORT = re.compile(
    r"""^import\s+(?:\{(?P<names>[^}]*)\}|\*\s+as\s+(?P<all>\w+))\s+from\s+"\./(?P<file>[\w.]+)";\n""",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export\s+(?P<code>(?:async\s+)?(?:function|const|class)\s+(?P<name>\w+))", re.MULTILINE
)
_LISTED = re.compile(r"^export const \w+ = [^,(\[{]*, \w+ = .*", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)


def joined(modules: Mapping[str, str], entry: str) -> dict[str, str]:
    """Return the files to publish: the entry with all it imports in it, and the other modules.

    Args:
        modules: file name -> text, comments removed.
        entry: the file name of the entry, which exports nothing.

    Raises:
        ValueError: modules import each other in a circle, or one cannot be joined.
    """
    order = in_order(modules, entry)
    inside = set(order)
    others = {
        name: _outside(text, inside, entry) for name, text in modules.items() if name not in inside
    }
    shared = [name for name in order if any(_takes(text, name) for text in others.values())]
    parts = [_wrapped(name, modules[name]) for name in order[:-1]]
    last = _body(entry, modules[entry])
    offered = f"export {{ {', '.join(map(_name, shared))} }};\n" if shared else ""
    return {entry: "".join(parts) + last + offered, **others}


def in_order(modules: Mapping[str, str], entry: str) -> list[str]:
    """Return the entry and all it imports, directly or not, each after those it needs."""
    done: dict[str, None] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"modules import each other: {' -> '.join((*path, name))}")
        if name in done:
            return
        for found in _IMPORT.finditer(modules[name]):
            if found["file"] not in modules:
                raise ValueError(f"{name} imports '{found['file']}', which does not exist")
            visit(found["file"], (*path, name))
        done[name] = None

    visit(entry, ())
    return list(done)


def _name(file: str) -> str:
    return file.removesuffix(".js") + "_js"


def _takes(text: str, file: str) -> bool:
    return re.search(rf"^import {{ (?:\w+, )*{_name(file)}\b", text, re.MULTILINE) is not None


def _taken(found: re.Match[str]) -> str:
    """Return the import as a reading of the joined module's exports."""
    if found["all"]:
        return f"const {found['all']} = {_name(found['file'])};\n"
    names = re.sub(r"\s+as\s+", ": ", " ".join(found["names"].split()))
    return f"const {{ {names.rstrip(',')} }} = {_name(found['file'])};\n"


def _body(name: str, text: str) -> str:
    body = _EXPORT.sub(r"\g<code>", _IMPORT.sub(_taken, text))
    left = _LISTED.search(text) or _LEFT.search(body)
    if left:
        raise ValueError(f"{name}: '{left[0]}' cannot be joined with other modules")
    return body


def _wrapped(name: str, text: str) -> str:
    offered = ", ".join(found["name"] for found in _EXPORT.finditer(text))
    back = f"return {{ {offered} }};\n" if offered else ""
    return f"const {_name(name)} = (() => {{\n{_body(name, text)}{back}}})();\n"


def _outside(text: str, inside: set[str], entry: str) -> str:
    """Return a module that is fetched later, with what the joined file has taken from there."""
    taken = [found for found in _IMPORT.finditer(text) if found["file"] in inside]
    if not taken:
        return text
    names = ", ".join(dict.fromkeys(_name(found["file"]) for found in taken))
    rest = _IMPORT.sub(lambda found: "" if found["file"] in inside else found[0], text)
    return f'import {{ {names} }} from "./{entry}";\n' + "".join(map(_taken, taken)) + rest
