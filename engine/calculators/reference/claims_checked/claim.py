"""A checked claim: the printed number, the correct number, and the reason they differ."""

from dataclasses import dataclass

from engine.core.text import Text

VERDICTS = {
    "right": "right",
    "condition": "conditional",
    "misleading": "misleading",
    "wrong": "wrong",
    "unsourced": "no evidence",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A widely published number or statement, and the engine's answer.

    Attributes:
        key: the row of the list of claims, e.g. "E3.2".
        said: what it is about, in our words.
        printed: the published digits, computed by the published arithmetic; or the statement.
        right: what the engine computes.
        verdict: a key of VERDICTS.
        why: where the difference comes from.
        sources: keys of the bibliography: where it stands, and what it was checked against.
    """

    key: str
    said: str
    printed: Text
    right: Text
    verdict: str
    why: Text
    sources: tuple[str, ...]
