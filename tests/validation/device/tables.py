"""What was measured, and what the engine says of the same kernel, layer or step."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.constants import COMMON, achieved_shares
from engine.catalog.models import MODELS
from engine.formulas.activations import layer_memory
from engine.formulas.compute import BLOCK, flash_attention_time, matmul_time
from engine.formulas.operations import Gemm
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import OLD_INSTRUCTIONS, RankRates, rank_rates
from engine.simulate.layer.layer_time import ATTENTION_BACKWARD, layer_time
from engine.simulate.layer.product_time import grouped_times, product_times
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_moments import peak_tensor_bytes
from engine.simulate.step.step_time import step_time

RESULTS = Path(__file__).with_name("results")
GPUS = {"NVIDIA H100 80GB HBM3": "H100-SXM", "NVIDIA H200": "H200-SXM"}
PASSES = ("forward", "input gradient", "weight gradient")
Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A measured number and the engine's."""

    gpu: str
    kind: str
    name: str
    measured: float
    predicted: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1


@cache
def table(name: str) -> tuple[Row, ...]:
    """Return the rows of a table; their device is a key of the catalog."""
    with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(row | {"device": GPUS[row["device"]]} for row in csv.DictReader(file))


def machines() -> list[dict[str, Any]]:
    """Return date, software and clocks of every device."""
    return json.loads((RESULTS / "machines.json").read_text(encoding="utf-8"))


def numbers(row: Row, *names: str) -> tuple[int, ...]:
    return tuple(int(row[name]) for name in names)


def cluster_of(gpu: str) -> Cluster:
    return Cluster(gpu=ACCELERATORS[gpu], gpus_per_node=8, nics_per_node=8, nic_bandwidth=5e10)


def training_of(row: Row, **more: Any) -> Training:
    batch, length = numbers(row, "batch", "length")
    return Training(micro_batch_size=batch, global_batch_size=batch, sequence_length=length, **more)


def _rank(gpu: str) -> RankRates:
    one = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
    return rank_rates(cluster_of(gpu), one)


def _rate(gpu: Gpu, precision: str) -> float:
    reached = achieved_shares(gpu)
    if precision.startswith("fp8"):
        return gpu.peak["fp8"] * reached.matmul_fp8
    return gpu.peak["fp16"] * reached.matmul


def product(row: Row) -> float:
    """Return the engine's time of a product."""
    gpu = ACCELERATORS[row["device"]]
    sizes = numbers(row, "rows", "columns", "inner")
    return matmul_time(*sizes, 1, _rate(gpu, row["precision"]), gpu.sms, achieved_shares(gpu).fill)


def products() -> Iterator[Pair]:
    """Every product; those of a layer by the pass."""
    for row in table("products"):
        kind = f"{row['class']}, {row['precision']}"
        if row["class"].startswith("Llama"):
            kind = f"Llama layers, {row['pass']}, {row['precision']}"
        if int(row["columns"]) % 8:
            kind = "unaligned"
        yield Pair(
            gpu=row["device"],
            kind=kind,
            name="x".join(row[key] for key in ("rows", "columns", "inner")),
            measured=float(row["time"]),
            predicted=product(row),
        )


def grouped() -> Iterator[Pair]:
    """Grouped products of evenly loaded experts, by the rows of one."""
    for row in table("grouped"):
        if row["pass"] not in PASSES or row["even"] == "0":
            continue
        experts, rows, columns, inner = numbers(row, "experts", "rows", "columns", "inner")
        rank = _rank(row["device"])
        gemm = Gemm(name="experts_up", m=rows, n=columns, k=inner, count=experts)
        # The product of a weight's gradient writes 16 bits here.
        times = grouped_times(gemm, rank, product_times(gemm, rank), 2.0, COMMON.expert_product)
        yield Pair(
            gpu=row["device"],
            kind=f"grouped, {row['pass']}, {'few rows' if rows <= 64 else 'many rows'}",
            name=f"{row['name']}, {experts} experts, {rows} rows",
            measured=float(row["time"]),
            predicted=times[PASSES.index(row["pass"])],
        )


