"""A whole job's speed, and what its tokens cost while steps run."""

from engine.core.equation import Equation
from engine.core.units import Count, Money, Price, Seconds, TokenRate, Tokens

RATE = Equation(
    name="job_token_rate",
    tex=r"\v{R} = \frac{\v{B}\,\v{s}}{\v{T}}",
    symbols={
        "R": ("R", "tokens per second of all GPUs"),
        "B": ("B", "sequences in a step"),
        "s": ("s", "tokens in a sequence"),
        "T": (r"T_{\mathrm{step}}", "step"),
    },
    title="Tokens per second of a job",
)


def token_rate(global_batch_size: Count, sequence_length: Tokens, step: Seconds) -> TokenRate:
    """Return the tokens per second of all GPUs, while steps run."""
    return global_batch_size * sequence_length / step


def time_of_steps(
    tokens: Tokens, global_batch_size: Count, sequence_length: Tokens, step: Seconds
) -> Seconds:
    """Return the time of the steps of a job: no failure, no checkpoint."""
    return tokens / (global_batch_size * sequence_length) * step


COST = Equation(
    name="job_cost_of_tokens",
    tex=r"\v{K} = \frac{\v{D}\,\v{n}\,\v{p}}{\v{R}}",
    symbols={
        "K": ("K", "cost"),
        "D": ("D", "tokens"),
        "n": ("n", "GPUs"),
        "p": ("p", "price of a GPU"),
        "R": ("R", "tokens per second of all GPUs"),
    },
    title="Cost of a number of tokens",
)


def cost_of_tokens(tokens: Tokens, num_gpus: Count, price: Price, rate: TokenRate) -> Money:
    """Return what so many tokens cost while steps run: no failure, no checkpoint."""
    return tokens * num_gpus * price / rate
