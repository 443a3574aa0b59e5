"""The sources of the bibliography, each with the label by which a text cites it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A source: `label` is how the text cites it, e.g. "Thakur et al. 2005".

    Where several have one label, `letter` tells them apart, in `label` and in `year`: "2005b".
    `used_for` says in a sentence what was taken from it. What is only printed has an `isbn` and no
    `url`.
    """

    key: str
    label: str
    letter: str = ""
    authors: str
    year: str
    title: str
    where: str
    url: str
    isbn: str
    used_for: str

    @property
    def place(self) -> tuple[str, int, str, str]:
        """What a list of sources is sorted by: z stands before aa."""
        return self.label.removesuffix(self.letter).lower(), len(self.letter), self.letter, self.key


def references_of(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Reference]:
    """Return the sources by key, from the tables of the bibliography's file."""
    found = [_reference(key, entry) for key, entry in tables.items()]
    return {one.key: one for one in _told_apart(found)}


def _reference(key: str, entry: Mapping[str, Any]) -> Reference:
    given = entry.get("authors", [])
    authors = [str(a) for a in given] if isinstance(given, list) else [str(given)]
    year = str(entry["year"])
    return Reference(
        key=key,
        label=str(entry.get("label") or f"{_short(authors) or entry['title']} {year}"),
        authors=", ".join(authors),
        year=year,
        title=str(entry["title"]),
        where=str(entry.get("where", "")),
        url=str(entry.get("url", "")),
        isbn=str(entry.get("isbn", "")),
        used_for=str(entry.get("used_for", "")),
    )


def _told_apart(references: Sequence[Reference]) -> Iterator[Reference]:
    """Yield the sources; of several with one label each has a letter, in the order of the file.

    The letters hold for the whole bibliography, so that every page cites a source alike, and one
    that is added at the end of the file changes no letter.
    """
    sharing = Counter(one.label for one in references)
    before: Counter[str] = Counter()
    for one in references:
        if sharing[one.label] == 1:
            yield one
            continue
        letter = _letter(before[one.label])
        before[one.label] += 1
        label = one.label if one.label[-1:].isdigit() else f"{one.label} "
        yield replace(one, label=label + letter, letter=letter, year=one.year + letter)


def _letter(number: int) -> str:
    """Return a to z for 0 to 25, then aa, ab and so on."""
    before, last = divmod(number, 26)
    return (_letter(before - 1) if before else "") + ascii_lowercase[last]


def _short(authors: list[str]) -> str:
    # "Last, First" or "First Last"; a name that is neither has a `label` of its own in the file.
    last = [a.split(",")[0] if "," in a else a for a in authors]
    last = [a.split()[-1] if len(a.split()) in (2, 3) and a[-1].islower() else a for a in last]
    # A list that ends with "and others" has more than two authors, however many it names.
    if len(last) > 2 or authors[-1:] == ["and others"]:
        return f"{last[0]} et al."
    return " and ".join(last)
