"""All commands, of the job, the GPU and the network, by name."""

from dataclasses import dataclass

# A measuring tool as data: its command with places to fill, its options, and how to read it.

Row = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of a measurement tool.

    Attributes:
        name: of the tool, as in the list.
        layer: of the machine that it looks at, a key of `LAYERS`.
        version: what the command was checked against.
        language: of the text, "sh" or "python".
        text: the command; places to fill are names of inputs in angle brackets.
        fields: the inputs that it uses.
        options: (option, what it does).
        sample: (a line in the form of the tool's output, what it means); made up, not measured.
        healthy: what a healthy job shows.
        relation: what it has to do with the time of a step.
        sources: keys of the bibliography.
    """

    name: str
    layer: str
    version: str
    language: str = "sh"
    text: str
    fields: tuple[str, ...]
    options: tuple[Row, ...]
    sample: tuple[Row, ...]
    healthy: str
    relation: str
    sources: tuple[str, ...]


LAYERS = {
    "job": "Job",
    "kernels": "Kernels",
    "gpu": "GPU",
    "node": "Links in the node",
    "collectives": "Collectives",
    "infiniband": "InfiniBand",
    "ethernet": "RoCE, Ethernet",
    "efa": "EFA",
}


# Commands that inspect a GPU, its node's links, and collectives.

GPU_COMMANDS = {
    "dcgmi": Command(
        name="dcgmi dmon",
        layer="gpu",
        version="DCGM 3 and 4",
        text="dcgmi dmon -e 1001,1002,1004,1005 -i <gpu> -d <interval> -c <count>\n",
        fields=("gpu", "interval", "count"),
        options=(
            ("-e", "Fields: 1001 engine active, 1002 SM active, 1004 tensor active, 1005 DRAM."),
            ("-i", "The GPU; without it, all GPUs."),
            ("-d", "Milliseconds between two rows."),
            ("-c", "The number of rows; without it, until interrupted."),
        ),
        sample=(
            ("#Entity   GRACT   SMACT   TENSO   DRAMA", "One column for each field."),
            (
                "GPU 0     1.000   0.121   0.000   0.004",
                "Something runs, on an eighth of the SMs, "
                "and computes nothing: a collective that waits.",
            ),
            ("GPU 0     0.998   0.942   0.517   0.388", "A training step at work."),
        ),
        healthy="SM active 0.8 or more is necessary, not sufficient; less than 0.5 likely means "
        "that the GPU is used badly (NVIDIA).",
        relation="Tensor active bounds MFU; SM active tells an empty GPU from slow kernels.",
        sources=("dcgm_profiling", "dcgmi_dmon"),
    ),
    "nvidia_smi": Command(
        name="nvidia-smi",
        layer="gpu",
        version="driver 535 or later",
        text="""\
nvidia-smi -i <gpu> --query-gpu=utilization.gpu,clocks.sm,power.draw,temperature.gpu \\
    --format=csv -l 1
nvidia-smi -i <gpu> -q -d PERFORMANCE
""",
        fields=("gpu",),
        options=(
            ("utilization.gpu", "Time in which at least one kernel ran. Not how much it did."),
            ("clocks.sm", "Compare with the other GPUs under the same load."),
            ("-l 1", "Every second."),
            ("-q -d PERFORMANCE", "Which reasons lower the clocks at this moment."),
        ),
        sample=(
            (
                "100 %, 1980 MHz, 142.10 W, 39",
                "Full utilization at a fifth of the power: it spins.",
            ),
            ("100 %, 1410 MHz, 698.75 W, 84", "At the power limit, and slower for it."),
            ("SW Power Cap : Active", "The board's power limit holds the clock down."),
        ),
        healthy="Equal clocks on all GPUs of the job. Utilization has no healthy range.",
        relation="One GPU at 90 % of the clock makes every step as slow as itself.",
        sources=("nvidia_smi", "nvml_utilization"),
    ),
    "nvlink": Command(
        name="nvidia-smi nvlink",
        layer="node",
        version="driver 535 or later",
        text="""\
nvidia-smi nvlink --status -i <gpu>
nvidia-smi nvlink --errorcounters -i <gpu>
nvidia-smi topo -m
""",
        fields=("gpu",),
        options=(
            ("--status", "Every link, and its speed."),
            ("--errorcounters", "Replays, recoveries and CRC errors since they were reset."),
            ("topo -m", "Which GPU reaches which adapter, and over what."),
        ),
        sample=(
            ("Link 0: 26.562 GB/s", "The link is up. 18 of them make NVLink 4's bandwidth."),
            ("Link 4: <inactive>", "Missing: tensor parallelism runs at the rate of the rest."),
            ("Link 0: Replay Errors: 0", "Sent again; growing numbers cost bandwidth."),
        ),
        healthy="All links up, no counter that grows during a run.",
        relation="Tensor and expert parallelism wait for these links in every layer.",
        sources=("nvidia_smi",),
    ),
    "nccl_tests": Command(
        name="nccl-tests",
        layer="collectives",
        version="nccl-tests 2.19, built with MPI=1, and Open MPI 4 or 5",
        text="""\
# once, on a file system that all nodes share
git clone https://github.com/NVIDIA/nccl-tests && cd nccl-tests
make -j MPI=1 MPI_HOME=/usr/lib/x86_64-linux-gnu/openmpi
# hosts: a line for each node, as "node1 slots=<gpus_per_node>"
mpirun -np <ranks> -N <gpus_per_node> --hostfile hosts \\
    -x LD_LIBRARY_PATH -x NCCL_DEBUG=WARN \\
    ./build/all_reduce_perf -b 1M -e <size> -f 2 -g 1 -n <count> -c 0
""",
        fields=("ranks", "gpus_per_node", "size", "count"),
        options=(
            ("-b, -e, -f", "From 1 MiB to the largest size, twice as large each time."),
            ("-np, -N", "Processes in all, and on each node: as many as there are GPUs."),
            ("-g 1", "One GPU per process. Without MPI=1 every process would run alone."),
            ("-x", "Settings that go to all nodes; NCCL_DEBUG=INFO says which wires NCCL takes."),
            ("-n", "Timed repetitions."),
            ("-c 0", "No check of the results, which is slow at scale."),
        ),
        sample=(
            (
                "size  count  type  redop  root  time  algbw  busbw  #wrong",
                "The head of the table.",
            ),
            ("536870912  ...  4210  127.5  251.0  N/A", "0.5 GiB in 4.21 ms: 251 GB/s on the bus."),
            ("1048576  ...  180.2  5.8  11.5  N/A", "Latency: a small message is never fast."),
        ),
        healthy="Large sizes come near the ports' bandwidth, since busbw may be compared with "
        "the hardware; NVLink SHARP may exceed it.",
        relation="Time of the collective alone. What the step waits for is less, or more if "
        "ranks come late.",
        sources=("nccl_tests",),
    ),
}


# Commands that look at the network: InfiniBand, Ethernet with RoCE, and EFA.

NETWORK_COMMANDS = {
    "perfquery": Command(
        name="perfquery",
        layer="infiniband",
        version="infiniband-diags of rdma-core",
        text="""\
perfquery -C <device> -P 1
perfquery -x -C <device> -P 1
""",
        fields=("device",),
        options=(
            ("-C, -P", "The adapter and its port; with a LID, a port of another node or switch."),
            ("-x", "Extended counters, 64 bits: data and packets."),
            ("-r", "Also sets them to zero. Better: read twice, and take the difference."),
        ),
        sample=(
            (
                "SymbolErrorCounter:..............12",
                "Errors on the lanes: a cable or a transceiver.",
            ),
            ("LinkDownedCounter:...............1", "The link went down once."),
            (
                "PortXmitWait:....................22730501",
                "Ticks with data to send and no credit: congestion, or a slow receiver.",
            ),
            ("PortXmitData:....................26006570014026", "Counts four octets each."),
        ),
        healthy="Errors and link-downs do not grow. PortXmitWait is never zero under load; "
        "compare ports.",
        relation="One bad port slows every ring that passes through it.",
        sources=("perfquery", "ib_counters"),
    ),
    "ethtool": Command(
        name="ethtool",
        layer="ethernet",
        version="Linux, driver mlx5",
        text="""\
ethtool -S <interface> | grep -E 'prio3_pause|discards|link_down_events_phy|symbol_err'
""",
        fields=("interface",),
        options=(
            ("-S", "The driver's own counters; other makers name them differently."),
            ("prio3", "The priority that often carries RoCE; ask your network for yours."),
        ),
        sample=(
            ("rx_prio3_pause: 15234", "The switch told this port to stop: congestion beyond it."),
            ("tx_prio3_pause: 0", "This port told the switch to stop: the host is too slow."),
            ("link_down_events_phy: 2", "The link fell twice: cable or transceiver."),
            ("rx_pcs_symbol_err_phy: 0", "Errors that were not corrected."),
        ),
        healthy="Pauses that do not grow in proportion to the traffic; no error that grows.",
        relation="A paused port sends nothing on that priority, and the collective waits.",
        sources=("mlx5_counters",),
    ),
    "rdma": Command(
        name="rdma",
        layer="ethernet",
        version="iproute2",
        text="rdma statistic show link <device>/1\n",
        fields=("device",),
        options=(("show link", "The hardware counters of one port, as in /sys/class/infiniband."),),
        sample=(
            ("out_of_sequence 0", "Packets that came in the wrong order, or after a loss."),
            ("local_ack_timeout_err 3", "The other side did not answer in time: packets are lost."),
            ("np_cnp_sent 88120", "This receiver told senders to slow down."),
            ("rp_cnp_handled 91004", "This sender was told to slow down, and did."),
        ),
        healthy="No timeouts. Congestion notifications are normal; compare ports.",
        relation="A packet lost at the end of a message costs a timeout: more than a collective.",
        sources=("rdma_statistic",),
    ),
    "fi_info": Command(
        name="fi_info",
        layer="efa",
        version="libfabric of the EFA installer",
        text="fi_info -p efa -t FI_EP_RDM\n",
        fields=(),
        options=(
            ("-p efa", "Only this provider."),
            ("-t FI_EP_RDM", "Only reliable datagram endpoints."),
        ),
        sample=(
            ("provider: efa", "The device is there. No line at all: NCCL falls back to TCP."),
            ("domain: rdmap0s31-rdm", "One for each adapter: count them."),
        ),
        healthy="As many domains as the instance has EFA adapters.",
        relation="Without EFA every collective between nodes runs over sockets.",
        sources=("aws_efa",),
    ),
    "fi_pingpong": Command(
        name="fi_pingpong",
        layer="efa",
        version="libfabric of the EFA installer",
        text="""\
# on one node
fi_pingpong -p efa
# on another
fi_pingpong -p efa <peer>
""",
        fields=("peer",),
        options=(
            ("-p efa", "EFA or nothing: it does not fall back to TCP."),
            ("the address", "Of the node that runs the first command."),
        ),
        sample=(
            ("bytes #sent #ack total time MB/sec usec/xfer", "The head of the table."),
            (
                "64    10    =10  1.2k  0.00s  1.73  37.0",
                "A pair of nodes can talk. If it hangs: security group, or different placement.",
            ),
        ),
        healthy="It ends. It is a check, no benchmark; use nccl-tests for bandwidth.",
        relation="Tells a network that is closed from one that is slow.",
        sources=("aws_efa",),
    ),
    "efa_counters": Command(
        name="EFA counters",
        layer="efa",
        version="Linux, driver efa",
        text="""\
ls /sys/class/infiniband
grep . /sys/class/infiniband/rdmap0s31/ports/1/hw_counters/*
""",
        fields=(),
        options=(
            ("ls", "The names of the adapters; rdmap0s31 is one."),
            ("grep .", "Prints every counter with the name of its file."),
        ),
        sample=(
            (".../hw_counters/tx_bytes:85466418782288", "Sent since the driver was loaded."),
            (".../hw_counters/rx_drops:0", "Packets received and dropped."),
        ),
        healthy="rx_drops does not grow; bytes grow alike on all adapters.",
        relation="An adapter without traffic means that a channel does not use it.",
        sources=("aws_efa",),
    ),
}


# Commands that look at the job and its kernels.

JOB_COMMANDS = {
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


COMMANDS: dict[str, Command] = {**JOB_COMMANDS, **GPU_COMMANDS, **NETWORK_COMMANDS}
