"""Mixtures of experts: the room an expert has, and how much a random router overflows it."""

import math

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Ratio, Share

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
    title="Capacity of an expert",
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
    title="Share of the choices that is dropped",
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
    log_chance = (
        _log_binomial(num_tokens, capacity, chance) if capacity <= num_tokens else -math.inf
    )
    over = 0.0
    for x in range(capacity + 1, min(num_tokens, max(reach, capacity + 1)) + 1):
        log_chance += math.log((num_tokens - x + 1) / x) + log_of
        over += (x - capacity) * math.exp(log_chance)
    return over / asked


EMPTY_SHARE = Equation(
    name="empty_share",
    tex=r"\v{e} = 1 - \frac{(1 - \v{d})\,\v{T}\,\v{k}}{\v{E}\,\v{C}}",
    symbols={key: _MEANING[key] for key in "edTkEC"},
    sources=("fedus2022",),
    title="Share of the experts' places that stays empty",
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


EXCHANGE_BYTES = Equation(
    name="exchange_bytes",
    tex=r"\v{S} = \v{T}\,\v{k}\,\v{h}\,(\v{d} + \v{c})\left(1 - \frac{1}{\v{r}}\right)",
    symbols={
        "S": ("S", "bytes that a GPU sends and gets back for a layer"),
        "T": ("T", "tokens of a GPU"),
        "k": ("k", "experts of a token"),
        "h": ("h", "hidden size"),
        "d": ("b_d", "bytes of an element on its way out"),
        "c": ("b_c", "bytes of an element on its way back"),
        "r": ("r", "ranks that share the experts"),
    },
    sources=("lepikhin2021",),
    title="Bytes of the exchange around the experts",
)


def exchange_bytes(tokens: Count, copies: Count, size: Bytes, ranks: Count) -> Bytes:
    """Return the bytes of all copies of a rank's tokens whose experts are on other ranks.

    `size` is that of one token. Source: the all-to-alls of Lepikhin et al. 2021, experts evenly
    used; copies for experts of the same rank are counted each.
    """
    return tokens * copies * size * (1 - 1 / ranks)


def hot_rank_load(hot: Ratio, num_experts: Count, ranks: Count) -> Ratio:
    """Return the load of the rank with a hot expert over the mean of all ranks.

    One expert is asked `hot` times the mean of all experts, the others share what is left evenly.
    Derived: a rank of E/r experts has (E/r - 1)(E - hot)/(E - 1) + hot, over E/r.
    """
    each = num_experts / ranks
    if num_experts == 1:
        return 1.0
    others = (each - 1) * (num_experts - hot) / (num_experts - 1)
    return (others + hot) / each


FOLDED_LEAST = Equation(
    name="folded_least",
    tex=r"\v{n} = \v{p}\,\v{l}",
    symbols={
        "n": ("n", "GPUs at least"),
        "p": ("p", "pipeline stages"),
        "l": ("l", "ranks of a stage, the least common multiple of TP × CP and EP × ETP"),
    },
    sources=("megatron_moe",),
    title="Fewest GPUs, experts folded over the other axes",
)


def folded_least(pipeline: Count, dense: Count, sparse: Count) -> Count:
    """Return the fewest GPUs of a plan whose experts reuse all ranks of a stage.

    `dense` is tensor times context parallel ranks, `sparse` expert times expert tensor parallel
    ranks; both have to divide a stage. Source: Megatron Core's parallel folding.
    """
    return pipeline * math.lcm(dense, sparse)


WITHIN_LEAST = Equation(
    name="within_least",
    tex=r"\v{m} = \v{p}\,\v{t}\,\v{c}\,\v{e}",
    symbols={
        "m": ("m", "GPUs at least"),
        "p": FOLDED_LEAST.symbols["p"],
        "t": ("t", "tensor-parallel ranks"),
        "c": ("c", "context-parallel ranks"),
        "e": ("e", "expert-parallel ranks"),
    },
    sources=("deepspeed_moe",),
    title="Fewest GPUs, experts within data parallelism",
)


def within_least(pipeline: Count, dense: Count, expert: Count) -> Count:
    """Return the fewest GPUs of a plan whose expert groups lie inside the data-parallel ranks.

    Source: DeepSpeed's process groups; Megatron before parallel folding.
    """
    return pipeline * dense * expert


def _log_binomial(number: Count, hits: Count, chance: Share) -> float:
    ways = math.lgamma(number + 1) - math.lgamma(hits + 1) - math.lgamma(number - hits + 1)
    return ways + hits * math.log(chance) + (number - hits) * math.log(1 - chance)
