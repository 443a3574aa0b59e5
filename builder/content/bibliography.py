"""Bibliography: sources with the labels that citations show."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A source; `label` is its citation label, e.g. "Thakur et al. 2005".

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
    def sort_key(self) -> tuple[str, int, str, str]:
        """Sort key for lists of sources: suffix z comes before aa."""
        return self.label.removesuffix(self.letter).lower(), len(self.letter), self.letter, self.key


def parse_references(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Reference]:
    """Return key -> source from the tables of the bibliography file."""
    references = [_reference(key, entry) for key, entry in tables.items()]
    return {reference.key: reference for reference in _disambiguate(references)}


def _reference(key: str, entry: Mapping[str, Any]) -> Reference:
    author_field = entry.get("authors", [])
    authors = (
        [str(a) for a in author_field] if isinstance(author_field, list) else [str(author_field)]
    )
    year = str(entry["year"])
    return Reference(
        key=key,
        label=str(entry.get("label") or f"{_short_authors(authors) or entry['title']} {year}"),
        authors=", ".join(authors),
        year=year,
        title=str(entry["title"]),
        where=str(entry.get("where", "")),
        url=str(entry.get("url", "")),
        isbn=str(entry.get("isbn", "")),
        used_for=str(entry.get("used_for", "")),
    )


def _disambiguate(references: Sequence[Reference]) -> Iterator[Reference]:
    """Yield the sources; sources with the same label get letters in the order of the file.

    The letters hold for the whole bibliography, so that every page cites a source alike, and one
    that is added at the end of the file changes no letter.
    """
    label_counts = Counter(reference.label for reference in references)
    seen: Counter[str] = Counter()
    for reference in references:
        if label_counts[reference.label] == 1:
            yield reference
            continue
        letter = _letter_suffix(seen[reference.label])
        seen[reference.label] += 1
        label = reference.label if reference.label[-1:].isdigit() else f"{reference.label} "
        yield replace(reference, label=label + letter, letter=letter, year=reference.year + letter)


def _letter_suffix(number: int) -> str:
    """Return a to z for 0 to 25, then aa, ab and so on."""
    quotient, last = divmod(number, 26)
    return (_letter_suffix(quotient - 1) if quotient else "") + ascii_lowercase[last]


def _short_authors(authors: list[str]) -> str:
    # "Last, First" or "First Last"; a name that is neither has a `label` of its own in the file.
    last_names = [a.split(",")[0] if "," in a else a for a in authors]
    last_names = [
        a.split()[-1] if len(a.split()) in (2, 3) and a[-1].islower() else a for a in last_names
    ]
    # A list that ends with "and others" has more than two authors, however many it names.
    if len(last_names) > 2 or authors[-1:] == ["and others"]:
        return f"{last_names[0]} et al."
    return " and ".join(last_names)
