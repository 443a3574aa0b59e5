"""A sample trace: two ranks of a simulated FSDP step in Kineto's format.

Two of eight GPUs train Llama 3 8B; the second computes a little slower, and the first waits for it
in every collective. Times are those of the cost model's layers; the order of operations is that of
`engine.simulate.programs.fully_sharded`; names of kernels are such as PyTorch 2.9 records on H100.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.constants import achieved_shares
from engine.catalog.models import MODELS
from engine.core.units import MICRO, MILLI, Count, Ratio, Seconds
from engine.formulas.parameters import dense_layer_parameters
from engine.formulas.roofline import roofline_time
from engine.run.traces.kineto import document_of, read_kineto
from engine.simulate.data_parallel.sharded_step import ShardedSetting, setting_run
from engine.simulate.layer.device_model import rank_group, rank_rates
from engine.simulate.layer.layer_operators import layer_operators
from engine.simulate.layer.layer_time import layer_time, output_time
from engine.simulate.profile_analysis.sample_job import TOKENS, WORLD_SIZE
from engine.simulate.programs.fully_sharded import program
from engine.simulate.streams.streams import COMPUTE, StreamOp
from engine.simulate.streams.workload import Workload, nccl_group

PACES: tuple[Ratio, ...] = (1.0, 1.04)
_STEPS = 2
_SETTING = ShardedSetting(
    model="llama-3-8b", gpu="h100", ranks=WORLD_SIZE, tokens=TOKENS, port=50e9
)
_BETWEEN: Seconds = 6 * MILLI
_OPTIMIZER: Seconds = 9 * MILLI
_COPY: Seconds = 12 * MICRO
_COMPUTE_STREAM, _NCCL_STREAM = 7, 31

# Operators of a layer that one kernel stands for, and its name.
_KERNELS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", ("norm", "norm_2", "add", "add_2")),
    ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT", ("query_key_value", "output")),
    ("triton_poi_fused_rope_cat_1", ("rotation",)),
    ("void cutlass::device_kernel<flash::FlashAttn{way}Sm90>", ("attention",)),
    ("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", ("mlp_up", "mlp_down")),
    ("triton_poi_fused__to_copy_mul_silu_2", ("activation",)),
)
_UPDATE = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
_OUTPUT = "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT"
_GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
_SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankOp:
    """A simulated operation on one rank."""

    op: StreamOp
    start: Seconds
    end: Seconds


def simulate_ranks(
    ops: Sequence[StreamOp], paces: Sequence[Ratio]
) -> tuple[tuple[RankOp, ...], ...]:
    """Return the operations of each rank; a collective ends when all ranks have arrived.

    Operations wait only for what stands before them in the list. A rank computes `pace` times as
    long as the operation says.
    """
    ranks = range(len(paces))
    free: list[dict[str, Seconds]] = [{} for _ in ranks]
    ends: list[dict[str, Seconds]] = [{} for _ in ranks]
    rank_ops: list[list[RankOp]] = [[] for _ in ranks]
    for op in ops:
        starts = [
            max([free[rank].get(op.stream, 0.0), *(ends[rank][key] for key in op.after)])
            for rank in ranks
        ]
        last = max(starts)
        for rank, pace in enumerate(paces):
            alone = op.stream == COMPUTE
            end = starts[rank] + pace * op.time if alone else last + op.time
            free[rank][op.stream] = ends[rank][op.key] = end
            rank_ops[rank].append(RankOp(op=op, start=starts[rank], end=end))
    return tuple(map(tuple, rank_ops))


def sample_files() -> tuple[str, ...]:
    """Return Kineto's JSON of each rank."""
    run = setting_run(_SETTING)
    rank = rank_rates(run.cluster, run.training)
    layer = layer_time(run.model, run.plan, run.training, rank, sparse=False)
    work = Workload(
        layers=run.model.num_layers,
        forward=layer.forward,
        backward=layer.backward,
        parameters=dense_layer_parameters(run.model).matrices,
        data=nccl_group(rank, rank_group(rank, WORLD_SIZE, 1)),
        optimizer=_OPTIMIZER,
    )
    ops = list(program(work))
    turn = next(at for at, op in enumerate(ops) if op.key.startswith("B"))
    output = output_time(run.model, run.plan, run.training, rank)
    ops.insert(turn, StreamOp(key="output", stream=COMPUTE, time=output))
    ranks = simulate_ranks(ops, PACES)
    # All ranks begin a step together: the batch is there when the slowest is done.
    length = max(ran.end for rank_ops in ranks for ran in rank_ops) + _BETWEEN
    whole = round(work.parameters)
    return tuple(_file(rank, rank_ops, length, whole) for rank, rank_ops in enumerate(ranks))


