"""Published balance of routers: imbalance and perplexity, with a loss and with biases."""

from dataclasses import dataclass

from engine.core.units import Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedRouter:
    """A trained model and how its router was balanced.

    Attributes:
        model: by its size.
        how: "loss" (auxiliary loss) or "bias" (biases alone).
        perplexity: on held-out text.
        violation: the most that an expert is asked over the mean, less 1, over all of that text,
            as a mean of the layers ("MaxVio global").
    """

    model: str
    how: str
    perplexity: Ratio
    violation: Ratio


SOURCE = "wang2024"
# Table 2: 64 experts and 6 per token, 100 and 200 billion tokens; auxiliary loss of 0.001, biases
# moved by 0.001.
BALANCED = (
    BalancedRouter(model="1B", how="loss", perplexity=9.56, violation=0.72),
    BalancedRouter(model="1B", how="bias", perplexity=9.50, violation=0.04),
    BalancedRouter(model="3B", how="loss", perplexity=7.97, violation=0.52),
    BalancedRouter(model="3B", how="bias", perplexity=7.92, violation=0.04),
)
