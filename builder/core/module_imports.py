"""Import graph of Python packages, read from the source: dependencies and digests of modules.

The engine also finds modules by listing a package (`engine.core.registry`); a string constant that
is the name of a package, such as "engine.schedules", therefore counts as an import of all its
modules. Only packages of calculators, which pages name one by one, are not followed this way.

What only functions import is deferred: a page fetches it when it is first imported.
"""

import ast
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType

from builder.core.folders import digest, write_atomically

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields that hold nested statements


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements of a node, nested functions, classes and branches included."""
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):  # a lambda and a conditional expression have a body, too
            for statement in block:
                yield statement
                yield from statements(statement)


MAX_CACHED = 8000  # facts of modules in the cache file
CALCULATORS = ("engine.calculators",)
Sources = Mapping[str, str]  # path such as "engine/answer.py" -> text
# [imported names, string constants that could name a package, digest of the behavior, digest of the
# string constants, modules that only functions import] of a module.
ModuleFacts = list[list[str] | str]
# Digest of a module's text -> its facts. Reading five hundred files takes seconds, so the facts are
# kept between builds.
FactsByDigest = dict[str, ModuleFacts]
_FACTS: FactsByDigest = {}  # read by this process, for whichever project
SERIAL_LIMIT = 64  # up to this many modules are read without other processes
# Modules that find other modules by name.
DYNAMIC_IMPORTERS = ("importlib", "pkgutil", "runpy", "engine.core.registry")


class ImportGraph:
    """The imports between modules; a module is identified by its path."""

    def __init__(
        self,
        sources: Sources,
        cache_path: Path | None = None,
        calculator_packages: tuple[str, ...] = CALCULATORS,
        groups: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """Create the graph of the modules in `sources`.

        Args:
            sources: path -> text.
            cache_path: file that keeps the facts between builds.
            calculator_packages: packages whose names do not count as imports of all their modules.
            groups: package -> paths of all its files, which are needed whichever is imported.
        """
        self.groups = {name: frozenset(paths) for name, paths in (groups or {}).items()}
        self.sources = sources
        self._calculator_prefixes = tuple(f"{package}." for package in calculator_packages)
        self._modules = {module_name(path): path for path in sources}
        self._closures: dict[str, frozenset[str]] = {}
        self._direct: dict[str, list[str]] = {}
        self._digests: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._cache_path, self._cached_facts = cache_path, _load_facts(cache_path)
        self._facts: FactsByDigest = {}
        self._has_new_facts = False

    def save(self) -> None:
        """Write newly parsed facts to the cache file."""
        if self._cache_path and self._has_new_facts:
            digests = [digest((text,)) for text in self.sources.values()]
            # Other projects may share the file; unused facts are dropped when there are too many.
            own_facts = {
                text_digest: self._cached_facts[text_digest]
                for text_digest in digests
                if text_digest in self._cached_facts
            }
            facts_to_keep = (
                own_facts
                if len(self._cached_facts) > MAX_CACHED
                else {**_load_facts(self._cache_path), **own_facts}
            )
            write_atomically(self._cache_path, json.dumps(facts_to_keep).encode())
            self._has_new_facts = False

    def read_all(self, map_function: Callable[..., list[ModuleFacts]]) -> None:
        """Parse all modules if none is cached; `map_function` is `ProcessPool.map`."""
        if not self._cached_facts:
            texts = {digest((text,)): text for text in self.sources.values()}
            unread = {
                text_digest: text
                for text_digest, text in texts.items()
                if text_digest not in _FACTS
            }
            _FACTS.update(
                zip(
                    unread,
                    map_function(module_facts, [*unread.values()], serial_limit=SERIAL_LIMIT),
                    strict=True,
                )
            )

    def _facts_of(self, path: str) -> ModuleFacts:
        """Return the facts of a module, parsed on first use."""
        if path not in self._facts:
            text_digest = digest((self.sources[path],))
            if text_digest not in self._cached_facts:
                if text_digest not in _FACTS:
                    _FACTS[text_digest] = module_facts(self.sources[path])
                self._cached_facts[text_digest], self._has_new_facts = _FACTS[text_digest], True
            self._facts[path] = self._cached_facts[text_digest]
        return self._facts[path]

    def reuse_facts(self, previous: "ImportGraph") -> frozenset[str]:
        """Reuse the facts of the graph before a save; return the modules with changed behavior.

        A comment changes no behavior. Modules that import a changed module count as changed.
        """
        if previous.sources.keys() != self.sources.keys():  # a name may mean another module now
            paths = previous.sources.keys() | self.sources.keys()
            return frozenset(path for path in paths if self._differs(path, previous))
        edited = [path for path, text in self.sources.items() if previous.sources[path] != text]
        changed = {
            path for path in edited if previous.module_digest(path) != self.module_digest(path)
        }
        self._facts = {path: known for path, known in previous._facts.items() if path not in edited}
        self._direct = {
            path: previous.direct_imports(path) for path in self.sources if path not in changed
        }
        affected = _with_dependents(changed, previous) | _with_dependents(changed, self)
        for name in ("_closures", "_digests", "_texts"):
            known = getattr(previous, name).items()
            setattr(self, name, {path: value for path, value in known if path not in affected})
        return frozenset(affected)

    def _differs(self, path: str, previous: "ImportGraph") -> bool:
        in_both = path in self.sources and path in previous.sources
        return not in_both or self.digest(path) != previous.digest(path)

    def dependencies(self, path: str) -> frozenset[str]:
        """Return the module and its direct and indirect imports, with their packages."""
        if path not in self._closures:
            modules, queue = {path}, [path]
            while queue:
                unvisited = set(self.direct_imports(queue.pop())) - modules
                modules |= unvisited
                queue += unvisited
            self._closures[path] = frozenset(modules)
        return self._closures[path]

    def deferred(self, path: str) -> dict[str, frozenset[str]]:
        """Return name -> paths of the modules that only functions import.

        The paths are those of the module and of what it imports at once, directly or indirectly,
        without what `path` imports at once.
        """
        at_once, queue = self._imports_at_once(path)
        deferred: dict[str, frozenset[str]] = {}
        while queue:
            target = queue.pop()
            if target not in at_once and module_name(target) not in deferred:
                paths, further = self._imports_at_once(target)
                deferred[module_name(target)] = paths - at_once
                queue |= further
        return deferred

    def _imports_at_once(self, path: str) -> tuple[frozenset[str], set[str]]:
        """Return the module with what it imports at once, and what functions in these import."""
        modules, queue, deferred = {path}, [path], set[str]()
        while queue:
            module = queue.pop()
            names = self._facts_of(module)[4]
            late = {self._modules[name] for name in names if name in self._modules}
            unvisited = set(self.direct_imports(module)) - late - modules
            deferred |= late
            modules |= unvisited
            queue += unvisited
        return frozenset(modules), deferred

    def digest(self, path: str) -> str:
        """Return the digest of the behavior of the module and of its dependencies."""
        if path not in self._digests:
            dependencies = sorted(self.dependencies(path))
            self._digests[path] = digest(
                part for module in dependencies for part in (module, self.module_digest(module))
            )
        return self._digests[path]

    def external_imports(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the modules that these import from outside the graph: the standard library."""
        own_packages = {name.partition(".")[0] for name in self._modules} | set(self.groups)
        names = {name for path in paths for name in self._facts_of(path)[0]}
        return frozenset(n for n in names if n and n.partition(".")[0] not in own_packages)

    def import_dynamically(self, paths: Iterable[str]) -> bool:
        """Return whether any of these modules imports others by name, which hides dependencies."""
        names = (f"{name}." for path in paths for name in self._facts_of(path)[0])
        return any(
            name.startswith(f"{importer}.") for name in names for importer in DYNAMIC_IMPORTERS
        )

    def module_digest(self, path: str) -> str:
        """Return the digest of the module's own behavior, independent of comments and lines."""
        return str(self._facts_of(path)[2])

    def texts_digest(self, path: str) -> str:
        """Return the digest of the string constants of the module and of its dependencies."""
        if path not in self._texts:
            self._texts[path] = digest(
                str(self._facts_of(module)[3]) for module in sorted(self.dependencies(path))
            )
        return self._texts[path]

    def direct_imports(self, path: str) -> list[str]:
        """Return the modules that a module imports directly, with their packages."""
        if path not in self._direct:
            self._direct[path] = self._find_direct_imports(path)
        return self._direct[path]

    def _find_direct_imports(self, path: str) -> list[str]:
        imported, texts, *_ = self._facts_of(path)
        names = [*imported]
        for package in texts:
            prefix = f"{package}."
            if package in self._modules and not prefix.startswith(self._calculator_prefixes):
                names += [name for name in self._modules if name.startswith(prefix)]
        packages = {name.partition(".")[0] for name in names}
        bundled = {path for top in packages & set(self.groups) for path in self.groups[top]}
        dotted_names = {
            part for name in (*names, module_name(path)) for part in _with_packages(name)
        }
        own_modules = [
            self._modules[name] for name in sorted(dotted_names) if name in self._modules
        ]
        return [*own_modules, *sorted(bundled.difference(own_modules))]


