"""Rules for single settings of a DeepSpeed JSON, each with a verdict and a sentence."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from engine.catalog.deepspeed_settings import SETTINGS
from engine.run.deepspeed_values import ZeroValues, is_number

Verdict = Literal["ok", "note", "warning", "error"]
RuleResult = tuple[Verdict, str]


def _stage(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if value not in (0, 1, 2, 3):
        return "error", "There are stages 0 to 3; DeepSpeed refuses to start."
    if values.whole_gradients:
        return "warning", (
            "With bf16 and sums in fp32 it runs as BF16_Optimizer: each rank keeps all gradients "
            "in 16 and in 32 bits, and reduces them after the backward pass."
        )
    names = ("nothing", "the optimizer", "optimizer and gradients", "all three states")
    return "ok", f"Divides {names[value]} among {values.job.ranks} ranks."


def _bucket(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    size = values.elements("reduce_bucket_size")
    if size == 0:
        return "error", "It must be above 0; DeepSpeed refuses to start."
    if size >= values.job.parameters:
        return "warning", "Larger than the model: one bucket, so nothing overlaps."
    if size > 1e9:
        return "warning", "The buffer is allocated whole, and the last bucket is exposed."
    return "ok", "Gradients that are reduced together; the buffer is allocated whole."


def _overlap(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if not value:
        return "warning", "The backward pass stops for every bucket."
    if values.whole_gradients:
        return "warning", "Without effect: BF16_Optimizer reduces after the backward pass."
    if values.stage < 3:
        return "note", "On; two buffers for buckets instead of one."
    return "ok", "On, as it is by default for stage 3."


def _live(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    live = values.elements("stage3_max_live_parameters")
    if live == 0:
        return "warning", "No parameter is ever prefetched: every gather is waited for."
    if live > 2e9:
        return "warning", "Prefetches run so far ahead that this much memory fills up."
    return "ok", "Prefetches stop here; a large tensor may exceed it."


def _reuse(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    reuse = values.elements("stage3_max_reuse_distance")
    if reuse > values.elements("stage3_max_live_parameters"):
        return "warning", "Kept parameters count as live: they stop prefetches at the turn."
    return "ok", SETTINGS["stage3_max_reuse_distance"].effect


def _prefetch(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    size = values.elements("stage3_prefetch_bucket_size")
    if size == 0:
        return "warning", "No prefetch: every gather is waited for."
    if size > values.elements("stage3_max_live_parameters"):
        return "note", "Above the limit of live parameters, which decides."
    return "ok", SETTINGS["stage3_prefetch_bucket_size"].effect


def _persistent(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if values.elements("stage3_param_persistence_threshold") >= values.job.matrix:
        return "warning", "Whole matrices of this model stay on every rank."
    return "ok", SETTINGS["stage3_param_persistence_threshold"].effect


def _sharded_groups(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    group = values.count("zero_hpz_partition_size")
    if group > 1 and values.job.ranks % group:
        return "error", f"{values.job.ranks} ranks are no multiple of it."
    return "ok", "Each such group keeps a copy of the parameters; memory grows."


def _offload(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    ratio = value.get("ratio", 1.0) if isinstance(value, Mapping) else 1.0
    if is_number(ratio) and ratio < 1 and values.stage != 3:
        return "error", "A ratio below 1 needs stage 3; DeepSpeed refuses to start."
    return "note", "The optimizer leaves the GPU; the link to the host sets its pace."


RULES: Mapping[str, Callable[[Any, ZeroValues], RuleResult]] = {
    "stage": _stage,
    "reduce_bucket_size": _bucket,
    "overlap_comm": _overlap,
    "stage3_max_live_parameters": _live,
    "stage3_max_reuse_distance": _reuse,
    "stage3_prefetch_bucket_size": _prefetch,
    "stage3_param_persistence_threshold": _persistent,
    "zero_hpz_partition_size": _sharded_groups,
    "offload_optimizer": _offload,
}


def _sum(value: Any, values: ZeroValues) -> RuleResult:  # noqa: ANN401
    if value == "sum" and values.stage == 3:
        return "error", "'sum' is not supported at stage 3; DeepSpeed refuses to start."
    return "ok", "How gradients are combined."


OTHERS: Mapping[str, Callable[[Any, ZeroValues], RuleResult]] = {"gradient_allreduce_op": _sum}
