"""A memory of what was made, so that a build makes again only what changed."""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from builder.core.folders import Folders, seal, sealed

Made = TypeVar("Made")
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


class Memo:
    """Name -> (key, value): the value is made again when its key, a digest, is another.

    Values are kept as bytes and read when they are asked for: what another state of our code made
    is never read by this one.
    """

    def __init__(self, kept: Mapping[str, tuple[str, bytes]] | None = None) -> None:
        self._kept = dict(kept or {})
        self._values: dict[str, Any] = {}
        self._used: set[str] = set()
        self._standing: dict[str, tuple[str, Any, frozenset[str]]] = {}
        self._stood: set[str] = set()
        self._below: set[str] = set()  # what that is made of
        self.made: list[str] = []

    def get(self, name: str, key: str, make: Callable[[], Made]) -> Made:
        """Return the value of `name`, made now unless it is known for this key."""
        self._used.add(name)
        known = self._kept.get(name)
        if known is not None and known[0] == key:
            try:
                if name not in self._values:
                    self._values[name] = pickle.loads(known[1])
                value: Made = self._values[name]
                return value
            except UNREADABLE:
                pass  # damaged: made again
        value = make()
        self._kept[name] = (key, pickle.dumps(value))
        self._values[name] = value
        self.made.append(name)
        return value

    def has(self, name: str, key: str) -> bool:
        """Say whether the value of `name` is known for this key."""
        return name in self._kept and self._kept[name][0] == key

    def last(self, name: str, key: str) -> str:
        """Return the key under which `name` was last made, `key` where it never was."""
        return self._kept[name][0] if name in self._kept else key

    def many(
        self, keys: Mapping[str, str], make: Callable[[list[str]], Sequence[Made]]
    ) -> dict[str, Made]:
        """Return name -> value of many; `make` makes all that are new in one call, in order."""
        new = [name for name, key in keys.items() if not self.has(name, key)]
        made = dict(zip(new, make(new), strict=True)) if new else {}

        def one(name: str) -> Made:  # one that is damaged is made alone
            return made[name] if name in made else make([name])[0]

        return {name: self.get(name, key, partial(one, name)) for name, key in keys.items()}

    def key(self, name: str) -> str:
        """Return the key of a value that this build has asked for."""
        return self._kept[name][0]

    def standing(self, name: str, key: str) -> Any:  # noqa: ANN401 (whatever was left)
        """Return what an earlier build of this process left under this key, None if nothing.

        What it was made of is kept with it.
        """
        known = self._standing.get(name)
        if known is None or known[0] != key:
            return None
        self._stood.add(name)
        self._below |= known[2]
        return known[1]

    def leave(self, name: str, key: str, value: object, made_of: Iterable[str]) -> None:
        """Leave a value for the next build of this process, as it is.

        Args:
            name: of the value.
            key: digest of all that it depends on.
            value: what is left.
            made_of: names of values of this memory.
        """
        self._standing[name] = (key, value, frozenset(made_of))
        self._stood.add(name)

    def next(self) -> "Memo":
        """Return the memory for the next build: what this one used."""
        after = Memo(self.kept())
        after._values = {name: self._values[name] for name in self._used & set(self._values)}
        after._standing = {name: self._standing[name] for name in self._stood}
        return after

    def kept(self) -> dict[str, tuple[str, bytes]]:
        """Return what this build used, as it outlives the code that made it.

        What was asked for and could not be made is not there.
        """
        return {n: self._kept[n] for n in self._used | self._below if n in self._kept}

    def break_off(self) -> None:
        """Keep all that was known: a build that found a problem did not come to ask for it."""
        self._used |= self._kept.keys()
        self._stood |= self._standing.keys()

    def save(self, path: Path) -> None:
        """Keep what this build used."""
        seal(path, pickle.dumps(self.kept()))


def place(folders: Folders) -> Path:
    """Return where a build leaves its memory."""
    return folders.cache / "memory.pickle"


def load(path: Path) -> Memo:
    """Return the memory kept in a file, an empty one if there is none or it cannot be read."""
    try:
        found = pickle.loads(sealed(path) or b"")
    except UNREADABLE:
        return Memo()
    return Memo(found) if isinstance(found, dict) else Memo()
