"""Muon over several ranks: operations of Newton-Schulz, bytes of bringing a matrix together.

Letters: a matrix has m rows and n columns, the smaller of them m; P parameters in all matrices, N
ranks, e bytes of an element, S steps of Newton-Schulz.
"""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Operations, Parameters, Ratio, Share, Tokens

_MULTIPLY_ADD: Operations = 2.0
_SYMBOLS = {
    "F": ("F", "operations of Newton-Schulz on one matrix"),
    "S": ("S", "steps of Newton-Schulz"),
    "m": ("m", "smaller side of the matrix"),
    "n": ("n", "larger side"),
    "x": ("x", "operations beside those of the model, at most"),
    "B": ("B", "tokens of the step"),
    "G": ("G", "sent by each GPU, every matrix gathered on all"),
    "A": ("A", "sent by each GPU, every matrix gathered on one and sent back"),
    "P": ("P", "parameters in matrices"),
    "N": ("N", "GPUs that share the optimizer states"),
    "e": ("e", "bytes of an element"),
}


def _symbols(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys}


NEWTON_SCHULZ = Equation(
    name="newton_schulz_operations",
    tex=r"\v{F} = 2\,\v{S}\,(2\,\v{m}^2\,\v{n} + \v{m}^3)",
    symbols=_symbols("FSmn"),
    sources=("jordan2024",),
    title="Operations of Newton-Schulz",
)


def newton_schulz_operations(rows: Count, columns: Count, steps: Count) -> Operations:
    """Return the operations of Newton-Schulz on one matrix: three products in every step.

    X X^T and the last product have 2 m^2 n operations each, the square of X X^T has 2 m^3.

    Source: Jordan et al. 2024 ("2(2nm^2 + m^3) matmul FLOPs"). No symmetry is used.
    """
    small, large = min(rows, columns), max(rows, columns)
    return _MULTIPLY_ADD * steps * (2 * small**2 * large + small**3)


OVERHEAD = Equation(
    name="muon_overhead",
    tex=r"\v{x} = \frac{\v{S}\,\v{m}}{\v{B}}",
    symbols=_symbols("xSmB"),
    sources=("jordan2024",),
    title="Cost of Newton-Schulz in Muon, at most",
)


def muon_overhead(steps: Count, small_side: Count, tokens: Tokens) -> Share:
    """Return the operations of Newton-Schulz over those of the model, at most.

    A square matrix takes 6 m^3 in a step, its forward and backward products 6 m^2 per token.

    Source: Jordan et al. 2024 (Tm/B). For the whole batch, orthogonalized once in the whole job.
    """
    return steps * small_side / tokens


GATHERED = Equation(
    name="muon_gathered",
    tex=r"\v{G} = \frac{\v{N}-1}{\v{N}}\,\v{P}\,\v{e}",
    symbols=_symbols("GNPe"),
    sources=("moonlight2025",),
    title="Muon, gathered on all GPUs",
)


def muon_gathered(parameters: Parameters, ranks: Count, element: Bytes) -> Bytes:
    """Return what a GPU sends so that every GPU has every matrix whole: a ring all-gather.

    Source: Moonlight 2025, algorithm 1 (its gather is an all-gather, Moonlight's issue 45).
    """
    return (ranks - 1) / ranks * parameters * element


EXCHANGED = Equation(
    name="muon_exchanged",
    tex=r"\v{A} = \frac{2(\v{N}-1)}{\v{N}^2}\,\v{P}\,\v{e}",
    symbols=_symbols("ANPe"),
    sources=("megatron6676", "dion2025"),
    title="Muon, gathered on one GPU",
)


def muon_exchanged(parameters: Parameters, ranks: Count, element: Bytes) -> Bytes:
    """Return what a GPU sends so that each matrix is whole on one GPU, and back again.

    A GPU keeps P/N numbers and sends all but its own part of them to the owners: an all-to-all;
    the updates take the same way back.

    Source: derived; Megatron-LM's issue 6676, Ahn et al. 2025 (Dion). Limit: owners hold equal
    parts.
    """
    return 2 * (ranks - 1) / ranks**2 * parameters * element


def shampoo_bytes(rows: Count, columns: Count) -> Ratio:
    """Return the bytes that Shampoo keeps per parameter of a matrix, beside its copy and momentum.

    Two squares of the sides m and n, and a root of each, in single precision.

    Source: Gupta et al. 2018; Anil et al. 2020 keep the roots between their updates.
    """
    return 2 * 4.0 * (rows**2 + columns**2) / (rows * columns)
