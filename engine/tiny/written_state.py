"""A layer with a state: what it holds after each token, beside what attention keeps.

A key is a unit vector of two numbers, a value is one number, so that the state is two numbers.
Written by the gated delta rule, S <- a S + b (v - a S k) k^T (Yang et al. 2024, equation 10), by a
plain sum, S <- S + v k^T (Katharopoulos et al. 2020), or by a sum that fades, S <- a S + v k^T
(Mamba-2, with one decay for all).
"""

from dataclasses import dataclass
from typing import Literal

Rule = Literal["delta", "sum", "fading"]
State = tuple[float, float]

KEYS: dict[str, State] = {
    "Ann": (1.0, 0.0),
    "Bob": (0.0, 1.0),
    "Cid": (0.6, 0.8),
}
TOKENS: tuple[tuple[str, int], ...] = (
    ("Ann", 3),
    ("Bob", 5),
    ("Ann", 7),
    ("Bob", 2),
    ("Cid", 10),
    ("Bob", 4),
)
FADING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """State after a token, and what it answers for each key."""

    state: State
    answers: dict[str, float]


def read(state: State, key: State) -> float:
    """Return the value that a state holds for a key: S k."""
    return state[0] * key[0] + state[1] * key[1]


def write(state: State, key: State, value: float, rule: Rule) -> State:
    """Return the state after one token."""
    kept = FADING if rule == "fading" else 1.0
    faded = kept * state[0], kept * state[1]
    new = value - read(faded, key) if rule == "delta" else value
    return faded[0] + new * key[0], faded[1] + new * key[1]


def written_states(
    rule: Rule,
    tokens: tuple[tuple[str, int], ...] = TOKENS,
    start: State = (0.0, 0.0),
) -> tuple[Written, ...]:
    """Return the state after each token."""
    states, state = [], start
    for name, value in tokens:
        state = write(state, KEYS[name], value, rule)
        answers = {other: read(state, key) for other, key in KEYS.items()}
        states.append(Written(state=state, answers=answers))
    return tuple(states)


def seen_values(name: str, last: int, window: int) -> tuple[int, ...]:
    """Return the values of a key that attention still sees after token `last`; window 0: all."""
    first = max(0, last + 1 - window) if window else 0
    return tuple(value for other, value in TOKENS[first : last + 1] if other == name)
