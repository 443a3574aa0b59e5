"""Whether a trace can be of the job that it is set beside: its GPU and its number of ranks."""

import re
from collections.abc import Iterable

from engine.core.units import Count
from engine.run.traces.document import RankTrace

# What tells one GPU from another in the names that drivers and makers write.
_CHIP = re.compile(
    r"\b(?:GB10|G[BH]\d00|VR200|[ABHV]\d{2,3}|L40S?|L4|T4|MI\d{3}[XA]?|RTX (?:PRO )?\w+)\b", re.I
)
_CARD = re.compile(r"PCIe|NVL\b", re.I)


def chip_of(name: str) -> str:
    """Return the chip that a GPU's name names, and its card; empty if it is not known."""
    chip, card = _CHIP.search(name), _CARD.search(name)
    words = (match[0].upper() for match in (chip, card) if match)
    return " ".join(words) if chip else ""


def traced_gpus(ranks: Iterable[RankTrace]) -> tuple[str, ...]:
    """Return the names of the GPUs of a trace, each once; none where no file names one."""
    return tuple(dict.fromkeys(rank.gpu for rank in ranks if rank.gpu))


def is_of_another_gpu(names: Iterable[str], gpu: str) -> bool:
    """Return whether a trace names a GPU that is not the one of a job."""
    asked = chip_of(gpu)
    chips = {chip_of(name) for name in names}
    return bool(chips) and (not asked or chips != {asked})


def is_of_other_ranks(ranks: Iterable[RankTrace], world_size: Count) -> bool:
    """Return whether a trace names a number of ranks that is not that of a job."""
    return any(rank.world_size not in (0, world_size) for rank in ranks)
