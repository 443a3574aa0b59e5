"""Build cache: results keyed by digests of their inputs, so only changed results are recomputed.

One file, `memory.pickle`, holds all that belongs to one project: articles, formulas, numbers,
calculators, drawings, pages. What a build did not use is not written again, so nothing piles up.
Beside it in `.cache` lies what this file cannot hold:

- `built`: by output folder, what went in and what came out. It says that nothing changed before
  the file above, a hundred megabytes, is read.
- `runtime`, `templates`, `charts`, `facts.json`: made from Pyodide, the theme, Bokeh and the text
  of a module alone, whatever the project. They lie in the generator's `.cache`, which its projects
  share and which their builds may write at the same time; so each is a file by its content.
- `wheels`, `wheels-here`: what pip fetched and unpacked, read as files.
"""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from builder.core.folders import Folders, read_checksummed, write_checksummed

Value = TypeVar("Value")
UNREADABLE = (
    pickle.UnpicklingError,
    EOFError,
    AttributeError,
    ImportError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
)


class BuildCache:
    """Values by name, each with a key (a digest); a value is recomputed when its key changes.

    Values are kept as pickles and loaded on first use, so values computed by other versions of our
    code are never loaded.
    """

    def __init__(self, entries: Mapping[str, tuple[str, bytes]] | None = None) -> None:
        self._entries = dict(entries or {})
        self._values: dict[str, Any] = {}
        self._used: set[str] = set()
        self._process_values: dict[str, tuple[str, Any, frozenset[str]]] = {}
        self._used_process_values: set[str] = set()
        self._dependencies: set[str] = set()  # of the used process values
        self.computed: list[str] = []

    def get(self, name: str, key: str, compute: Callable[[], Value]) -> Value:
        """Return the value of `name`, computed now unless it is cached under this key."""
        self._used.add(name)
        entry = self._entries.get(name)
        if entry is not None and entry[0] == key:
            try:
                if name not in self._values:
                    self._values[name] = pickle.loads(entry[1])
                value: Value = self._values[name]
                return value
            except UNREADABLE:
                pass  # damaged: computed again
        value = compute()
        self._entries[name] = (key, pickle.dumps(value))
        self._values[name] = value
        self.computed.append(name)
        return value

    def has(self, name: str, key: str) -> bool:
        """Return whether the value of `name` is cached under this key."""
        return name in self._entries and self._entries[name][0] == key

    def last_key(self, name: str, key: str) -> str:
        """Return the key under which `name` was last computed, `key` if it never was."""
        return self._entries[name][0] if name in self._entries else key

    def get_many(
        self, keys: Mapping[str, str], compute_many: Callable[[list[str]], Sequence[Value]]
    ) -> dict[str, Value]:
        """Return name -> value; one call of `compute_many` computes the missing values in order."""
        new_names = [name for name, key in keys.items() if not self.has(name, key)]
        computed = dict(zip(new_names, compute_many(new_names), strict=True)) if new_names else {}

        def compute(name: str) -> Value:  # a damaged entry is computed alone
            return computed[name] if name in computed else compute_many([name])[0]

        return {name: self.get(name, key, partial(compute, name)) for name, key in keys.items()}

    def key_of(self, name: str) -> str:
        """Return the key of a value that this build has used."""
        return self._entries[name][0]

    def get_from_process(self, name: str, key: str) -> Any:  # noqa: ANN401 (whatever was kept)
        """Return the value that an earlier build of this process kept under this key, else None.

        Its dependencies are kept with it.
        """
        entry = self._process_values.get(name)
        if entry is None or entry[0] != key:
            return None
        self._used_process_values.add(name)
        self._dependencies |= entry[2]
        return entry[1]

    def keep_in_process(
        self, name: str, key: str, value: object, depends_on: Iterable[str]
    ) -> None:
        """Keep a value, unpickled, for the next build of this process.

        Args:
            name: of the value.
            key: digest of all that it depends on.
            value: the value to keep.
            depends_on: names of cache entries that the value was computed from.
        """
        self._process_values[name] = (key, value, frozenset(depends_on))
        self._used_process_values.add(name)

    def for_next_build(self) -> "BuildCache":
        """Return the cache for the next build: the entries that this build used."""
        cache = BuildCache(self.entries())
        cache._values = {name: self._values[name] for name in self._used & set(self._values)}
        cache._process_values = {
            name: self._process_values[name] for name in self._used_process_values
        }
        return cache

    def entries(self) -> dict[str, tuple[str, bytes]]:
        """Return the pickled entries that this build used: name -> (key, bytes).

        Values that could not be computed are not included.
        """
        return {n: self._entries[n] for n in self._used | self._dependencies if n in self._entries}

    def keep_all_entries(self) -> None:
        """Keep all entries: a build that failed early did not get to use them."""
        self._used |= self._entries.keys()
        self._used_process_values |= self._process_values.keys()

    def save(self, path: Path) -> None:
        """Write the entries that this build used to a file."""
        write_checksummed(path, pickle.dumps(self.entries()))


def cache_file(folders: Folders) -> Path:
    """Return the path of a project's cache file."""
    return folders.cache / "memory.pickle"


def load(path: Path) -> BuildCache:
    """Return the cache saved in a file, an empty cache if the file is missing or unreadable."""
    try:
        entries = pickle.loads(read_checksummed(path) or b"")
    except UNREADABLE:
        return BuildCache()
    return BuildCache(entries) if isinstance(entries, dict) else BuildCache()
