"""The published runs as documents of `python -m engine estimate`: what each source says, once.

A row of `training_runs.csv` becomes the document that a user would write. What a table leaves out
is taken from the source's documentation, one function per source; nothing depends on the measured
time. Rows that the document cannot express are skipped, with the reason.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.run.file import Run, read

Row = Mapping[str, str]

# torchtitan's benchmarks: "default 500 W power limit", 2.4 TB/s of HBM2e (its performance.md).
# Clocks fall with the square root of the power limit, a middle between the cube root of ideal
# voltage scaling and the proportion of a chip at its lowest voltage.
_POWER = 500 / 700
_META_H100 = replace(
    ACCELERATORS["H100-SXM"],
    name="H100 SXM",
    memory=96e9,
    memory_bandwidth=2.4e12,
    peak={k: v * _POWER**0.5 for k, v in ACCELERATORS["H100-SXM"].peak.items()},
)

# GPU of the table -> (catalogue name, GPUs per node, ports per node, port speed).
_CLUSTERS: Mapping[str, tuple[str, int, int, float]] = {
    "DGX-GB300": ("GB300", 64, 64, 100e9),
    "DGX-GB200": ("GB200", 64, 64, 50e9),
    "DGX-B300": ("B300", 8, 8, 100e9),
    "DGX-B200": ("B200", 8, 8, 50e9),
    "B200-SXM": ("B200", 8, 8, 50e9),
    "DGX-H100": ("H100-SXM", 8, 8, 50e9),
    "H100": ("H100-SXM", 8, 8, 50e9),
    "h100_80gb": ("H100-SXM", 8, 8, 50e9),
    "a100_40gb": ("A100-SXM-40GB", 8, 8, 25e9),
    "A": ("A100-SXM-80GB", 8, 8, 25e9),
    "a": ("A100-SXM-80GB", 8, 8, 25e9),
}
# Ports of a node where they are not those of a DGX: (ports, speed).
_PORTS: Mapping[str, tuple[int, float]] = {
    "bloom176b_topology_sweep.csv": (4, 12.5e9),  # Jean Zay: four of Omni-Path 100
    "fms_fsdp_llama.csv": (2, 25e9),  # 400 Gb/s per node, from the table
    "zero_bubble_tables.csv": (4, 25e9),
    "internevo_7b_scaling.csv": (4, 25e9),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One published run.

    Attributes:
        row: of the table.
        run: what the engine reads.
        document: of the run, for the terminal.
        time: measured seconds of a step.
    """

    row: Row
    run: Run
    document: Mapping[str, Any]
    time: float

    @property
    def moe(self) -> bool:
        return self.run.model.num_experts > 0

    @property
    def complete(self) -> bool:
        return self.row["input_completeness"].startswith("A")


def cases(table: Path) -> tuple[list[Case], dict[str, str]]:
    """Return the runs of the table that can be expressed, and why the others cannot."""
    found, skipped = [], {}
    with table.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            reason = _reason(row)
            if reason:
                skipped[row["row_id"]] = reason
                continue
            document = _document(row)
            run = read(document)
            if gpu := _special(row):
                run = replace(run, cluster=replace(run.cluster, gpu=gpu))
            if _halves_gradients(row):
                halved = replace(run.training, gradient_precision="bf16")
                run = replace(run, training=halved)
            if _captured(row):
                captured = replace(run.training, cuda_graphs=True, fused_experts=True)
                run = replace(run, training=captured)
            found.append(Case(row=row, run=run, document=document, time=float(row["step_time_s"])))
    return found, skipped


def _reason(row: Row) -> str:
    if not row["step_time_s"]:
        return "no step time"
    if "FP4" in row["precision"]:
        return "fp4 is no precision of the document"
    if _sequences(row)[1]:
        return "the batch does not divide over the ranks"
    return ""


def _int(text: str, default: int = 0) -> int:
    return int(text) if text.strip().isdigit() else default


def _sequences(row: Row) -> tuple[int, int]:
    ranks = _int(row["n_gpus"]) // (_int(row["tp"], 1) * _int(row["pp"], 1) * _int(row["cp"], 1))
    return divmod(_int(row["gbs"]), ranks * _int(row["mbs"], 1))


def _special(row: Row) -> Gpu | None:
    return _META_H100 if "HBM2e" in row["gpu"] else None


