"""NCCL environment variables: effect, default, and when never to set them.

Source: NCCL's user guide and source at 2.30 (`docs/userguide/source/env.rst`, `tuning.cc`). The
guide has two parts: settings that describe a system, which may stay, and settings for debugging,
which "should generally not be set for production code".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["system", "debugging", "logging"]
SOURCE = "nccl_env"


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclVariable:
    """One variable.

    Attributes:
        name: as the environment has it. kind: the part of the guide that it stands in; logging
        costs time at most. default: what holds where it is not set. effect: what it does, in one
        sentence. use: when to set it. never: when not to. changes: what the model can do about it,
        by the names of `engine.simulate.collectives.nccl_effect`;
            empty: no number.
    """

    name: str
    kind: Kind
    default: str
    effect: str
    use: str
    never: str
    changes: str = ""


_ROWS = (
    NcclVariable(
        name="NCCL_ALGO",
        kind="debugging",
        default="unset: the fastest by NCCL's own model, for every call",
        effect="Allows only the algorithms it lists, for all sizes. Since 2.24 a list without ring "
        "fails where nothing on it can run the operation.",
        use="To compare algorithms, and as Ring to measure the ports of two nodes.",
        never="In a job: a ring that is right for a gigabyte is wrong for a megabyte on many "
        "nodes, and it turns NVLS off.",
        changes="ring",
    ),
    NcclVariable(
        name="NCCL_PROTO",
        kind="debugging",
        default="unset: LL, LL128 where it is safe, and Simple",
        effect="Allows only the protocols it lists.",
        use="To exclude one (^LL128) where a bug is suspected.",
        never="LL128 on a platform that does not enable it: the guide warns of corrupted data. "
        "LL for large messages: half of its bytes are flags.",
        changes="small",
    ),
    NcclVariable(
        name="NCCL_NVLS_ENABLE",
        kind="debugging",
        default="2: on where the NVSwitch can add",
        effect="Set to 0, it turns off sums in the NVSwitch and the memory that they need.",
        use="0 to see what NVLS gains, or where its resources cannot be allocated.",
        never="0 in a job on Hopper or later without having measured.",
        changes="no_switch",
    ),
    NcclVariable(
        name="NCCL_P2P_DISABLE",
        kind="debugging",
        default="unset: direct copies over NVLink or PCIe",
        effect="Set to 1, it sends everything inside a node through the memory of the host.",
        use="To find out whether direct copies cause a hang.",
        never="In a job on NVLink. It is a common leftover of a workaround.",
        changes="pcie",
    ),
    NcclVariable(
        name="NCCL_IB_DISABLE",
        kind="debugging",
        default="unset: InfiniBand or RoCE where there is any",
        effect="Set to 1, it leaves only IP sockets between nodes.",
        use="To separate a fault of RDMA from one of the program.",
        never="In a job on nodes with RDMA.",
        changes="sockets",
    ),
    NcclVariable(
        name="NCCL_IB_HCA",
        kind="system",
        default="unset: all active RDMA ports",
        effect="Which cards are used. Names are prefixes: mlx5_1 also takes mlx5_10 to mlx5_19.",
        use="With = for exact names, to leave out cards for storage.",
        never="With fewer cards than the node has for its GPUs: every missing one is bandwidth.",
        changes="one_port",
    ),
    NcclVariable(
        name="NCCL_NET_GDR_LEVEL",
        kind="debugging",
        default="unset: by the architecture",
        effect="Up to which distance a card reads the memory of a GPU directly.",
        use="SYS or PHB to force it in a virtual machine that hides its PCIe switches.",
        never="LOC, which turns GPUDirect RDMA off; numbers instead of names.",
    ),
    NcclVariable(
        name="NCCL_SOCKET_IFNAME",
        kind="system",
        default="unset: ib* first, then others, lo and docker* last",
        effect="Which IP interfaces start the job and carry data where there is no RDMA.",
        use="To name the interface that all nodes can reach.",
        never="As a way to choose RDMA cards: that is NCCL_IB_HCA.",
    ),
    NcclVariable(
        name="NCCL_IB_GID_INDEX",
        kind="system",
        default="-1: chosen by NCCL",
        effect="Which address a RoCE port uses.",
        use="On RoCE where the automatic choice fails.",
        never="On InfiniBand, and copied from another cluster.",
    ),
    NcclVariable(
        name="NCCL_IB_TC",
        kind="system",
        default="0",
        effect="Traffic class of the packets, which switches map to a queue.",
        use="On RoCE, as the network's owner says.",
        never="With a value that the switches do not treat as lossless.",
    ),
    NcclVariable(
        name="NCCL_IB_QPS_PER_CONNECTION",
        kind="debugging",
        default="1",
        effect="Queue pairs between two ranks, so that their packets take several paths.",
        use="2 to 8 where ECMP hashes flows onto the same links.",
        never="Above 1 where adaptive routing or spraying already does that: it only adds latency.",
    ),
    NcclVariable(
        name="NCCL_CROSS_NIC",
        kind="system",
        default="2: the same card where that is not slower",
        effect="Whether a ring may leave a node through a card other than the one it came in by.",
        use="0 on a rail network whose spine is narrow, 1 where all cards meet in one switch.",
        never="1 on rails: messages may then change rails, over the spine.",
    ),
    NcclVariable(
        name="NCCL_PXN_DISABLE",
        kind="debugging",
        default="0: on",
        effect="Set to 1, it stops messages from changing rails over NVLink.",
        use="To find a fault.",
        never="On rails with all-to-all traffic.",
    ),
    NcclVariable(
        name="NCCL_COLLNET_ENABLE",
        kind="system",
        default="0",
        effect="Set to 1, it lets switches of the network add (SHARP), through a plug-in.",
        use="On InfiniBand whose switches run SHARP, if the plug-in is loaded.",
        never="In the hope of doubling everything: only sums gain, and only with the plug-in.",
    ),
    NcclVariable(
        name="NCCL_MAX_CTAS",
        kind="debugging",
        default="unset: as NCCL needs",
        effect="Most thread blocks, and so multiprocessors, that a collective takes.",
        use="To give multiprocessors back to products that run beside it, after measuring both.",
        never="For a benchmark of the network.",
    ),
    NcclVariable(
        name="NCCL_MIN_CTAS",
        kind="debugging",
        default="unset",
        effect="Fewest thread blocks. More than needed slows small messages down.",
        use="In a benchmark, equal to the most, to compare numbers of channels.",
        never="In a job that computes beside its collectives.",
    ),
    NcclVariable(
        name="NCCL_MAX_NCHANNELS",
        kind="debugging",
        default="unset",
        effect="The old name of NCCL_MAX_CTAS, deprecated since 2.17; the smaller of both counts.",
        use="Nowhere new.",
        never="Next to NCCL_MAX_CTAS with another value.",
    ),
    NcclVariable(
        name="NCCL_BUFFSIZE",
        kind="debugging",
        default="4194304 (4 MiB)",
        effect="Bytes of the buffer between two GPUs, for every channel.",
        use="Smaller, where memory is short and there are many communicators.",
        never="Larger without a measurement: memory grows with channels and peers.",
    ),
    NcclVariable(
        name="NCCL_NTHREADS",
        kind="debugging",
        default="512 on recent GPUs",
        effect="Threads of a thread block.",
        use="To compare.",
        never="In a job.",
    ),
    NcclVariable(
        name="NCCL_CTA_POLICY",
        kind="system",
        default="DEFAULT",
        effect="EFFICIENCY takes fewer thread blocks; ZERO lets copy engines work where they can.",
        use="Where products beside a collective lose too much, with registered windows.",
        never="Without looking at the step time: the collective may become slower.",
    ),
    NcclVariable(
        name="NCCL_IB_TIMEOUT",
        kind="system",
        default="20 (about 30 s with 7 retries)",
        effect="How long a card waits for an answer, as 4.096 µs times two to this power.",
        use="22 on very large networks that fail with error 12.",
        never="0 or 32 and above: that waits forever, and a dead link looks like a hang.",
    ),
    NcclVariable(
        name="NCCL_SHM_DISABLE",
        kind="debugging",
        default="unset",
        effect="Set to 1, it stops copies through shared memory of the host.",
        use="In a container with too little /dev/shm, until it has more.",
        never="In a job without that reason.",
    ),
    NcclVariable(
        name="NCCL_CUMEM_ENABLE",
        kind="debugging",
        default="-2: on where driver and GPU can (since 2.19)",
        effect="Set to 0, buffers are no longer those of CUDA's cuMem functions. NVLink between "
        "hosts (MNNVL) and symmetric memory need them, and give way without a line.",
        use="0 to rule out a fault of a driver or a container.",
        never="In a rack of NVLink (NVL72). verl 0.9 sets it to 0 for its workers.",
    ),
    NcclVariable(
        name="NCCL_MNNVL_ENABLE",
        kind="debugging",
        default="2: where the fabric of all ranks is complete",
        effect="Set to 0, hosts of a rack talk over the network instead of NVLink.",
        use="0 to go on while IMEX is repaired: NCCL ends with a warning where it finds the rack's "
        "NVLink and cannot use it.",
        never="In a job whose experts or tensors span hosts of a rack.",
    ),
    NcclVariable(
        name="NCCL_TOPO_FILE",
        kind="system",
        default="unset: detected",
        effect="The distances between GPUs and cards, from a file instead of the machine.",
        use="In a virtual machine, as its provider says.",
        never="With a file of another type of machine.",
    ),
    NcclVariable(
        name="NCCL_DEBUG",
        kind="logging",
        default="unset: silent",
        effect="VERSION, WARN, INFO or TRACE: how much is printed.",
        use="WARN always, INFO with NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING to ask a question.",
        never="INFO with COLL in a long job: a line for every call of every rank.",
    ),
    NcclVariable(
        name="NCCL_DEBUG_SUBSYS",
        kind="logging",
        default="INIT,BOOTSTRAP,ENV",
        effect="What INFO prints: TUNING adds the algorithm and the protocol of every call.",
        use="As INIT,ENV,TUNING, for the reader on this page.",
        never="ALL for more than a minute.",
    ),
)
VARIABLES: Mapping[str, NcclVariable] = {variable.name: variable for variable in _ROWS}
