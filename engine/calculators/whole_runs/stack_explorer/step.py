"""Overlap and profiling tabs of the stack explorer."""

from engine.calculators.whole_runs.stack_explorer.job import Job
from engine.calculators.whole_runs.stack_explorer.result import Result
from engine.core.slices import Slices
from engine.core.text import say
from engine.core.units import SECONDS, SHARE
from engine.core.views import Axis, Bar, Bars, Cell, Code, Segment, Table, Timeline
from engine.form.overlap.charts import schedule_timeline
from engine.simulate.step.step_time import StepTime

_PARTS = (
    ("compute", "computing", "compute"),
    ("exposed", "exposed communication", "communication"),
    ("bubble", "bubble", "pipeline"),
    ("rest", "optimizer, host, slowest GPU", "muted"),
)
# Part of the step: where a trace shows it, and the tool.
_SEEN = {
    "compute": ("kernels of products and attention on the compute stream", "ncu on the longest"),
    "tensor_parallel": ("collectives between products, nothing beside them", "nsys, nccl-tests"),
    "context_parallel": ("sends and receives between blocks of attention", "nsys"),
    "expert_parallel": ("all-to-all before and after the experts", "nsys, nccl-tests"),
    "pipeline": ("sends and receives between micro-batches", "nsys"),
    "data_parallel": (
        "reduce-scatters and gathers after the last backward pass",
        "torch.profiler, nccl-tests",
    ),
    "bubble": ("a receive that waits at the start or end of the step", "torch.profiler"),
    "optimizer": ("many small kernels at the end of the step", "torch.profiler"),
    "other": ("gaps, and collectives that wait for a late rank", "the log of all ranks"),
}
_NAMES = {
    "compute": "Computing",
    "tensor_parallel": "Tensor parallel, exposed",
    "context_parallel": "Context parallel, exposed",
    "expert_parallel": "Expert parallel, exposed",
    "pipeline": "Between stages, exposed",
    "data_parallel": "Data parallel, exposed",
    "bubble": "Bubble",
    "optimizer": "Optimizer",
    "other": "Host, slowest GPU",
}


def overlaps(job: Job) -> Bars:
    """Return the step with nothing overlapped, with gradients, and with tensor parallelism too."""
    steps = job.variants
    return Bars(
        title="The same step, more and more of it overlapped",
        axis=Axis(
            label="time",
            quantity=SECONDS,
            low=0.0,
            high=1.05 * max(step.total for _, _, step in steps),
        ),
        bars=tuple(_bar(key, label, step) for key, label, step in steps),
        caption="From the cost model. What is still exposed in the last bar stays exposed, with "
        "everything overlapped that the settings can overlap.",
    )


def _bar(key: str, label: str, step: StepTime) -> Bar:
    values = {
        "compute": step.compute,
        "exposed": step.exposed,
        "bubble": step.bubble,
        "rest": step.optimizer + step.other,
    }
    return Bar(
        key=key,
        label=label,
        segments=tuple(
            Segment(key=part, label=name, value=values[part], color=color)
            for part, name, color in _PARTS
        ),
    )


def timeline(result: Result) -> Slices[Timeline]:
    """Return the timeline of the first micro-batches of the slowest stage."""
    return schedule_timeline((yield from result.played.rest()))


def profiling_table(job: Job) -> Table:
    """Return the parts of the step, their place in a trace, and the tool."""
    parts = job.found.estimate["time"]
    ordered = sorted((key for key in _SEEN if parts[key] > 0), key=lambda key: -float(parts[key]))
    rows: list[tuple[Cell, ...]] = [
        (
            _NAMES[key],
            say("{s}", s=(float(parts[key]) / job.step.total, SHARE)),
            say("{t}", t=(float(parts[key]), SECONDS)),
            *_SEEN[key],
        )
        for key in ordered
    ]
    return Table(
        title="Where to look, the largest part first",
        columns=("Part", "Share", "Time", "In a trace", "Tool"),
        rows=tuple(rows),
        caption="Modeled. A trace of your job that says otherwise is right, and worth reading.",
    )


def commands(job: Job) -> Code:
    """Return commands of the layers, for this job."""
    nodes = max(1, job.run.plan.world_size // job.run.cluster.gpus_per_node)
    ranks = min(job.run.plan.world_size, job.run.cluster.gpus_per_node)
    pair = f"""
# the same over 2 of {nodes:,} nodes, one process per GPU
mpirun -np {2 * ranks} --map-by ppr:{ranks}:node all_reduce_perf -b 8 -e 8G -f 2 -g 1"""
    text = f"""# L3 step: one rank, only the steps between cudaProfilerStart and cudaProfilerStop
nsys profile --trace=cuda,nvtx --capture-range=cudaProfilerApi python train.py

# L2 collectives: nccl-tests on the GPUs of one node, one process for all of them
all_reduce_perf -b 8 -e 8G -f 2 -g {ranks}{pair if nodes > 1 else ""}

# L1 GPU: which fields this release can watch
dcgmi dmon --list

# L0 links: counters of an InfiniBand port, of an Ethernet port
perfquery -x
ethtool -S eth0
"""
    return Code(title="Commands for this job", language="sh", text=text)