def sample_text() -> str:
    """Return the sample trace as an input text, which `engine.form.trace_sample` keeps."""
    ranks = [
        read_kineto(text, f"simulated-rank{rank}.json") for rank, text in enumerate(sample_files())
    ]
    return json.dumps(document_of(ranks), separators=(",", ":"))


def _file(rank: Count, ran: Sequence[RankOp], length: Seconds, whole: Count) -> str:
    events: list[dict[str, Any]] = []
    for step in range(_STEPS):
        start = step * length
        end = max(rank_op.end for rank_op in ran)
        events.append(_event("gpu_user_annotation", f"ProfilerStep#{step + 1}", start, end, {}))
        copied = {"stream": _COMPUTE_STREAM, "bytes": 8 * TOKENS}
        name = "Memcpy HtoD (Pinned -> Device)"
        events.append(_event("gpu_memcpy", name, start, _COPY, copied))
        events += (event for rank_op in ran for event in _events(rank_op, start + _COPY, whole))
    head = {
        "schemaVersion": 1,
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": WORLD_SIZE},
        "baseTimeNanoseconds": 0,
        "displayTimeUnit": "ms",
    }
    return json.dumps({**head, "traceEvents": events}, separators=(",", ":"))


def _events(ran: RankOp, origin: Seconds, whole: Count) -> Iterator[dict[str, Any]]:
    start = origin + ran.start
    if ran.op.stream != COMPUTE:
        yield _collective(ran, start, whole)
        return
    if ran.op.key[0] not in "FB":
        name = _OUTPUT if ran.op.key == "output" else _UPDATE
        yield _event("kernel", name, start, ran.end - ran.start, {"stream": _COMPUTE_STREAM})
        return
    direction = "Fwd" if ran.op.key[0] == "F" else "Bwd"
    for name, share in _kernel_shares():
        length = share * (ran.end - ran.start)
        args = {"stream": _COMPUTE_STREAM}
        yield _event("kernel", name.replace("{way}", direction), start, length, args)
        start += length


@lru_cache(maxsize=1)
def _kernel_shares() -> tuple[tuple[str, Ratio], ...]:
    """Return the kernels of a layer and their shares of its time, by the roofline."""
    gpu = ACCELERATORS["H100-SXM"]
    reached = achieved_shares(gpu)
    rates = gpu.peak["fp16"] * reached.matmul, gpu.memory_bandwidth * reached.memory
    operators = layer_operators(MODELS["llama-3-8b"], TOKENS, TOKENS, fused=True, flash=True)
    times: Mapping[str, Seconds] = {
        operator.key: roofline_time(operator.operations, operator.moved, *rates)
        for operator in operators
    }
    total = sum(times.values())
    return tuple((name, sum(times[key] for key in keys) / total) for name, keys in _KERNELS)


def _collective(ran: RankOp, start: Seconds, whole: Count) -> dict[str, Any]:
    gathers = ran.op.key.endswith(":parameters")
    part = whole // WORLD_SIZE
    args = {
        "stream": _NCCL_STREAM,
        "Collective name": "_allgather_base" if gathers else "_reduce_scatter_base",
        "In msg nelems": part if gathers else whole,
        "Out msg nelems": whole if gathers else part,
        "Group size": WORLD_SIZE,
        "dtype": "BFloat16",
        "Process Group Name": "0",
    }
    return _event("kernel", _GATHER if gathers else _SCATTER, start, ran.end - ran.start, args)


def _event(
    kind: str, name: str, start: Seconds, length: Seconds, args: Mapping[str, object]
) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": kind,
        "name": name,
        "pid": 0,
        "tid": args.get("stream", _COMPUTE_STREAM),
        "ts": round(start / MICRO, 3),
        "dur": round(length / MICRO, 3),
        "args": {"device": 0, **args},
    }
