"""A memory of what was made, so that a build makes again only what changed."""

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
    """Name -> (key, value): the value is made again when its key, a digest, is another.

    Values are kept as bytes and read when they are asked for: what another state of our code made
    is never read by this one.
    """

    def __init__(self, entries: Mapping[str, tuple[str, bytes]] | None = None) -> None:
        self._entries = dict(entries or {})
        self._values: dict[str, Any] = {}
        self._used: set[str] = set()
        self._process_values: dict[str, tuple[str, Any, frozenset[str]]] = {}
        self._used_process_values: set[str] = set()
        self._dependencies: set[str] = set()  # what that is made of
        self.computed: list[str] = []

    def get(self, name: str, key: str, compute: Callable[[], Value]) -> Value:
        """Return the value of `name`, made now unless it is known for this key."""
        self._used.add(name)
        entry = self._entries.get(name)
        if entry is not None and entry[0] == key:
            try:
                if name not in self._values:
                    self._values[name] = pickle.loads(entry[1])
                value: Value = self._values[name]
                return value
            except UNREADABLE:
                pass  # damaged: made again
        value = compute()
        self._entries[name] = (key, pickle.dumps(value))
        self._values[name] = value
        self.computed.append(name)
        return value

    def has(self, name: str, key: str) -> bool:
        """Say whether the value of `name` is known for this key."""
        return name in self._entries and self._entries[name][0] == key

    def last_key(self, name: str, key: str) -> str:
        """Return the key under which `name` was last made, `key` where it never was."""
        return self._entries[name][0] if name in self._entries else key

    def get_many(
        self, keys: Mapping[str, str], compute_many: Callable[[list[str]], Sequence[Value]]
    ) -> dict[str, Value]:
        """Return name -> value of many; `compute_many` makes all that are new in one call, in order."""
        new_names = [name for name, key in keys.items() if not self.has(name, key)]
        computed = dict(zip(new_names, compute_many(new_names), strict=True)) if new_names else {}

        def one(name: str) -> Value:  # one that is damaged is made alone
            return computed[name] if name in computed else compute_many([name])[0]

        return {name: self.get(name, key, partial(one, name)) for name, key in keys.items()}

    def key_of(self, name: str) -> str:
        """Return the key of a value that this build has asked for."""
        return self._entries[name][0]

    def get_from_process(self, name: str, key: str) -> Any:  # noqa: ANN401 (whatever was left)
        """Return what an earlier build of this process left under this key, None if nothing.

        What it was made of is kept with it.
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
        """Leave a value for the next build of this process, as it is.

        Args:
            name: of the value.
            key: digest of all that it depends on.
            value: what is left.
            depends_on: names of values of this memory.
        """
        self._process_values[name] = (key, value, frozenset(depends_on))
        self._used_process_values.add(name)

    def for_next_build(self) -> "BuildCache":
        """Return the memory for the next build: what this one used."""
        cache = BuildCache(self.entries())
        cache._values = {name: self._values[name] for name in self._used & set(self._values)}
        cache._process_values = {
            name: self._process_values[name] for name in self._used_process_values
        }
        return cache

    def entries(self) -> dict[str, tuple[str, bytes]]:
        """Return what this build used, as it outlives the code that made it.

        What was asked for and could not be made is not there.
        """
        return {n: self._entries[n] for n in self._used | self._dependencies if n in self._entries}

    def keep_all_entries(self) -> None:
        """Keep all that was known: a build that found a problem did not come to ask for it."""
        self._used |= self._entries.keys()
        self._used_process_values |= self._process_values.keys()

    def save(self, path: Path) -> None:
        """Keep what this build used."""
        write_checksummed(path, pickle.dumps(self.entries()))


def cache_file(folders: Folders) -> Path:
    """Return where a build leaves its memory."""
    return folders.cache / "memory.pickle"


def load(path: Path) -> BuildCache:
    """Return the memory kept in a file, an empty one if there is none or it cannot be read."""
    try:
        entries = pickle.loads(read_checksummed(path) or b"")
    except UNREADABLE:
        return BuildCache()
    return BuildCache(entries) if isinstance(entries, dict) else BuildCache()