def attention_time(row: Row) -> float:
    """Return the engine's time of an attention, without the mask twice the pairs."""
    gpu, reached = ACCELERATORS[row["device"]], achieved_shares(ACCELERATORS[row["device"]])
    batch, heads, length, size, value = numbers(
        row, "batch", "heads", "length", "head_size", "value_size"
    )
    rate = gpu.peak["fp16"] * (OLD_INSTRUCTIONS if row["kernel"] == "flash" else 1.0)
    back = row["pass"] == "backward"
    rate *= reached.attention_backward if back else reached.attention_forward
    if size != value:
        rate *= COMMON.latent_backward if back else COMMON.latent_forward
    shape = (batch * heads, length, length, (size + value) / 2)
    time = flash_attention_time(*shape, rate, gpu.sms) * (ATTENTION_BACKWARD if back else 1.0)
    return time if row["causal"] == "1" else time * 2 * length / (length + BLOCK)


def attention() -> Iterator[Pair]:
    """Every fused attention, by kind, library and pass."""
    for row in table("attention"):
        kind = "short" if int(row["length"]) < 2048 else row["class"]
        yield Pair(
            gpu=row["device"],
            kind=f"attention, {kind}, {row['pass']}",
            name=f"{row['kernel']}, {row['batch']}x{row['heads']} heads of {row['head_size']}, "
            f"{row['length']} tokens",
            measured=float(row["time"]),
            predicted=attention_time(row),
        )


def _layer(row: Row) -> tuple[float, float]:
    """Return the engine's time of both passes of a layer, and what it keeps."""
    unfused = row["kernel"] == "unfused"
    training = training_of(
        row,
        framework="megatron" if unfused else "fsdp",
        compiled=row["style"] == "compiled",
        fused_norms=row["style"] == "one norm",
        flash_attention=not unfused,
        recompute=row["recompute"],
    )
    model, plan = MODELS[row["model"]], Plan(world_size=1)
    rank = rank_rates(cluster_of(row["device"]), training)
    if row["kernel"] == "cudnn":
        newest = {
            name: getattr(rank, name) / OLD_INSTRUCTIONS
            for name in ("attention_forward", "attention_backward")
        }
        rank = replace(rank, **newest)
    time = layer_time(model, plan, training, rank, sparse=False).total
    return time, layer_memory(model, plan, training).kept


def layers() -> Iterator[Pair]:
    """Layers: the time of both passes, and the bytes that one keeps between them.

    "One norm" is eager but for a norm of one kernel.
    """
    for row in table("layers"):
        if row["pass"] != "both":
            continue
        time, kept = _layer(row)
        names = ("model", "batch", "length", "style", "recompute", "kernel")
        name = ", ".join(row[key] for key in names)
        which = "GPT" if row["kernel"] == "unfused" else row["style"]
        facts = {"gpu": row["device"], "name": name}
        found = [("time", float(row["time"]), time), ("kept", float(row["kept"]), kept)]
        for kind, measured, predicted in found:
            yield Pair(
                kind=f"layer {kind}, {which}", measured=measured, predicted=predicted, **facts
            )


def steps() -> Iterator[Pair]:
    """Whole steps under FSDP2 on one GPU: time, memory allocated at the peak, and reserved."""
    for row in table("steps"):
        compiled = row["compiled"] == "1"
        training = training_of(row, framework="fsdp", compiled=compiled, recompute=row["recompute"])
        model, plan = MODELS[row["model"]], Plan(world_size=1, zero_stage=3)
        time = step_time(model, cluster_of(row["device"]), plan, training).total
        held = rank_memory(model, plan, training)
        names = ("model", "batch", "length", "recompute")
        facts = {"gpu": row["device"], "name": ", ".join(row[key] for key in names)}
        style = "compiled" if compiled else "eager"
        yield Pair(kind=f"step time, {style}", measured=float(row["time"]), predicted=time, **facts)
        yield Pair(
            kind=f"step memory, {style}",
            measured=float(row["allocated"]),
            predicted=peak_tensor_bytes(model, plan, training, held),
            **facts,
        )
        yield Pair(
            kind=f"step memory reserved, {style}",
            measured=float(row["reserved"]),
            predicted=held.reserved,
            **facts,
        )
