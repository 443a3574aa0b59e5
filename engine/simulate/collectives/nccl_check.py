"""Check of a pasted NCCL log or nccl-tests table against the modeled network.

The largest message is judged, since there bandwidth counts; the smallest tells the latency.
Expected is what the step time would be charged for the same collective.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, log

from engine.core.units import Bandwidth, Bytes, Count, GiB, Ratio, Seconds
from engine.formulas.bandwidth import Operation, bus_bandwidth_factor
from engine.run.logs.nccl import NcclOutput
from engine.run.logs.nccl_debug import NcclChoice
from engine.run.logs.nccl_environment import EnvironmentVariable
from engine.run.logs.nccl_tests import BenchmarkRow
from engine.simulate.collectives.nccl_effect import (
    CollectivePlacement,
    algorithm_times,
    bus_bandwidth_of,
    changed_time,
    charged_time,
    chosen_algorithm,
    place_collective,
    possible_conditions,
)
from engine.simulate.collectives.nccl_setting import (
    NcclInputs,
    NcclSetting,
    has_one_group,
    infer_setting,
    operation_rows,
    other_operations,
    unique_choices,
)

# What NCCL variables force a run to, and the conditions of the model that this amounts to.
#
# Meanings of the values: NCCL's user guide, `env.rst` of 2.30.


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
    """Return the algorithms and protocols that the variables of a text force, in its order."""
    choices = []
    for variable in variables:
        read = _READERS.get(variable.name)
        words, key = read(variable.value.strip().lower()) if read else ("", "")
        if words:
            choices.append(ForcedChoice(variable=variable, words=words, key=key))
    return tuple(choices)


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


# Relative deviation within which a measurement counts as expected: sources on the same GPUs differ
# by that much among themselves.
EXPECTED_TOLERANCE: Ratio = 0.15
# A message expected below this share of a huge message's bandwidth measures latency, not links.
_PLATEAU_SHARE: Ratio = 0.5
_PLATEAU_SIZE: Bytes = 16 * GiB
_SAME_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCheck:
    """Measured and modeled bandwidth of a message size of the table.

    Attributes:
        row: measured row.
        expected: modeled bus bandwidth; 0 without a model.
        time: modeled time; infinite without a model.
        fastest: "algorithm protocol" that the model expects; empty without a model.
        chosen: logged choice of NCCL for this size; None if the text has none.
    """

    row: BenchmarkRow
    expected: Bandwidth
    time: Seconds
    fastest: str
    chosen: NcclChoice | None

    @property
    def off(self) -> Ratio:
        """Relative deviation of the measured from the expected bandwidth; 0 without a model.

        By the times, which have more digits than printed bandwidths of small messages.
        """
        return self.time / self.row.time - 1 if self.expected else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionBandwidth:
    """Bus bandwidth that the model gives under one condition."""

    key: str
    bandwidth: Bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclCheck:
    """Result of checking a text.

    Attributes:
        setting: machine, ranks and operation that the text is checked against.
        where: rates of the setting; None without a machine.
        rows: messages of the operation, the smallest first.
        largest: largest message that is not in doubt, which is judged; None without one.
        smallest: smallest message; None without a table.
        alike: conditions by how closely they match the largest message, the closest first; without
            those that are slower than what was measured.
        best: highest bus bandwidth of any message.
        plateau: expected bus bandwidth of a very large message; 0 without a model.
        choices: logged choices of NCCL, one for each operation and size.
        forced: what the environment forces.
        others: operations of the table that are not judged.
        one_group: whether all rows are of one group of ranks.
    """

    setting: NcclSetting
    where: CollectivePlacement | None
    rows: tuple[MessageCheck, ...]
    largest: MessageCheck | None
    smallest: MessageCheck | None
    alike: tuple[ConditionBandwidth, ...]
    best: Bandwidth
    plateau: Bandwidth
    choices: tuple[NcclChoice, ...]
    forced: tuple[ForcedChoice, ...] = ()
    others: tuple[str, ...] = ()
    one_group: bool = True

    @property
    def verdict(self) -> str:
        """Return the verdict by name.

        "wrong", "slow", "as set", "expected", "fast", "small", "no table"; and where nothing can be
        said: "doubt", "several groups", "no machine" or "unjudged".
        """
        if not self.rows:
            return "no table"
        if any(message.row.wrong for message in self.rows):
            return "wrong"
        if self.largest is None:
            return "doubt"
        if self.where is None:
            return "no machine"
        if not self.one_group:
            return "several groups"
        if not self.largest.expected:
            return "unjudged"
        if self.largest.expected < _PLATEAU_SHARE * self.plateau:
            return "small"
        return self._verdict_on_bandwidth(self.largest.off)

    def _verdict_on_bandwidth(self, off: Ratio) -> str:
        if off > EXPECTED_TOLERANCE:
            return "fast"
        if off >= -EXPECTED_TOLERANCE:
            return "expected"
        return "as set" if self.forced_match else "slow"

    @property
    def forced_match(self) -> ForcedChoice | None:
        """The forced choice that explains the largest message; None where none does."""
        measured = self.largest.row.bus_bandwidth if self.largest else 0.0
        gives = {condition.key: condition.bandwidth for condition in self.alike}
        for choice in self.forced:
            bandwidth = gives.get(choice.key, 0.0) if choice.key else 0.0
            if bandwidth and abs(measured / bandwidth - 1) <= EXPECTED_TOLERANCE:
                return choice
        return None


def check_nccl(text: NcclOutput, inputs: NcclInputs) -> NcclCheck:
    """Return the check of a text against the modeled machines."""
    choices = unique_choices(text)
    setting = infer_setting(text, inputs, choices)
    placement = (
        place_collective(setting.machine, max(setting.ranks, 2), setting.nodes)
        if setting.machine
        else None
    )
    rows = tuple(
        _check_message(row, setting, placement, choices)
        for row in sorted(operation_rows(text, setting.operation), key=lambda row: row.size)
    )
    certain = tuple(message for message in rows if not message.row.doubtful)
    largest = certain[-1] if certain else None
    forced = forced_choices(text.variables)
    return NcclCheck(
        setting=setting,
        where=placement,
        rows=rows,
        largest=largest,
        smallest=rows[0] if rows else None,
        alike=_nearest_conditions(largest, setting, placement, forced),
        best=max((message.row.bus_bandwidth for message in certain), default=0.0),
        plateau=_expected_bandwidth(_PLATEAU_SIZE, setting, placement),
        choices=choices,
        forced=forced,
        others=other_operations(text, setting.operation),
        one_group=bool(inputs.ranks) or has_one_group(text, setting),
    )


def _check_message(
    row: BenchmarkRow,
    setting: NcclSetting,
    placement: CollectivePlacement | None,
    choices: tuple[NcclChoice, ...],
) -> MessageCheck:
    times_by_choice: Mapping[str, Seconds] = {}
    best = ""
    if placement:
        times_by_choice = algorithm_times(setting.operation, row.size, placement)
        best = chosen_algorithm(setting.operation, row.size, placement, times_by_choice)
    return MessageCheck(
        row=row,
        expected=_expected_bandwidth(row.size, setting, placement),
        time=times_by_choice.get(best, inf),
        fastest=best,
        chosen=_logged_choice(row, setting, choices),
    )


def _expected_bandwidth(
    size: Bytes, setting: NcclSetting, placement: CollectivePlacement | None
) -> Bandwidth:
    """Return the modeled bus bandwidth; 0 without a model."""
    if placement is None or not has_bus_factor(setting.operation):
        return 0.0
    operation: Operation = setting.operation  # type: ignore[assignment]
    return bus_bandwidth_of(
        operation, size, charged_time(operation, size, placement), setting.ranks
    )


def has_bus_factor(operation: str) -> bool:
    """Return whether an operation has a bus-bandwidth factor."""
    try:
        bus_bandwidth_factor(operation, 2)  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


def _logged_choice(
    row: BenchmarkRow, setting: NcclSetting, choices: tuple[NcclChoice, ...]
) -> NcclChoice | None:
    matches = (
        logged
        for logged in choices
        if logged.size == row.size and logged.operation in ("", setting.operation)
    )
    return next(matches, None)


def _nearest_conditions(
    largest: MessageCheck | None,
    setting: NcclSetting,
    placement: CollectivePlacement | None,
    forced: tuple[ForcedChoice, ...],
) -> tuple[ConditionBandwidth, ...]:
    if largest is None or not largest.expected or largest.row.bus_bandwidth <= 0 or not placement:
        return ()
    operation: Operation = setting.operation  # type: ignore[assignment]
    size, ranks, measured = largest.row.size, setting.ranks, largest.row.bus_bandwidth
    collective = (operation, size, placement, setting.machine)
    times = {condition.key: condition.time for condition in possible_conditions(*collective)}
    for choice in forced:
        if choice.key and choice.key not in times:
            times[choice.key] = changed_time(choice.key, *collective)
    candidates = [
        ConditionBandwidth(key=key, bandwidth=bus_bandwidth_of(operation, size, time, ranks))
        for key, time in times.items()
    ]
    # A condition that changes nothing is left out, and so is one that is slower than what was
    # measured.
    candidates = [
        condition
        for condition in candidates
        if _log_distance(condition.bandwidth, largest.expected) > _SAME_TOLERANCE
        and condition.bandwidth > (1 - EXPECTED_TOLERANCE) * measured
    ]
    candidates.append(ConditionBandwidth(key="", bandwidth=largest.expected))
    return tuple(
        sorted(candidates, key=lambda condition: _log_distance(condition.bandwidth, measured))
    )


def _log_distance(first: Bandwidth, second: Bandwidth) -> float:
    return abs(log(first / second)) if first > 0 and second > 0 else inf
