"""Commands that look at the job and its kernels."""

from engine.form.commands.command import Command

COMMANDS = {
    "torch_profiler": Command(
        name="PyTorch profiler",
        layer="job",
        version="PyTorch 2.x",
        language="python",
        text="""\
import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=5, warmup=2, active=<steps>, repeat=1),
    on_trace_ready=tensorboard_trace_handler("<name>", worker_name=f"rank{rank}"),
    record_shapes=True,
) as profiler:
    for step, batch in enumerate(loader):
        train_step(batch)
        profiler.step()
""",
        fields=("steps", "name"),
        options=(
            ("wait, warmup", "Steps that are skipped, and steps that are traced and thrown away."),
            ("active", "Steps that are kept. Few: a trace of one step has many thousand events."),
            ("worker_name", "One file per rank; the ranks have to be compared."),
            ("record_shapes", "Shapes of the arguments, to tell one product from another."),
            ("profiler.step()", "Tells the profiler that a step has ended."),
        ),
        sample=(
            (
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                "A collective. Its length includes the wait for the last rank.",
            ),
            ("nvjet_ or cutlass_ or gemm in a name", "A matrix product: what the tensor cores do."),
            (
                "cudaStreamSynchronize on the CPU",
                "The CPU waits for the GPU, and launches nothing.",
            ),
        ),
        healthy="Kernels without gaps, collectives beside them, the CPU far ahead of the GPU.",
        relation="Splits the step into computing, exposed communication and idle time.",
        sources=("pytorch_profiler",),
    ),
    "hta": Command(
        name="Holistic Trace Analysis",
        layer="job",
        version="HolisticTraceAnalysis on traces of the PyTorch profiler",
        language="python",
        text="""\
from hta.trace_analysis import TraceAnalysis

analyzer = TraceAnalysis(trace_dir="<name>")
print(analyzer.get_temporal_breakdown())
print(analyzer.get_comm_comp_overlap())
print(analyzer.get_idle_time_breakdown(ranks=[0, <rank>]))
""",
        fields=("name", "rank"),
        options=(
            ("trace_dir", "The folder with one trace per rank."),
            ("get_temporal_breakdown", "Per rank: idle, computing, other."),
            ("get_comm_comp_overlap", "Per rank: how much of the communication is hidden."),
            ("get_idle_time_breakdown", "Idle time: waiting for the host, for a kernel, other."),
        ),
        sample=(
            ("rank 0   comp_comm_overlap_pctg 71.2", "71.2 % of rank 0's communication is hidden."),
            (
                "rank 5   comp_comm_overlap_pctg 96.8",
                "Rank 5 hardly waits: it may be the slow one.",
            ),
            ("stream 7   host_wait   0.41", "41 % of this stream's idle time waits for the CPU."),
        ),
        healthy="All ranks alike. The published tutorial names no limit; compare ranks and days.",
        relation="Exposed communication is what the step waits for. Hidden communication can still "
        "slow the kernels beside it.",
        sources=("hta",),
    ),
    "flight_recorder": Command(
        name="Flight Recorder",
        layer="job",
        version="PyTorch 2.5 or later; newer ones call the first TORCH_FR_BUFFER_SIZE",
        text="""\
export TORCH_NCCL_TRACE_BUFFER_SIZE=2000
export TORCH_NCCL_DUMP_ON_TIMEOUT=1
export TORCH_NCCL_DEBUG_INFO_TEMP_FILE=/shared/<name>/rank_
# after the hang, over the dumps of all ranks:
torchfrtrace /shared/<name> --prefix rank_
""",
        fields=("name",),
        options=(
            ("TORCH_NCCL_TRACE_BUFFER_SIZE", "How many collectives each rank remembers."),
            ("TORCH_NCCL_DUMP_ON_TIMEOUT", "Write them down when the watchdog gives up."),
            ("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "Where; the rank's number is appended."),
            (
                "torchfrtrace",
                "Compares the ranks, and finds the collective that some did not join.",
            ),
        ),
        sample=(
            ("collective_seq_id 4711  all_reduce  state started", "This rank has begun it ..."),
            ("rank 5: last collective_seq_id 4710", "... and rank 5 has not come: look there."),
        ),
        healthy="No dump at all.",
        relation="A collective that never ends makes an endless step at full utilization.",
        sources=("pytorch_flight_recorder",),
    ),
    "nsys": Command(
        name="nsys",
        layer="kernels",
        version="Nsight Systems 2023 or later",
        text="""\
nsys profile --trace=cuda,nvtx,osrt --sample=none \\
    --delay=<delay> --duration=<duration> \\
    --output=<name>_%q{RANK} --force-overwrite=true \\
    python train.py
nsys stats --report cuda_gpu_kern_sum <name>_<rank>.nsys-rep
""",
        fields=("delay", "duration", "name", "rank"),
        options=(
            ("--trace", "CUDA calls and kernels, your NVTX ranges, calls that block in the OS."),
            ("--sample=none", "No sampling of CPU stacks: less disturbance."),
            (
                "--delay, --duration",
                "Seconds before it starts, and for which it collects. The "
                "program is ended with the collection unless --kill=none is given.",
            ),
            ("%q{RANK}", "Filled from the environment: one file per rank."),
            ("cuda_gpu_kern_sum", "Time per kernel, summed over the run."),
        ),
        sample=(
            ("Time (%)  Total Time (ns)  Instances  ...  Name", "Times are nanoseconds."),
            (
                "31.4  2104000000  96  ncclDevKernel_AllReduce_...",
                "A third of all kernel time, waiting included.",
            ),
            ("18.0  1206000000  3072  ..._gemm_...", "Products; short ones are launch-bound."),
        ),
        healthy="Products at the top of the list, not collectives and not elementwise kernels.",
        relation="Says which kernels fill the part of a step that is computing.",
        sources=("nsight_systems",),
    ),
    "ncu": Command(
        name="ncu",
        layer="kernels",
        version="Nsight Compute 2023 or later",
        text="""\
ncu --set full --kernel-name regex:<kernel> \\
    --launch-skip <skip> --launch-count <count> \\
    -o <name> python one_layer.py
""",
        fields=("kernel", "skip", "count", "name"),
        options=(
            ("--set full", "All sections. It replays each kernel many times."),
            ("--kernel-name regex:", "Only kernels whose name has this in it."),
            ("--launch-skip, --launch-count", "Pass over the first ones; then profile so many."),
            ("-o", "The report, to be opened in the GUI."),
        ),
        sample=(
            ("Compute (SM) Throughput  %  71.3", "Of what the SMs could do."),
            ("DRAM Throughput  %  34.0", "Of the memory bandwidth. The higher one binds."),
            ("Achieved Occupancy  %  18.7", "Low occupancy is normal for matrix kernels."),
        ),
        healthy="One of the two throughputs is high. Both low: latency, or too little work.",
        relation="Only for the kernels that nsys put at the top; never on a job that "
        "communicates, which would hang between replays.",
        sources=("nsight_compute",),
    ),
}