def _halves_gradients(row: Row) -> bool:
    """Whether gradients are reduced in bf16: `grad_reduce_in_fp32 = False`.

    The performance recipes of NeMo 2 and Megatron-Bridge set it (scripts/performance); like their
    recomputation, it is taken for the earlier recipes of the same table too.
    """
    return row["source_file"].startswith(("megatron_bridge", "dgxc"))


def _captured(row: Row) -> bool:
    """Whether the recipe replays whole iterations as CUDA graphs, with fused grouped products.

    Those in MXFP8 do from 26.06 on: Qwen3 on all Blackwells, DeepSeek-V3 on all but the B200, with
    tokens exchanged beside products (Megatron-Bridge, pull requests 3983, 4226, 4249 and 4606).
    """
    late = row["flag"].startswith(("26.06", "26.08")) and "MXFP8" in row["precision"]
    mixture = row["model"].startswith("Qwen3") or row["model"] == "DeepSeek-V3"
    return late and mixture and not (row["model"] == "DeepSeek-V3" and "DGX-B200" in row["gpu"])


def _cluster(row: Row) -> dict[str, Any]:
    name = row["gpu"]
    prefix = max((key for key in _CLUSTERS if name.startswith(key)), key=len)
    gpu, gpus, nics, bandwidth = _CLUSTERS[prefix]
    nics, bandwidth = _PORTS.get(row["source_file"], (nics, bandwidth))
    return {
        "gpu": gpu,
        "gpus_per_node": gpus,
        "nics_per_node": nics,
        "nic_bandwidth": bandwidth,
    }


def _model(row: Row) -> str | dict[str, Any]:
    name = row["model"]
    if name == "DeepSeek-V3":
        return "deepseek-v3"
    if name == "Qwen3-30B-A3B":
        return "qwen3-30b-a3b"
    llama = "llama" in name.lower()
    heads = _int(row["heads"], 64)  # "64 or 96 (not stated per table)"
    model = {
        "num_layers": _int(row["n_layers"]),
        "hidden_size": _int(row["hidden"]),
        "num_attention_heads": heads,
        "num_key_value_heads": _int(row["kv_heads"], heads),
        "ffn_hidden_size": _int(row["ffn"], 4 * _int(row["hidden"])),
        "vocab_size": _int(row["vocab"], 50304),  # Zero Bubble: GPT-2's, padded
        "mlp": "swiglu" if llama else "gelu",
        "tied_embeddings": not llama,
    }
    if name.startswith("InternLM"):  # the shape of Llama-7B, with a vocabulary of its own
        model |= {
            "num_layers": 32,
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "num_key_value_heads": 32,
            "ffn_hidden_size": 11008,
            "vocab_size": 103168,
            "mlp": "swiglu",
            "tied_embeddings": False,
        }
    return model


def _document(row: Row) -> dict[str, Any]:
    plan: dict[str, Any] = {
        "world_size": _int(row["n_gpus"]),
        "tensor_parallel": _int(row["tp"], 1),
        "pipeline_parallel": _int(row["pp"], 1),
        "virtual_pipeline": _int(row["vpp"], 1),
        "context_parallel": _int(row["cp"], 1),
        "expert_parallel": _int(row["ep"], 1),
    }
    training: dict[str, Any] = {
        "micro_batch_size": _int(row["mbs"], 1),
        "global_batch_size": _int(row["gbs"]),
        "precision": _precision(row),
        "recompute": _recompute(row),
    }
    _SOURCES[row["source_file"]](row, plan, training)
    return {
        "model": _model(row),
        "sequence_length": _int(row["seq_len"]),
        "cluster": _cluster(row),
        "parallelism": plan,
        "training": training,
    }


def _precision(row: Row) -> str:
    text = row["precision"].lower()
    return next((name for name in ("fp8", "fp16") if name in text), "bf16")


def _recompute(row: Row) -> str:
    text = row["recompute"]
    if text in ("full", "yes"):
        return "full"
    return "selective" if text.startswith("selective") else "none"


Settings = dict[str, Any]


