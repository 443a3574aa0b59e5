"""Mixtures of experts: the room an expert has, and how much a router by chance overflows it."""

import math

from engine.basis.equation import Equation
from engine.basis.units import Count, Ratio, Share

_MEANING = {
    "C": ("C", "places of an expert"),
    "f": ("f", "capacity factor"),
    "T": ("T", "tokens"),
    "k": ("k", "experts of a token"),
    "E": ("E", "experts"),
    "p": ("p", "chance that a token chooses a given expert"),
    "d": ("d", "share of the choices that is dropped"),
    "e": ("e", "share of the places that stays empty"),
}
# Beyond so many standard deviations nothing is left of a binomial distribution.
_TAIL = 12.0

EXPERT_CAPACITY = Equation(
    name="expert_capacity",
    tex=r"\v{C} = \left\lceil \v{f}\,\frac{\v{T}\,\v{k}}{\v{E}} \right\rceil",
    symbols={key: _MEANING[key] for key in "CfTkE"},
    sources=("fedus2022",),
)


def expert_capacity(
    num_tokens: Count, num_experts: Count, experts_per_token: Count, capacity_factor: Ratio
) -> Count:
    """Return how many tokens an expert takes: its even share times the capacity factor.

    Source: Fedus et al. 2022, equation 3 (for one expert per token); rounded up as in Megatron.
    """
    even = num_tokens * experts_per_token / num_experts
    # 64 x 1 / 8 x 1.25 is 10, not 10.000000000000002, whatever the factor's last bit says.
    return math.ceil(even * capacity_factor - 1e-9)


DROPPED_SHARE = Equation(
    name="dropped_share",
    tex=(
        r"\v{d} = \frac{1}{\v{T}\,\v{p}} \sum_{x > \v{C}} (x - \v{C})"
        r"\binom{\v{T}}{x}\,\v{p}^x\,(1 - \v{p})^{\v{T} - x}"
    ),
    symbols={key: _MEANING[key] for key in "dTpC"},
    sources=("fedus2022",),
)


def dropped_share(capacity: Count, num_tokens: Count, chance: Share) -> Share:
    """Return the share of all choices that find their expert full, if tokens choose by chance.

    Each of the tokens chooses a given expert with `chance` = experts per token over experts,
    independently of the others: the expert is asked by a binomial number of tokens and drops what
    exceeds its capacity. Exact, and the same for all experts; derived for the capacity of Fedus et
    al. 2022. A router that has preferences drops more.
    """
    asked = num_tokens * chance
    if chance >= 1:
        return max(0.0, num_tokens - capacity) / num_tokens
    reach = math.ceil(asked + _TAIL * (math.sqrt(asked) + 1))
    log_of = math.log(chance / (1 - chance))
    # The probability of `capacity` tokens, then each next one from the one before.
    one = _log_binomial(num_tokens, capacity, chance) if capacity <= num_tokens else -math.inf
    over = 0.0
    for x in range(capacity + 1, min(num_tokens, max(reach, capacity + 1)) + 1):
        one += math.log((num_tokens - x + 1) / x) + log_of
        over += (x - capacity) * math.exp(one)
    return over / asked


EMPTY_SHARE = Equation(
    name="empty_share",
    tex=r"\v{e} = 1 - \frac{(1 - \v{d})\,\v{T}\,\v{k}}{\v{E}\,\v{C}}",
    symbols={key: _MEANING[key] for key in "edTkEC"},
    sources=("fedus2022",),
)


def empty_share(dropped: Share, capacity: Count, even: Ratio) -> Share:
    """Return the share of the experts' places that stays empty.

    Args:
        dropped: share of the choices.
        capacity: places of an expert.
        even: choices per expert.

    Derived from the capacity of Fedus et al. 2022: each choice that is kept fills one place.
    """
    return 1 - (1 - dropped) * even / capacity


def _log_binomial(number: Count, hits: Count, chance: Share) -> float:
    ways = math.lgamma(number + 1) - math.lgamma(hits + 1) - math.lgamma(number - hits + 1)
    return ways + hits * math.log(chance) + (number - hits) * math.log(1 - chance)
