"""What the axes of a parallel plan need of their wires, in closed form.

Letters: t tokens of a micro-batch on a rank, h hidden size, n ranks of the axis. How often a whole
step repeats it is for the caller to count.
"""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds, Tokens

HALF: Bytes = 2.0

TENSOR_LAYER_BYTES = Equation(
    name="tensor_layer_bytes",
    tex=r"\v{V} = \frac{\v{k}(\v{n}-1)}{\v{n}}\,\v{t}\,\v{h}\,\v{e}",
    symbols={
        "V": ("V", "sent by each GPU in a layer, forward and backward"),
        "k": ("k", "passes around the ring: 8, with sequence parallelism 10"),
        "n": ("n", "ranks of tensor parallelism"),
        "t": ("t", "tokens of a micro-batch"),
        "h": ("h", "hidden size"),
        "e": ("e", "bytes of an element"),
    },
    sources=("narayanan2021", "korthikanti2022"),
    title="Bytes of tensor parallelism in a layer",
)


def tensor_layer_bytes(tokens: Tokens, hidden_size: Count, ranks: Count, passes: Count) -> Bytes:
    """Return what a rank of tensor parallelism sends in a layer for one micro-batch.

    `passes` are those of `volumes.tensor_passes`, each (n - 1)/n of the hidden state: Narayanan et
    al. 2021, section 3.2; Korthikanti et al. 2022, section 4.2.2.
    """
    return passes * (ranks - 1) / ranks * tokens * hidden_size * HALF


STAGE_MESSAGE = Equation(
    name="stage_message",
    tex=r"\v{S} = \v{t}\,\v{h}\,\v{e}",
    symbols={
        "S": ("S", "activations at a boundary of stages, one way"),
        "t": TENSOR_LAYER_BYTES.symbols["t"],
        "h": TENSOR_LAYER_BYTES.symbols["h"],
        "e": TENSOR_LAYER_BYTES.symbols["e"],
    },
    sources=("narayanan2021",),
    title="Message between two pipeline stages",
)


def stage_message(tokens: Tokens, hidden_size: Count) -> Bytes:
    """Return what crosses a boundary of pipeline stages for one micro-batch, each way.

    All ranks of tensor parallelism together: Narayanan et al. 2021, section 3.2.
    """
    return tokens * hidden_size * HALF


LEAST_BANDWIDTH = Equation(
    name="axis_least_bandwidth",
    tex=r"\v{B} = \frac{\v{V}}{\v{Tc}}",
    symbols={
        "B": ("B", "least bandwidth of a GPU, one way"),
        "V": ("V", "sent by a GPU in a step, for this axis"),
        "Tc": (r"T_{\mathrm{comp}}", "computation of a GPU in a step"),
    },
    title="Bandwidth that an axis needs",
)


def least_bandwidth(sent: Bytes, computation: Seconds) -> Bandwidth:
    """Return the bandwidth at which sending takes as long as computing.

    With less no schedule can hide it; with more it may still have to be waited for.
    """
    return sent / computation


EXPOSED_RATIO = Equation(
    name="exposed_ratio",
    tex=r"\v{r} = \frac{\v{Te}}{\v{Tc}}",
    symbols={
        "r": ("r", "exposed communication over computation"),
        "Te": (r"T_{\mathrm{exposed}}", "communication that the step waits for"),
        "Tc": (r"T_{\mathrm{comp}}", "computation of the slowest stage"),
    },
    title="Exposed communication over computation",
)


def exposed_ratio(exposed: Seconds, computation: Seconds) -> Ratio:
    """Return exposed communication over computation; small is the goal."""
    return exposed / computation
