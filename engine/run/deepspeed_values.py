"""The settings of ZeRO as DeepSpeed would use them: of a file, of "auto", or by default."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from engine.catalog.deepspeed_settings import ALIASES, SETTINGS
from engine.core.units import Count, Parameters
from engine.run.deepspeed_text import SettingLine

ZERO = "zero_optimization."


@dataclass(frozen=True, slots=True, kw_only=True)
class LintJob:
    """Sizes of the model and the job that the file does not contain.

    Attributes:
        parameters: of the model.
        hidden: its hidden size, by which accelerate replaces "auto".
        matrix: elements of its smallest matrix.
        ranks: data-parallel ranks.
    """

    parameters: Parameters
    hidden: Count
    matrix: Parameters
    ranks: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroValues:
    """The settings of ZeRO as DeepSpeed would use them: of the file, of "auto", or by default.

    Attributes:
        stage: of ZeRO.
        settings: of the section on ZeRO.
        job: what the file does not contain.
        whole_gradients: `BF16_Optimizer` runs in place of ZeRO's: each rank keeps all gradients,
            in 16 and in 32 bits.
    """

    stage: Count
    settings: Mapping[str, Any]
    job: LintJob
    whole_gradients: bool = False

    def elements(self, name: str) -> float:
        """Return a number of elements."""
        value = self.settings.get(name)
        if value == "auto":
            return auto_value(name, self.job.hidden) or float(SETTINGS[name].default)
        if is_number(value) and value >= 0:
            return float(value)
        return float(SETTINGS[name].default)

    def switch(self, name: str) -> bool:
        """Return a switch; `overlap_comm` is on by default for stage 3 only."""
        value = self.settings.get(name)
        if isinstance(value, bool):
            return value
        return self.stage == 3 if name == "overlap_comm" else SETTINGS[name].default == "true"

    def count(self, name: str) -> Count:
        """Return a number of ranks."""
        value = self.settings.get(name)
        return int(value) if is_number(value) else int(SETTINGS[name].default)


def auto_value(name: str, hidden: Count) -> float:
    """Return accelerate's value for "auto"; 0 where it leaves DeepSpeed's default."""
    square = hidden * hidden
    values = {
        "reduce_bucket_size": square,
        "stage3_prefetch_bucket_size": int(0.9 * square),
        "stage3_param_persistence_threshold": 10 * hidden,
    }
    return float(values.get(name, 0))


def read_zero_values(lines: tuple[SettingLine, ...], job: LintJob) -> ZeroValues:
    """Return the settings of ZeRO that a file gives."""
    settings: dict[str, Any] = {}
    everything = {line.path: line.value for line in lines}
    for line in lines:
        if line.path.startswith(ZERO) and line.path.count(".") == 1:
            name = line.path.removeprefix(ZERO)
            settings[ALIASES.get(name, name)] = line.value
    stage = settings.get("stage", 0)
    valid = is_number(stage) and stage in (0, 1, 2, 3)
    return ZeroValues(
        stage=int(stage) if valid else 0,
        settings=settings,
        job=job,
        whole_gradients=stage == 1 and _keeps_whole_gradients(everything),
    )


def _keeps_whole_gradients(settings: Mapping[str, Any]) -> bool:
    """Return whether stage 1 runs as `BF16_Optimizer`.

    Source: `_do_optimizer_sanity_check` of DeepSpeed's runtime/engine.py (0.19.8): a model in bf16
    whose gradients are summed in fp32, and no optimizer on the host.
    """
    sections = ("bf16.enabled", "bfloat16.enabled")
    half = any(settings.get(name) is True for name in sections)
    wide = settings.get("data_types.grad_accum_dtype") in ("fp32", "float32", "float")
    return half and wide and settings.get(ZERO + "offload_optimizer.device") != "cpu"


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value of JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
