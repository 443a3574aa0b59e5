"""What a module of the engine needs: read from the imports in its source, followed to the end.

The engine also finds modules by looking into a package (`engine.core.registry`); a text that is
the name of a package, such as "engine.schedules", therefore stands for all its modules. Only the
calculators, which nobody but the page names, are not followed so.
"""

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from builder.core import code_digest
from builder.core.folders import digest, write_whole

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # where a statement holds others


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements in a node, those in functions, classes and branches too."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):  # a lambda and a conditional expression have a body, too
            for one in block:
                yield one
                yield from statements(one)


MOST = 8000  # modules of which what they import is kept
CALCULATORS = ("engine.calculators",)
Sources = Mapping[str, str]  # path such as "engine/answer.py" -> text
# Digest of a text -> [names that it imports, its texts that could name a package, digest of what it
# does, and of its texts]. Reading five hundred files takes seconds, so it is kept between builds.
Told = list[list[str] | str]
Facts = dict[str, Told]
_READ: Facts = {}  # by this process, for whichever project
FEW = 64  # modules that are read before another process has begun
SEEKERS = ("importlib", "pkgutil", "runpy", "engine.core.registry")  # find modules by a name


class Imports:
    """The imports of a package's modules; a module is named by its path."""

    def __init__(
        self,
        sources: Sources,
        kept: Path | None = None,
        calculators: tuple[str, ...] = CALCULATORS,
        groups: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """Take the modules.

        Args:
            sources: path -> text.
            kept: a file of the cache.
            calculators: packages of them.
            groups: name -> paths that travel together, whichever of them is imported.
        """
        self.groups = {name: frozenset(paths) for name, paths in (groups or {}).items()}
        self.sources = sources
        self._apart = tuple(f"{package}." for package in calculators)
        self._modules = {dotted(path): path for path in sources}
        self._closures: dict[str, frozenset[str]] = {}
        self._nearest: dict[str, list[str]] = {}
        self._digests: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._kept, self._known = kept, _kept(kept)
        self._facts: Facts = {}
        self._read = False

    def save(self) -> None:
        """Keep what was read now for the next build."""
        if self._kept and self._read:
            marks = [digest((text,)) for text in self.sources.values()]
            # Other projects may share the file; what nobody has anymore goes when it is long.
            own = {mark: self._known[mark] for mark in marks if mark in self._known}
            still = own if len(self._known) > MOST else {**_kept(self._kept), **own}
            write_whole(self._kept, json.dumps(still).encode())
            self._read = False

    def read(self, each: Callable[..., list[Told]]) -> None:
        """Read all modules where none is known: `each` makes something of many (`Hands.each`)."""
        if not self._known:
            texts = {digest((text,)): text for text in self.sources.values()}
            new = {mark: text for mark, text in texts.items() if mark not in _READ}
            _READ.update(zip(new, each(facts, [*new.values()], few=FEW), strict=True))

    def _of(self, path: str) -> Told:
        """Return the facts of a module, read when they are asked for."""
        if path not in self._facts:
            mark = digest((self.sources[path],))
            if mark not in self._known:
                if mark not in _READ:
                    _READ[mark] = facts(self.sources[path])
                self._known[mark], self._read = _READ[mark], True
            self._facts[path] = self._known[mark]
        return self._facts[path]

    def follow(self, before: "Imports") -> frozenset[str]:
        """Take over what is known from before a save, and return what does something else since.

        A comment changes nothing that a module does. What imports a changed module is among it.
        """
        if before.sources.keys() != self.sources.keys():  # a name may mean another module now
            paths = before.sources.keys() | self.sources.keys()
            return frozenset(path for path in paths if self._differs(path, before))
        moved = [path for path, text in self.sources.items() if before.sources[path] != text]
        changed = {path for path in moved if before.bare(path) != self.bare(path)}
        self._facts = {path: known for path, known in before._facts.items() if path not in moved}
        self._nearest = {path: before.direct(path) for path in self.sources if path not in changed}
        found = _reached(changed, before) | _reached(changed, self)
        for name in ("_closures", "_digests", "_texts"):
            known = getattr(before, name).items()
            setattr(self, name, {path: one for path, one in known if path not in found})
        return frozenset(found)

    def _differs(self, path: str, before: "Imports") -> bool:
        there = path in self.sources and path in before.sources
        return not there or self.digest(path) != before.digest(path)

    def needed(self, path: str) -> frozenset[str]:
        """Return the module and all that it imports, directly or not, with their packages."""
        if path not in self._closures:
            found, waiting = {path}, [path]
            while waiting:
                fresh = set(self.direct(waiting.pop())) - found
                found |= fresh
                waiting += fresh
            self._closures[path] = frozenset(found)
        return self._closures[path]

    def digest(self, path: str) -> str:
        """Return the digest of what the module does, with all that it needs."""
        if path not in self._digests:
            needed = sorted(self.needed(path))
            self._digests[path] = digest(part for one in needed for part in (one, self.bare(one)))
        return self._digests[path]

    def outside(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the modules that these import from elsewhere: the standard library."""
        tops = {name.partition(".")[0] for name in self._modules} | set(self.groups)
        names = {name for path in paths for name in self._of(path)[0]}
        return frozenset(n for n in names if n and n.partition(".")[0] not in tops)

    def seek(self, paths: Iterable[str]) -> bool:
        """Say whether some of these look for modules by name, which their texts tell in part."""
        names = (f"{name}." for path in paths for name in self._of(path)[0])
        return any(name.startswith(f"{one}.") for name in names for one in SEEKERS)

    def bare(self, path: str) -> str:
        """Return the digest of what the module does: comments and line ends change nothing."""
        return str(self._of(path)[2])

    def words(self, path: str) -> str:
        """Return the digest of the texts in the module and all that it needs."""
        if path not in self._texts:
            self._texts[path] = digest(str(self._of(one)[3]) for one in sorted(self.needed(path)))
        return self._texts[path]

    def direct(self, path: str) -> list[str]:
        """Return the modules that a module imports itself, with their packages."""
        if path not in self._nearest:
            self._nearest[path] = self._imported(path)
        return self._nearest[path]

    def _imported(self, path: str) -> list[str]:
        imported, texts, *_ = self._of(path)
        names = [*imported]
        for package in texts:
            inside = f"{package}."
            if package in self._modules and not inside.startswith(self._apart):
                names += [name for name in self._modules if name.startswith(inside)]
        tops = {name.partition(".")[0] for name in names}
        together = {path for top in tops & set(self.groups) for path in self.groups[top]}
        every = {part for name in (*names, dotted(path)) for part in _with_packages(name)}
        own = [self._modules[name] for name in sorted(every) if name in self._modules]
        return [*own, *sorted(together.difference(own))]


def _reached(changed: set[str], imports: Imports) -> set[str]:
    """Return these modules and all that import them, directly or not."""
    users: dict[str, list[str]] = {}
    for path in imports.sources:
        for used in imports.direct(path):
            users.setdefault(used, []).append(path)
    found, waiting = set(changed), [*changed]
    while waiting:
        fresh = set(users.get(waiting.pop(), ())) - found
        found |= fresh
        waiting += fresh
    return found


def _kept(path: Path | None) -> Facts:
    try:
        found = json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    sound = isinstance(found, dict) and all(len(facts) == 4 for facts in found.values())
    return found if sound else {}


def remember(text: str, told: Told) -> None:
    """Remember what is known of a text, so that this process does not read it again."""
    _READ[digest((text,))] = told


def tops(told: Told) -> frozenset[str] | None:
    """Return the packages that a text imports from, None where it cannot be read."""
    names, _, does, words = told
    return None if does == words else frozenset(name.partition(".")[0] for name in names)


def facts(source: str) -> Told:
    """Return what is known of a text, as `Facts` says."""
    names: dict[str, None] = {}
    try:
        tree = ast.parse(source)
        code = compile(tree, "", "exec", dont_inherit=True, optimize=0)
    except SyntaxError:  # of a package, in a Python newer than this one
        return [[], [], digest((source,)), digest((source,))]
    for node in statements(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            # `from a import b` imports a, and a.b where that is a module.
            names |= dict.fromkeys((module, *(f"{module}.{one.name}" for one in node.names)))
    texts = sorted(set(code_digest.texts(code)))
    packages = [text for text in texts if _may_name(text)]
    return [[*names], packages, code_digest.does(code), digest(texts)]


def _may_name(text: str) -> bool:
    return "." in text and text.replace(".", "_").isidentifier()


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def dotted(path: str) -> str:
    """Return the name of a module by its path."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