def _with_dependents(changed: set[str], imports: ImportGraph) -> set[str]:
    """Return the changed modules and all modules that import them, directly or indirectly."""
    importers: dict[str, list[str]] = {}
    for path in imports.sources:
        for used in imports.direct_imports(path):
            importers.setdefault(used, []).append(path)
    affected, queue = set(changed), [*changed]
    while queue:
        unvisited = set(importers.get(queue.pop(), ())) - affected
        affected |= unvisited
        queue += unvisited
    return affected


def _load_facts(path: Path | None) -> FactsByDigest:
    try:
        loaded = json.loads(path.read_text("utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    is_valid = isinstance(loaded, dict) and all(len(facts) == 5 for facts in loaded.values())
    return loaded if is_valid else {}


def remember_facts(text: str, facts: ModuleFacts) -> None:
    """Store the facts of a module's text, so that this process does not parse it again."""
    _FACTS[digest((text,))] = facts


def imported_packages(facts: ModuleFacts) -> frozenset[str] | None:
    """Return the top-level packages that a module imports, None if it cannot be parsed."""
    names, _, behavior, texts, _ = facts
    return None if behavior == texts else frozenset(name.partition(".")[0] for name in names)


def module_facts(source: str) -> ModuleFacts:
    """Return the facts of a module's source text; see `ModuleFacts`."""
    names: dict[str, None] = {}
    try:
        tree = ast.parse(source)
        code = compile(tree, "", "exec", dont_inherit=True, optimize=0)
    except SyntaxError:  # of a package, in a Python newer than this one
        return [[], [], digest((source,)), digest((source,)), []]
    for node in statements(tree):
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            # `from a import b` imports a, and a.b where that is a module.
            names |= dict.fromkeys((module, *(f"{module}.{alias.name}" for alias in node.names)))
    texts = sorted(set(string_constants(code)))
    packages = [text for text in texts if _may_be_module_name(text)]
    return [[*names], packages, behavior_digest(code), digest(texts), _deferred_names(tree)]


def _deferred_names(tree: ast.Module) -> list[str]:
    """Return the modules that statements within functions import, and no others.

    The `a` of `from a import b`: a missing `a.b` would be no error of a missing module.
    """
    functions = [
        n for n in statements(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    inside = {statement for function in functions for statement in statements(function)}
    late, at_once = set[str](), set[str]()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            (late if node in inside else at_once).update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            (late if node in inside else at_once).add(node.module or "")
            at_once |= {f"{node.module}.{alias.name}" for alias in node.names}
    return sorted(late - at_once)


def _may_be_module_name(text: str) -> bool:
    return "." in text and text.replace(".", "_").isidentifier()


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def module_name(path: str) -> str:
    """Return the dotted name of a module's path."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


# Digests of compiled code that ignore comments, formatting and line numbers.


def behavior_digest(code: CodeType) -> str:
    """Return the digest of a code object's behavior, independent of line numbers."""
    return digest(_behavior_parts(code))


def string_constants(code: CodeType) -> Iterator[str]:
    """Yield the string constants of a code object, nested functions and classes included."""
    for constant in _constants(code):
        if isinstance(constant, str):
            yield constant


def _behavior_parts(code: CodeType) -> Iterator[str | bytes]:
    yield code.co_code
    yield code.co_exceptiontable
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    yield repr((code.co_qualname, counts, code.co_names, code.co_varnames))
    yield repr((code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _behavior_parts(constant)
        else:
            yield constant_text(constant)


def _constants(code: CodeType) -> Iterator[object]:
    stack = [*code.co_consts]
    while stack:
        constant = stack.pop()
        yield constant
        if isinstance(constant, CodeType):
            stack += constant.co_consts
        elif isinstance(constant, tuple):
            stack += constant
        elif isinstance(constant, frozenset):
            stack += sorted(constant, key=repr)


def constant_text(value: object) -> str:
    """Return the repr of a constant, identical in every process."""
    if isinstance(value, tuple):
        return f"({','.join(map(constant_text, value))})"
    if isinstance(value, frozenset):  # its order is another in another process
        return f"{{{','.join(sorted(map(constant_text, value)))}}}"
    return repr(value)
