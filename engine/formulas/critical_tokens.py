"""From how many tokens per GPU on a fully sharded step computes longer than it communicates."""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Operations, Share, Tokens

# Of a parameter: gathered in bf16; with each token, two multiplies and two adds backward.
_GATHERED: Bytes = 2.0
_COMPUTED: Operations = 4.0

CRITICAL_TOKENS = Equation(
    name="critical_tokens",
    tex=r"\v{t} = \frac{2 + \v{b}}{4}\,\frac{\v{u}\,\v{F}}{\v{k}\,\v{B}}",
    symbols={
        "t": ("t", "tokens per GPU and micro-batch"),
        "b": ("b", "bytes of a gradient on the wire"),
        "u": ("u", "share of the peak that is reached (MFU)"),
        "F": ("F", "peak of the GPU"),
        "k": ("k", "network ports of a node"),
        "B": ("B", "bandwidth of a port, one way"),
    },
    sources=("scaling_book",),
    title="Tokens per GPU at which the network keeps up",
)


def critical_tokens(
    utilization: Share, peak: FlopRate, ports: Count, port: Bandwidth, gradient: Bytes = 2.0
) -> Tokens:
    """Return the tokens at which the backward pass takes as long as its gather and its reduction.

    A ring of all GPUs enters and leaves every node once, so that all 2 bytes of each parameter, and
    all b of each gradient, pass the ports of a node; each GPU computes 4 operations per parameter
    and token meanwhile. uF/kB for gradients in 16 bits, 1.5 times that in fp32. The forward pass,
    with 2 operations beside one gather, needs uF/kB. Source: Scaling Book 2025, GPU chapter, for
    16 bits. Limit: (n - 1)/n taken as 1, all GPUs of a node in the group, more than one node,
    gradients of 2 bytes or more.
    """
    return (_GATHERED + gradient) / _COMPUTED * utilization * peak / (ports * port)
