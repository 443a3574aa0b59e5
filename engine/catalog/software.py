"""Software that the pages name: the version they were read at, and the newest release known.

A month is that of the release in the package index, or of the tag. `python -m tests.versions`
compares the newest releases with the index.
"""

from dataclasses import dataclass

CHECKED = "2026-11-29"


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """A program or library of which a page or the engine says something.

    Attributes:
        name: as the pages write it.
        package: its name in the package index; empty: it has none there.
        read_at: version whose source or documentation the pages follow.
        newest: newest release known on CHECKED; empty: not established.
        newest_date: year and month of that release; empty likewise.
        tested: what was compared between the two; empty where they are the same.
        source: key of the reference with the releases.
        others: older and other versions that pages name, each with the reason.
    """

    name: str
    package: str = ""
    read_at: str
    newest: str = ""
    newest_date: str = ""
    tested: str = ""
    source: str
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_behind(self) -> bool:
        """Return whether a release came after the version that was read."""
        return bool(self.newest) and version_key(self.newest) > version_key(self.read_at)


def version_key(version: str) -> tuple[int, ...]:
    """Return a version's numbers for comparison; what follows them (rc1, post2) is left out."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


SOFTWARE: tuple[Software, ...] = (
    Software(
        name="PyTorch",
        package="torch",
        read_at="2.13",
        newest="2.15.0",
        newest_date="2026-10",
        tested="Every public name and argument of torch.distributed, torch.optim and DDP that a "
        "page writes is still there with the same default.",
        source="pytorch_releases",
        others=(
            ("2.0", "the first release with what a page describes"),
            ("2.5", "the first release with what a page describes"),
            ("2.9", "the first release with what a page describes"),
            ("2.11", "ran on the GPUs that we measured"),
            ("2.12", "printed what a page shows"),
        ),
    ),
    Software(
        name="NCCL",
        package="nvidia-nccl-cu13",
        read_at="2.30.7",
        newest="2.32.3",
        newest_date="2026-09",
        tested="Release notes only. The cost model is that of 2.30; what changed since stands "
        "below. Notes of 2.32.6 and a tag 2.32.7 exist, of which the index has no package.",
        source="nccl_releases",
        others=(
            ("2.20", "the first release with what a page describes"),
            ("2.24", "the first release with what a page describes"),
            ("2.27", "printed a log that a page shows"),
        ),
    ),
    Software(
        name="Megatron Core",
        package="megatron-core",
        read_at="0.19.2",
        newest="0.19.2",
        newest_date="2026-09",
        source="megatron_core_releases",
    ),
    Software(
        name="DeepSpeed",
        package="deepspeed",
        read_at="0.19.8",
        newest="0.19.8",
        newest_date="2026-10",
        source="deepspeed_releases",
        others=(("0.16", "the first release with what a page describes"),),
    ),
    Software(
        name="torchtitan",
        package="torchtitan",
        read_at="0.3.0",
        newest="0.3.0",
        newest_date="2026-09",
        source="torchtitan",
        others=(("0.2.2", "the last release with other names of the settings"),),
    ),
    Software(
        name="verl",
        package="verl",
        read_at="0.9.1",
        newest="0.9.1",
        newest_date="2026-09",
        source="verl_v1",
    ),
    Software(
        name="OpenRLHF",
        package="openrlhf",
        read_at="0.11.2",
        newest="0.11.2",
        newest_date="2026-09",
        source="openrlhf_releases",
    ),
    Software(
        name="TRL",
        package="trl",
        read_at="1.16.0",
        newest="1.16.0",
        newest_date="2026-10",
        source="trl_vllm",
        others=(("1.9", "whose defaults the import tool uses"),),
    ),
    Software(name="NeMo RL", read_at="0.8", source="nemo_async"),
    Software(
        name="nccl-tests",
        read_at="2.19",
        source="nccl_tests_readme",
        others=(("2.20", "the newest whose tables the log reader was tried on"),),
    ),
    Software(
        name="Transformers",
        package="transformers",
        read_at="5.24",
        newest="5.24.0",
        newest_date="2026-11",
        source="transformers_releases",
    ),
    Software(
        name="DeepEP",
        read_at="1",
        newest="2",
        newest_date="2026-04",
        tested="Bandwidths and multiprocessors of both are on the page of experts; constants are "
        "those of the first version.",
        source="deepep_v2",
    ),
)
BY_NAME = {software.name: software for software in SOFTWARE}
