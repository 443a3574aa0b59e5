"""Names of the stages of a message, and the groups that share a color."""

from collections.abc import Mapping

from engine.simulate.network.message_path import PCIE_STAGES

NAMES: Mapping[str, str] = {
    "launch": "Kernel launch",
    "copy_out": "Host copy out",
    "post": "Doorbell",
    "read": "HBM read",
    "pcie_out": "PCIe to card",
    "transmit": "Card sends",
    "fabric": "Switches",
    "receive": "Card receives",
    "pcie_in": "PCIe to GPU",
    "write": "HBM write",
    "copy_in": "Host copy in",
    "finish": "Flag",
}
GROUPS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "software": ("software", "compute", ("launch", "post", "finish")),
    "memory": ("HBM", "memory", ("read", "write")),
    "pcie": ("PCIe", "accent", PCIE_STAGES),
    "copies": ("host copies", "buffers", ("copy_out", "copy_in")),
    "network": ("cards and switches", "communication", ("transmit", "fabric", "receive")),
}
COLORS: Mapping[str, str] = {key: color for _, color, keys in GROUPS.values() for key in keys}
