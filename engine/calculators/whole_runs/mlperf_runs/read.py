"""Rows of MLPerf® Training with their predicted steps, and the names that pages give them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from json import loads
from typing import Any

from engine.catalog.mlperf_runs import MlperfRun, mlperf_runs
from engine.catalog.mlperf_steps import MlperfStep, mlperf_steps
from engine.core.units import Count, Ratio, Tokens

BENCHMARKS: Mapping[str, str] = {
    "llama31_405b": "Llama 3.1 405B",
    "llama31_8b": "Llama 3.1 8B",
    "gpt3": "GPT-3 175B",
    "deepseekv3_671b": "DeepSeek-V3 671B",
    "gpt_oss_20b": "GPT-OSS 20B",
    "llama2_70b_lora": "Llama 2 70B LoRA",
}
NETWORKS: Mapping[str, str] = {
    "one": "one NVLink domain",
    "400": "400 Gb/s ports",
    "800": "800 Gb/s ports",
}
# Tokens of a GPU in a step, up to which a step counts as short.
SHORT: Tokens = 8192.0


# There is one object for each row, which keeps what it has told once.
@dataclass(frozen=True, kw_only=True, eq=False)
class Compared:
    """A row whose step is predicted.

    Attributes:
        row: what was measured.
        step: what is predicted.
    """

    row: MlperfRun
    step: MlperfStep

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The run file."""
        return loads(self.row.run_file)  # type: ignore[no-any-return]

    @cached_property
    def error(self) -> Ratio:
        """Predicted over measured, minus 1."""
        return self.step.predicted / self.row.step - 1

    @cached_property
    def inside(self) -> bool:
        """Whether the measured step lies in the range."""
        return self.step.low <= self.row.step <= self.step.high

    @cached_property
    def tokens(self) -> Tokens:
        """Tokens of a GPU in a step."""
        batch: Count = self.document["training"]["global_batch_size"]
        length: Count = self.document["sequence_length"]
        return batch * length / self.row.world_size

    @cached_property
    def network(self) -> str:
        """Key of its network: within one NVLink domain, or the speed of a port between them."""
        cluster = self.document["cluster"]
        if self.row.world_size <= cluster["gpus_per_node"]:
            return "one"
        return "800" if cluster["nic_bandwidth"] > 50e9 else "400"

    @cached_property
    def name(self) -> str:
        """Model and GPUs, as a reader names the run."""
        return f"{BENCHMARKS[self.row.benchmark]} on {self.row.world_size:,} {self.row.gpu}"

    @cached_property
    def plan(self) -> str:
        """The plan in the field's abbreviations, degrees of 1 left out."""
        plan = self.document["parallelism"]
        names = {
            "TP": "tensor_parallel",
            "PP": "pipeline_parallel",
            "VP": "virtual_pipeline",
            "CP": "context_parallel",
            "EP": "expert_parallel",
        }
        parts = [f"{short}{plan.get(key, 1)}" for short, key in names.items()]
        return " ".join(part for part in parts if not part.endswith("P1")) or "data parallel"


@cache
def compared() -> tuple[Compared, ...]:
    """Return the rows whose steps are compared, in the order of the table."""
    return rows_of(mlperf_steps())


def rows_of(steps: Mapping[str, MlperfStep]) -> tuple[Compared, ...]:
    """Return the rows that count, each with its predicted step."""
    return tuple(Compared(row=row, step=steps[row.key]) for row in mlperf_runs() if row.counted)
