"""The modules that every page needs, joined into one file: one request, and they compress together.

Each module becomes a function that returns what it exports, in the order of their imports. Modules
that a page fetches later stay files of their own and take what they share from the joined one.
The imports and exports that can be joined are those this project writes: names in braces or a
namespace, from "./name.js" or "../room/name.js", at the top; `export` before a function or a single
constant.
"""

import posixpath
import re
from collections.abc import Mapping

_IMPORT = re.compile(
    r"""^import\s+(?:\{(?P<names>[^}]*)\}|\*\s+as\s+(?P<all>\w+))\s+from\s+"(?P<file>\.{1,2}/[\w./]+)";\n""",
    re.MULTILINE,
)
_LATER = re.compile(r"""\bimport\("(?P<file>\.{1,2}/[\w./]+)"\)""")
_EXPORT = re.compile(
    r"^export\s+(?P<code>(?:async\s+)?(?:function|const|class)\s+(?P<name>\w+))", re.MULTILINE
)
_LISTED = re.compile(r"^export const \w+ = [^,(\[{]*, \w+ = .*", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)


def joined(modules: Mapping[str, str], entry: str) -> dict[str, str]:
    """Return the files to publish: the entry with all it imports in it, and the other modules.

    Args:
        modules: path in the runtime's folder -> text, comments removed.
        entry: the path of the entry, which exports nothing.

    Raises:
        ValueError: modules import each other in a circle, or one cannot be joined.
    """
    order = in_order(modules, entry)
    inside = set(order)
    others = {
        name: _outside(name, text, inside, entry)
        for name, text in modules.items()
        if name not in inside
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
            file = _path(found["file"], name)
            if file not in modules:
                raise ValueError(f"{name} imports '{file}', which does not exist")
            visit(file, (*path, name))
        done[name] = None

    visit(entry, ())
    return list(done)


def _path(written: str, by: str) -> str:
    """Return the path of what the module `by` imports as `written`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(by), written))


def _written(file: str, by: str) -> str:
    """Return how the module `by` writes the path of a file."""
    path = posixpath.relpath(file, posixpath.dirname(by) or ".")
    return path if path.startswith(".") else f"./{path}"


def _name(file: str) -> str:
    return file.removesuffix(".js").replace("/", "_") + "_js"


def _takes(text: str, file: str) -> bool:
    return re.search(rf"^import {{ (?:\w+, )*{_name(file)}\b", text, re.MULTILINE) is not None


def _taken(found: re.Match[str], by: str) -> str:
    """Return the import as a reading of the joined module's exports."""
    module = _name(_path(found["file"], by))
    if found["all"]:
        return f"const {found['all']} = {module};\n"
    names = re.sub(r"\s+as\s+", ": ", " ".join(found["names"].split()))
    return f"const {{ {names.rstrip(',')} }} = {module};\n"


def _body(name: str, text: str) -> str:
    """Return a module's code as it stands in the joined file, which lies at the top."""
    text = _LATER.sub(lambda found: f'import("./{_path(found["file"], name)}")', text)
    body = _EXPORT.sub(r"\g<code>", _IMPORT.sub(lambda found: _taken(found, name), text))
    left = _LISTED.search(text) or _LEFT.search(body)
    if left:
        raise ValueError(f"{name}: '{left[0]}' cannot be joined with other modules")
    return body


def _wrapped(name: str, text: str) -> str:
    offered = ", ".join(found["name"] for found in _EXPORT.finditer(text))
    back = f"return {{ {offered} }};\n" if offered else ""
    return f"const {_name(name)} = (() => {{\n{_body(name, text)}{back}}})();\n"


def _outside(name: str, text: str, inside: set[str], entry: str) -> str:
    """Return a module that is fetched later, with what the joined file has taken from there."""

    def is_inside(found: re.Match[str]) -> bool:
        return _path(found["file"], name) in inside

    taken = [found for found in _IMPORT.finditer(text) if is_inside(found)]
    if not taken:
        return text
    names = ", ".join(dict.fromkeys(_name(_path(found["file"], name)) for found in taken))
    rest = _IMPORT.sub(lambda found: "" if is_inside(found) else found[0], text)
    read = "".join(_taken(found, name) for found in taken)
    return f'import {{ {names} }} from "{_written(entry, name)}";\n' + read + rest
