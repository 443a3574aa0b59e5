"""Latencies and bandwidths of the stages of a message between GPUs of two nodes.

Most are assumed, in the ranges that `engine.calculators.moving_bytes.message_waterfall.charts`
cites stage by stage; where one was measured, it is said.
"""

from collections.abc import Mapping

from engine.catalog.transports import LAUNCH
from engine.core.units import GB, MICRO, Bandwidth, Seconds

# PCIe 5.0 x16 between devices: 54.3 GB/s measured, of 63; over the sockets NCCL plans with 22.
PCIE: Bandwidth = 54.3 * GB
SOCKETS: Bandwidth = 22 * GB
# Per crossing: another PCIe switch or two, or both sockets and the link between them. Assumed.
DETOUR: Mapping[str, Seconds] = {"pix": 0.0, "pxb": 0.15 * MICRO, "sys": 0.5 * MICRO}
# One hop of NCCL's protocols, beside the path itself (Hu et al. 2025).
SYNC_LATENCY: Mapping[str, Seconds] = {
    "raw": 0.0,
    "ll": 1 * MICRO,
    "ll128": 2 * MICRO,
    "simple": 6 * MICRO,
}
# By field of a path. The launch is that of a collective's kernel everywhere else; a copy was
# measured on an MI300X (ROCm's issue 3809).
STAGES: Mapping[str, Seconds] = {
    "launch": LAUNCH,
    "post": 0.5 * MICRO,
    "read": 0.35 * MICRO,
    "pcie_out": 1 * MICRO,
    "transmit": 0.5 * MICRO,
    "hop": 0.13 * MICRO,
    "receive": 0.5 * MICRO,
    "pcie_in": 0.5 * MICRO,
    "write": 0.3 * MICRO,
    "finish": 0.5 * MICRO,
    "copy": 6 * MICRO,
}
# Cards of other networks, in presets: a switch of Ethernet, and a card of EFA. Assumed.
ETHERNET_HOP: Seconds = 0.5 * MICRO
EFA_CARD: Seconds = 6 * MICRO
# Eight stages, the middles of the ranges that a widely read page gives; it has no other stages.
PUBLISHED: Mapping[str, Seconds] = {
    "launch": 4 * MICRO,
    "post": 0.0,
    "read": 0.12 * MICRO,
    "pcie_out": 3.5 * MICRO,
    "transmit": 1.3 * MICRO,
    "hop": 1.2 * MICRO,
    "receive": 1.3 * MICRO,
    "pcie_in": 3.5 * MICRO,
    "write": 0.12 * MICRO,
    "finish": 0.0,
}