def _narayanan(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron-LM of 2021 with its fused kernels; ZeRO-3 by DeepSpeed (table 2)."""
    training |= {"flash_attention": False, "overlap_gradient_reduce": False}
    plan |= {"sequence_parallel": False, "zero_stage": 0}
    if row["sharding"] == "ZeRO-3":
        plan["zero_stage"] = 3
        training |= {"framework": "deepspeed", "overlap_gradient_reduce": True}


def _korthikanti(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron-LM of 2022; sequence parallelism goes with selective recomputation."""
    training |= {"flash_attention": False, "overlap_gradient_reduce": False}
    plan |= {"sequence_parallel": "SP" in row["recompute"], "zero_stage": 0}


def _bloom(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron-DeepSpeed of 2022 before its kernels were fused, reductions after the step."""
    training |= {
        "framework": "deepspeed",
        "flash_attention": False,
        "compiled": False,
        "overlap_gradient_reduce": False,
    }
    plan |= {"sequence_parallel": False, "zero_stage": 0 if row["sharding"] == "ZeRO-0" else 1}


def _foundry(row: Row, plan: Settings, training: Settings) -> None:
    """PyTorch FSDP, full shard, eager."""
    training |= {"framework": "fsdp", "compiled": False}
    plan["zero_stage"] = 3


def _titan(row: Row, plan: Settings, training: Settings) -> None:
    """Compiled or not, and asynchronous tensor parallelism, as the table says."""
    _foundry(row, plan, training)
    training["compiled"] = "compile=yes" in row["schedule"]
    training["overlap_tensor_parallel"] = "asyncTP=yes" in row["schedule"]


def _fms(row: Row, plan: Settings, training: Settings) -> None:
    """PyTorch FSDP; HSDP shards inside a node."""
    _foundry(row, plan, training)
    training["compiled"] = "compile=yes" in row["precision"]
    plan["shard_group"] = 8 if "HSDP" in row["sharding"] else 0


def _zero_bubble(row: Row, plan: Settings, training: Settings) -> None:
    """A fork of Megatron-LM; interleaved with one layer per piece, three pieces per rank."""
    schedule = {"1F1B": "1f1b", "1F1B-I": "interleaved", "ZB-1p": "zb-1p", "ZB-2p": "zb-2p"}
    training |= {
        "schedule": schedule[row["schedule"]],
        "flash_attention": False,
        "overlap_gradient_reduce": False,
    }
    plan["zero_stage"] = 0
    if row["schedule"] == "1F1B-I":
        plan["virtual_pipeline"] = 3


def _internevo(row: Row, plan: Settings, training: Settings) -> None:
    """Its own ZeRO-1, eager; gradients reduced beside the backward pass, parameters gathered."""
    training |= {"framework": "deepspeed", "compiled": False}
    group = re.search(r"group (-?\d+)", row["sharding"])
    plan |= {"sequence_parallel": False, "shard_group": max(0, int(group[1])) if group else 0}


def _nemo(row: Row, plan: Settings, training: Settings) -> None:
    """NeMo and Megatron-Bridge overlap tensor parallelism (user buffers) in these recipes."""
    training["overlap_tensor_parallel"] = plan["tensor_parallel"] > 1


def _bridge(row: Row, plan: Settings, training: Settings) -> None:
    """As NeMo; some plans are Megatron-FSDP; some exchange tokens beside products.

    The exchange is overlapped where iterations are captured, for DeepSeek-V3 also on B200 with 32
    ranks of experts from 26.04.01 on, and on H100 (scripts/performance/configs/deepseek).
    """
    _nemo(row, plan, training)
    if "FSDP" in row["sharding"]:
        plan["zero_stage"] = 3
    if _captured(row):
        training["overlap_tensor_parallel"] = True
    elif row["model"] == "DeepSeek-V3":
        wide = "DGX-B200" in row["gpu"] and row["ep"] == "32"
        training["overlap_tensor_parallel"] = wide or "H100" in row["gpu"]


def _simumax(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron with every overlap off."""
    training["overlap_gradient_reduce"] = False


_SOURCES = {
    "megatron_sc21_table1.csv": _narayanan,
    "megatron_sc21_table2_zero3.csv": _narayanan,
    "korthikanti_2022_table5.csv": _korthikanti,
    "bloom176b_topology_sweep.csv": _bloom,
    "llm_foundry_mpt_fsdp.csv": _foundry,
    "torchtitan.csv": _titan,
    "fms_fsdp_llama.csv": _fms,
    "zero_bubble_tables.csv": _zero_bubble,
    "internevo_7b_scaling.csv": _internevo,
    "dgxc_recipes_step_time.csv": _nemo,
    "nemo_2407_h100_fp8.csv": _nemo,
    "megatron_bridge_performance.csv": _bridge,
    "simumax_b200_measured.csv": _simumax,
    "llama3_table4.csv": _titan,
}


def each(table: Path) -> Iterator[Case]:
    """Yield the runs that can be expressed."""
    yield from cases(table)[0]
