"""From how many tokens per GPU on a fully sharded step computes longer than it communicates."""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Operations, Share, Tokens

# Of a parameter: gathered in bf16; a multiply and an add with each token.
_GATHERED: Bytes = 2.0
_COMPUTED: Operations = 2.0

CRITICAL_TOKENS = Equation(
    name="critical_tokens",
    tex=r"\v{t} = \frac{\v{u}\,\v{F}}{\v{k}\,\v{B}}",
    symbols={
        "t": ("t", "tokens per GPU and micro-batch"),
        "u": ("u", "share of the peak that is reached (MFU)"),
        "F": ("F", "peak of the GPU"),
        "k": ("k", "network ports of a node"),
        "B": ("B", "bandwidth of a port, one way"),
    },
    sources=("scaling_book",),
    title="Tokens per GPU at which the network keeps up",
)


def critical_tokens(utilization: Share, peak: FlopRate, ports: Count, port: Bandwidth) -> Tokens:
    """Return the tokens at which gathering the parameters takes as long as the forward pass.

    A ring of all GPUs enters and leaves every node once, so all 2 bytes of each parameter pass
    the ports of a node; each GPU computes 2 operations per parameter and token meanwhile. Both
    twos cancel. The backward pass computes twice as much and moves twice as much: a gather and a
    reduce-scatter. Source: Scaling Book 2025, GPU chapter. Limit: bf16, (n - 1)/n taken as 1, all
    GPUs of a node in the group, more than one node.
    """
    return _GATHERED * utilization * peak / (_COMPUTED * ports * port)
