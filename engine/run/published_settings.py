"""Software settings of each source of published runs, from its documentation."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from engine.catalog.published_runs import Row
from engine.run.parallelism import Exchange

Settings = dict[str, Any]


def uses_cuda_graphs(row: Row) -> bool:
    """Return whether whole iterations are replayed as CUDA graphs, with fused grouped products.

    Those in MXFP8 do from 26.06 on: Qwen3 on all Blackwells, DeepSeek-V3 on all but the B200, with
    tokens exchanged beside products (Megatron-Bridge, pull requests 3983, 4226, 4249 and 4606).
    """
    late = row["flag"].startswith(("26.06", "26.08")) and "MXFP8" in row["precision"]
    mixture = row["model"].startswith("Qwen3") or row["model"] == "DeepSeek-V3"
    return late and mixture and not (row["model"] == "DeepSeek-V3" and "DGX-B200" in row["gpu"])


def expert_exchange(row: Row) -> Exchange:
    """Return the exchange of tokens with experts on other nodes, where a source's recipes say.

    Qwen3 30B on H100 takes HybridEP from 26.02.01 on (perf_recipes/qwen/h100); others keep the
    plain all-to-all, and DeepSeek-V3 follows from its routing.
    """
    late = row["flag"].startswith(("26.02.01", "26.04", "26.06", "26.08"))
    return "hybridep" if row["model"] == "Qwen3-30B-A3B" and late else "auto"


def overlaps_exchange(row: Row) -> bool:
    """Return whether tokens are exchanged beside products (`moe_a2a_overlap` of a recipe).

    So where iterations are captured; for DeepSeek-V3 also on B200 with 32 ranks of experts from
    26.04.01 on, and on H100 (scripts/performance/configs/deepseek); for Qwen3 235B on H100 from
    v0.2.0 on, which is after container 25.09 (configs/qwen3, later qwen). The 30B of v0.2.0 and
    v0.3.0 on H100 set it too, on eight ranks of one node: their two rows count without.
    """
    hopper, release = "H100" in row["gpu"], row["flag"].split()[0]
    if row["model"] == "DeepSeek-V3":
        wide = "DGX-B200" in row["gpu"] and row["ep"] == "32"
        return uses_cuda_graphs(row) or wide or hopper
    if hopper and row["model"] == "Qwen3-235B-A22B":
        return release != "25.09"
    return uses_cuda_graphs(row)


def recomputed_modules(row: Row) -> list[str]:
    """Return the modules that a recipe of Megatron-Bridge recomputes; of most models, none.

    recompute_modules in v0.1.0 to v0.6.0, containers 25.09 to 26.08
    (scripts/performance/configs, later src/megatron/bridge/perf_recipes).
    """
    gpu, release = row["gpu"].removeprefix("DGX-"), row["flag"].split()[0]
    if row["model"] == "GPT-OSS-120B":
        return ["layernorm", "moe_act"] if gpu in ("GB200", "B200", "H100") else []
    if row["model"] != "DeepSeek-V3":
        return []
    if gpu == "GB300" and release == "25.11":
        return ["moe_act"]
    if gpu == "GB300" and release.startswith(("26.06", "26.08")):
        return []
    if gpu == "GB200" and release.startswith("26.04"):
        return ["mlp"]
    wide = gpu == "B200" and row["ep"] == "32"
    return ["mla_up_proj", "mlp"] if gpu == "H100" or wide else ["mla_up_proj"]


# Sequences of a micro-batch and pieces per rank of the runs of Narayanan et al. 2021, table 1, by
# billions of parameters (Megatron-LM, examples/sc21/run_table_1.sh).
_TABLE_1: Mapping[str, tuple[int, int]] = {
    "1.7": (16, 1),
    "3.6": (16, 1),
    "7.5": (16, 1),
    "18.4": (8, 1),
    "39.1": (4, 1),
    "76.1": (2, 3),
    "145.6": (2, 2),
    "310.1": (1, 2),
    "529.6": (1, 3),
    "1008.0": (1, 1),
}


def _narayanan(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron-LM of 2021 with its fused kernels; ZeRO-3 by DeepSpeed (table 2)."""
    training |= {"flash_attention": False, "overlap_gradient_reduce": False}
    plan |= {"sequence_parallel": False, "zero_stage": 0}
    if row["source_file"] == "megatron_sc21_table1.csv":
        training["micro_batch_size"], plan["virtual_pipeline"] = _TABLE_1[
            row["row_id"].removeprefix("sc21-t1-")
        ]
    if row["sharding"] == "ZeRO-3":
        plan["zero_stage"] = 3
        training |= {"framework": "deepspeed", "overlap_gradient_reduce": True}


