"""Throughput and MFU that projects report of their own training."""

from dataclasses import dataclass

from engine.core.units import Share, TokenRate, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedMfu:
    """One line of a published table.

    Attributes:
        name: what was trained, on what.
        gpu: key of `ACCELERATORS`.
        model: key of `MODELS`.
        sequence_length: tokens of a sequence.
        precision: of the matrix products.
        rate: tokens per second per GPU, as printed.
        mfu: as printed.
        source: key of the bibliography.
    """

    name: str
    gpu: str
    model: str
    sequence_length: Tokens
    precision: str
    rate: TokenRate
    mfu: Share
    source: str


def _line(
    name: str, shape: tuple[str, str, Tokens, str], printed: tuple[TokenRate, Share], source: str
) -> PrintedMfu:
    gpu, model, length, precision = shape
    return PrintedMfu(
        name=name,
        gpu=gpu,
        model=model,
        sequence_length=length,
        precision=precision,
        rate=printed[0],
        mfu=printed[1],
        source=source,
    )


_A100, _H100 = "A100-SXM-80GB", "H100-SXM"
PRINTED: tuple[PrintedMfu, ...] = (
    _line(
        "torchtitan: Llama 3.1 8B on 64 A100",
        (_A100, "llama-3-8b", 8192, "bf16"),
        (2904, 0.568),
        "torchtitan_performance",
    ),
    _line(
        "torchtitan: Llama 3.1 405B on 128 H100",
        (_H100, "llama-3-405b", 8192, "bf16"),
        (109, 0.29),
        "torchtitan_performance",
    ),
    _line(
        "torchtitan: the same in fp8",
        (_H100, "llama-3-405b", 8192, "fp8"),
        (177, 0.2346),
        "torchtitan_performance",
    ),
    _line(
        "FMS: Llama 2 7B on 128 A100, compiled",
        (_A100, "llama-2-7b", 4096, "bf16"),
        (4550, 0.68),
        "fms_fsdp",
    ),
    _line(
        "NVIDIA: Llama 3.1 8B on 32 H100",
        (_H100, "llama-3-8b", 8192, "bf16"),
        (10_639, 0.6221),
        "nvidia_dgxc",
    ),
)
