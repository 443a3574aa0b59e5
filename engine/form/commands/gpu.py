"""Commands that inspect a GPU, its node's links, and collectives."""

from engine.form.commands.command import Command

COMMANDS = {
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