def _korthikanti(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron-LM of 2022; sequence parallelism goes with selective recomputation."""
    training |= {"flash_attention": False, "overlap_gradient_reduce": False}
    plan |= {"sequence_parallel": "SP" in row["recompute"], "zero_stage": 0}


def _bloom(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron-DeepSpeed of 2022 before its kernels were fused, reductions after the step.

    Gradients take 2 bytes: the peaks of memory of 72 rows are within 3 % with ZeRO's own optimizer
    and 0 to 67 % too high with BF16_Optimizer, the more so the more replicas there are.
    """
    training |= {
        "framework": "deepspeed",
        "flash_attention": False,
        "compiled": False,
        "overlap_gradient_reduce": False,
    }
    plan |= {"sequence_parallel": False, "zero_stage": 0 if row["sharding"] == "ZeRO-0" else 1}


def _foundry(row: Row, plan: Settings, training: Settings) -> None:
    """PyTorch FSDP, full shard, eager."""
    training |= {"framework": "fsdp", "compiled": False, "gradient_precision": "bf16"}
    plan["zero_stage"] = 3


def _titan(row: Row, plan: Settings, training: Settings) -> None:
    """Compiled or not, and asynchronous tensor parallelism, as the table says."""
    _foundry(row, plan, training)
    training["compiled"] = "compile=yes" in row["schedule"]
    training.pop("gradient_precision")  # reduced in fp32, as torchtitan does unasked
    training["overlap_tensor_parallel"] = "asyncTP=yes" in row["schedule"]


def _torchtitan(row: Row, plan: Settings, training: Settings) -> None:
    """As torchtitan's own benchmarks ran, nearly all of them in 2024.

    Those of 2025 are split by tensor parallelism, where nothing depends on a compiled loss. On A100
    they are of April 2024, when llama_13b.toml and llama3_8b.toml had `norm_type = "fused_rmsnorm"`
    (395a526, 1ea476e); those of 70B had a norm in elementary operators.
    """
    _titan(row, plan, training)
    training |= {
        "eager_loss": True,
        "keeps_quantized_products": "fp8 FSDP all-gather" in row["precision"],
        "fused_norms": "A100" in row["gpu"] and "70B" not in row["model"],
    }


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
    """Its own ZeRO-1, eager; gradients reduced beside the backward pass, parameters gathered.

    Gradients of bf16 parameters are reduced as they are (`reduce_tensor` with `dtype=None` in
    internlm/solver/optimizer/hybrid_zero_optim.py).
    """
    training |= {"framework": "deepspeed", "compiled": False, "gradient_precision": "bf16"}
    group = re.search(r"group (-?\d+)", row["sharding"])
    plan |= {"sequence_parallel": False, "shard_group": max(0, int(group[1])) if group else 0}


def _nemo(row: Row, plan: Settings, training: Settings) -> None:
    """NeMo and Megatron-Bridge overlap tensor parallelism (user buffers) in these recipes.

    Gradients are reduced in bf16: `grad_reduce_in_fp32 = False`, which the performance recipes of
    NeMo 2 and Megatron-Bridge set (scripts/performance); like their recomputation, it is taken for
    the earlier recipes of the same table too. Those of NeMo 24.07 set `optim.grad_sync_dtype=bf16`
    (NeMo-Framework-Launcher, tag 24.07, examples/training).
    """
    training["overlap_tensor_parallel"] = plan["tensor_parallel"] > 1
    training["gradient_precision"] = "bf16"


def _recipes(row: Row, plan: Settings, training: Settings) -> None:
    """As NeMo; Grok-1 overlapped nothing (ub_tp_comm_overlap: false) until v25.05.

    Weights of linear layers are in fp8 alone (`fp8_params` of every recipe of NVIDIA/dgxc-
    benchmarking until v25.02, `bf16_with_fp8_mixed` of NeMo 2.2 and 2.3 from then on, tensors with
    delayed scales), unlike those of NeMo 24.07, whose scripts leave that out.
    """
    _nemo(row, plan, training)
    if training["precision"] == "fp8":
        training |= {"quantized_weights": True, "quantized_once": "B200" in row["gpu"]}
    if row["model"].startswith("Grok"):
        if not row["flag"].startswith("v25.05"):
            training["overlap_tensor_parallel"] = False
        _grok(row, plan, training)


def _grok(row: Row, plan: Settings, training: Settings) -> None:
    """Experts split as the rest, a router left to its auxiliary loss, one switch for overlap.

    The recipes say nothing of the exchange of tokens: it is taken to run beside products where the
    other collectives of a layer do.
    Megatron splits experts by tensor parallelism unless told otherwise, as the recipe for H100 of
    v25.05 does (dgxc-benchmarking, grok1/README.md: ETP 1; 4 on GB200). Megatron-Bridge's
    benchmarks force the router to be even (moe_router_force_load_balancing, but for token-drop),
    SimuMax's as well.
    """
    whole = row["flag"].startswith("v25.05") and row["gpu"] == "DGX-H100"
    plan["expert_tensor_parallel"] = 1 if whole else plan["tensor_parallel"]
    training["even_routing"] = False
    training["overlap_expert_parallel"] = training["overlap_tensor_parallel"]


def _quantized(row: Row) -> Settings:
    """Return Megatron-Bridge's settings for quantized weights, by precision and release.

    All that a row names set fp8_param_gather, and NVFP4 fp4_param_gather from v0.4.2 (26.04.01) on
    (training/mixed_precision.py). FP8-CS, later FP8, has one scale for a tensor: on Blackwell one
    copy serves both passes. In parentheses stands a second precision that was measured as well.
    """
    if "NVFP4" in row["precision"]:
        return {"quantized_weights": not row["flag"].startswith(("26.02", "26.04 "))}
    blocks = row["precision"] in ("MXFP8", "FP8-MX")
    return {"quantized_weights": True, "quantized_once": "H100" not in row["gpu"] and not blocks}


def _bridge(row: Row, plan: Settings, training: Settings) -> None:
    """As NeMo; some plans are Megatron-FSDP; some exchange tokens beside products."""
    _nemo(row, plan, training)
    if training["precision"] in ("fp8", "fp4"):
        training |= _quantized(row)
    if modules := recomputed_modules(row):
        training["recompute"] = modules
    if "FSDP" in row["sharding"]:
        plan["zero_stage"] = 3
    if row["model"] == "Llama-3.1-70B" and row["pp"] == "4" and not row["vpp"]:
        plan["virtual_pipeline"] = 5  # as in the recipe and in every other release
    training["exchange"] = expert_exchange(row)
    if uses_cuda_graphs(row):
        training |= {"cuda_graphs": True, "fused_experts": True}
    training["overlap_expert_parallel"] = overlaps_exchange(row)


def _simumax(row: Row, plan: Settings, training: Settings) -> None:
    """Megatron with every overlap off."""
    training["overlap_gradient_reduce"] = False


SETTINGS: Mapping[str, Callable[[Row, Settings, Settings], None]] = {
    "megatron_sc21_table1.csv": _narayanan,
    "megatron_sc21_table2_zero3.csv": _narayanan,
    "korthikanti_2022_table5.csv": _korthikanti,
    "bloom176b_topology_sweep.csv": _bloom,
    "llm_foundry_mpt_fsdp.csv": _foundry,
    "torchtitan.csv": _torchtitan,
    "fms_fsdp_llama.csv": _fms,
    "zero_bubble_tables.csv": _zero_bubble,
    "internevo_7b_scaling.csv": _internevo,
    "dgxc_recipes_step_time.csv": _recipes,
    "nemo_2407_h100_fp8.csv": _nemo,
    "megatron_bridge_performance.csv": _bridge,
    "simumax_b200_measured.csv": _simumax,
    "llama3_table4.csv": _titan,
}
