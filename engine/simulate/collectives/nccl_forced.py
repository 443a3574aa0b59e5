"""What NCCL variables force a run to, and the conditions of the model that this amounts to.

Meanings of the values: NCCL's user guide, `env.rst` of 2.30.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.core.units import Count
from engine.run.logs.nccl_environment import EnvironmentVariable


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedChoice:
    """A variable that takes a choice from NCCL.

    Attributes:
        variable: as set.
        words: what it forces, to stand behind "you".
        key: condition of `engine.simulate.collectives.nccl_effect`; empty: no model of it.
    """

    variable: EnvironmentVariable
    words: str
    key: str = ""


def forced_choices(variables: tuple[EnvironmentVariable, ...]) -> tuple[ForcedChoice, ...]:
    """Return what the variables of a text force, in its order."""
    found = []
    for variable in variables:
        read = _READERS.get(variable.name)
        words, key = read(variable.value.strip().lower()) if read else ("", "")
        if words:
            found.append(ForcedChoice(variable=variable, words=words, key=key))
    return tuple(found)


def _listed(value: str) -> set[str]:
    """Return the names of a list such as "allreduce:ring,tree;allgather:ring"."""
    parts = (part.rpartition(":")[2] for part in value.lstrip("^").split(";"))
    return {name.strip() for part in parts for name in part.split(",") if name.strip()}


_NAMED = {"ring": "the ring", "tree": "the tree", "nvls": "sums in the NVSwitch"}


def _algorithm(value: str) -> tuple[str, str]:
    names = _listed(value)
    if value.startswith("^"):
        switch = {"nvls", "nvlstree"} & names
        words = "left out " + ", ".join(sorted(names))
        return words, "no_switch" if switch else ""
    if len(names) == 1:
        (name,) = names
        return f"forced {_NAMED.get(name, name)}", "ring" if name == "ring" else ""
    key = "no_switch" if names and names <= {"ring", "tree"} else ""
    return "forced one of " + ", ".join(sorted(names)) if names else "", key


def _protocol(value: str) -> tuple[str, str]:
    names = ", ".join(sorted(_listed(value)))
    if not names:
        return "", ""
    if value.startswith("^"):
        return f"left out the protocol {names}", ""
    return f"forced the protocol {names.upper()}", "small" if names == "ll" else ""


def _is_off(words: str, key: str, *off: str) -> Callable[[str], tuple[str, str]]:
    return lambda value: (words, key) if value in off else ("", "")


def _cards(value: str) -> tuple[str, str]:
    names = [name for name in value.lstrip("^=").split(",") if name]
    if value.startswith("^") or not names:
        return "", ""
    count: Count = len(names)
    return f"chose the network cards {', '.join(names)}", "one_port" if count == 1 else ""


def _channels(value: str) -> tuple[str, str]:
    return (
        (f"allowed at most {int(value)} channels", "")
        if value.isdigit() and len(value) < 6
        else ("", "")
    )


_DIRECT = "turned direct copies inside a node off (peer-to-peer)"
_READERS: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "NCCL_ALGO": _algorithm,
    "NCCL_PROTO": _protocol,
    "NCCL_NVLS_ENABLE": _is_off("turned sums in the NVSwitch off", "no_switch", "0"),
    "NCCL_P2P_DISABLE": _is_off(_DIRECT, "pcie", "1"),
    "NCCL_P2P_LEVEL": _is_off(_DIRECT, "pcie", "0", "loc"),
    "NCCL_SHM_DISABLE": _is_off("turned shared memory of the host off", "", "1"),
    "NCCL_IB_DISABLE": _is_off("turned RDMA off", "sockets", "1"),
    "NCCL_NET": _is_off("chose IP sockets", "sockets", "socket"),
    "NCCL_NET_GDR_LEVEL": _is_off("turned GPUDirect RDMA off", "", "0", "loc"),
    "NCCL_NET_GDR_READ": _is_off("turned GPUDirect RDMA off for what is sent", "", "0"),
    "NCCL_MNNVL_ENABLE": _is_off("turned NVLink between the hosts of a rack off", "trays", "0"),
    "NCCL_IB_HCA": _cards,
    "NCCL_MAX_NCHANNELS": _channels,
    "NCCL_MAX_CTAS": _channels,
}
