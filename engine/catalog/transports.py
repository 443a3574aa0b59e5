"""How NCCL's messages travel over each kind of link: latencies, protocols, ramps.

The one place for the latency of a hop, by transport and class of message: `step` of large messages
(Simple), `step_small` of small ones (LL). A page that wants another value says why.
"""

from dataclasses import dataclass

from engine.basis.units import MICRO, Bytes, KiB, MiB, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """How NCCL's messages travel over one kind of link, beside its bandwidth.

    Attributes:
        start_small: start of a collective in LL, the protocol for small messages.
        step_small: one step of it.
        share_small: of the bandwidth of large messages that LL reaches; 0: the link has no LL.
        start: start of a collective in the protocol for large messages (Simple).
        step: one step of it.
        ramp: so much of a large message is sent at less than full speed.
        scale: the size at which half of that has been reached.
        eager: messages up to this size go without asking the receiver first.
        step_eager: one step of those.
    """

    start_small: Seconds = 0.0
    step_small: Seconds = 0.0
    share_small: Share = 0.0
    start: Seconds = 0.0
    step: Seconds = 0.0
    ramp: Bytes = 0.0
    scale: Bytes = 1.0
    eager: Bytes = 0.0
    step_eager: Seconds = 0.0


# Starts, the step of LL inside a node and LL's share (88 of 235, 141 of 370 GB/s) are those that
# NCCL's tuner plans with (tuning.cc). The other figures are fitted by
# `tests/validation/fit_collectives.py` to the measured all-reduce of 8 A100, 8 H100 and 8 H200, of
# four nodes with InfiniBand and of two with EFA v1.
LAUNCH: Seconds = 4.5 * MICRO  # from one kernel to the next, and until all ranks have arrived
NVLINK = Transport(
    start_small=6.6 * MICRO,
    step_small=0.6 * MICRO,
    share_small=0.38,
    start=8.4 * MICRO,
    step=2.04 * MICRO,
    ramp=43.3 * MiB,
    scale=41.0 * MiB,
)
# One collective in the switch (NVLS), and the share of a ring's bandwidth that its transfers reach:
# 414, 436, 460 and 473 against 365 GB/s of bus bandwidth with 5 to 8 H200 (NCCL plans with 0.85).
SWITCH = Transport(start=23.1 * MICRO, ramp=20.4 * MiB, scale=23.9 * MiB)
SWITCH_SHARE: Share = 0.833
# Of the bandwidth of a ring a tree reaches this share (tuning.cc).
TREE_SHARE: Share = 0.92
INFINIBAND = Transport(step_small=9.3 * MICRO, share_small=0.38, step=11.4 * MICRO)
# The plug-in for EFA v1 leaves NCCL only Simple, since packets arrive out of order, and sends
# eagerly up to 8 KiB (aws-ofi-nccl: platform-aws.c, nccl_ofi_param.h).
EFA_V1 = Transport(
    step=87.4 * MICRO,
    ramp=31.9 * MiB,
    scale=9.94 * MiB,
    eager=8 * KiB,
    step_eager=66.7 * MICRO,
)
