"""What a reader's measurements say of a cluster: its constants, and the pace of a logged job."""

from dataclasses import dataclass, replace
from math import exp, log

from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import OwnConstants, pace_key
from engine.catalog.unseen_errors import CLASSES
from engine.core.units import Bandwidth, Count, FlopRate, Ratio, Seconds
from engine.formulas.bandwidth import bus_bandwidth
from engine.run.logs.calibration import TimedCollective, Timings
from engine.run.logs.cluster_text import ClusterText
from engine.run.run import Run
from engine.simulate.collectives.nccl_check import check_nccl
from engine.simulate.collectives.nccl_choice import HALVES
from engine.simulate.collectives.nccl_setting import Given, machine_of
from engine.simulate.measured.calibration import Calibration
from engine.simulate.measured.log_check import check_log
from engine.simulate.step.error_attribution import explained, pull
from engine.simulate.step.step_range import classes_of
from engine.simulate.step.what_if import step_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Fastest:
    """The fastest of each kind that was timed; 0 where none was: no GPU has to be known for it."""

    product: FlopRate
    copy: Bandwidth
    collective: Bandwidth


def machine_in(text: ClusterText) -> str:
    """Return the machine that a text's devices are usually in; empty where it names none."""
    devices = [text.timings.device] if text.timings else []
    if text.nccl and text.nccl.table:
        devices.append(text.nccl.table.device)
    return next((found for found in map(machine_of, devices) if found), "")


def timings_of(text: ClusterText, machine: str) -> Timings:
    """Return all timings of a text, the rows of its table of nccl-tests among them."""
    timings = text.timings or Timings(device="")
    return replace(timings, collectives=(*timings.collectives, *_table(text, machine)))


def _table(text: ClusterText, machine: str) -> tuple[TimedCollective, ...]:
    if text.nccl is None:
        return ()
    check = check_nccl(text.nccl, Given(machine=machine))
    setting = check.setting
    if setting.operation not in ("all_reduce", *HALVES):
        return ()
    nodes = setting.nodes or -(-setting.ranks // NODES[machine].gpus_per_node)
    return tuple(
        TimedCollective(
            operation=setting.operation,
            size=one.row.size,
            ranks=setting.ranks,
            nodes=nodes,
            time=one.row.time,
        )
        for one in check.rows
        if one.row.size > 0 and one.row.time > 0
    )


def constants_of(calibration: Calibration, gpu: str) -> OwnConstants | None:
    """Return what to carry to other pages; None where nothing was measured."""
    if not calibration.measured:
        return None
    return OwnConstants(gpu=gpu, measured=calibration.measured)


def paced(own: OwnConstants, text: ClusterText, run: Run) -> OwnConstants:
    """Return constants with the pace of a logged job; as they are where no step has a time.

    A log holds what is the cluster's and what is the job's own. The weight of the former is what
    groups of published runs have in common.
    """
    plain = replace(run, cluster=replace(run.cluster, own=own))
    found = check_log(text.log, plain) if text.log else None
    if found is None:
        return own
    name = next(name for name in classes_of(plain) if name in CLASSES)
    ratio = found.steady.median / step_of(plain).total
    pace = exp(pull(explained(plain, name)) * log(ratio))
    key = pace_key(run.training.precision, run.training.framework)
    return replace(own, pace=min(max(pace, 0.2), 5.0), paced=key)


def logged(text: ClusterText, run: Run) -> tuple[Seconds, Ratio] | None:
    """Return the median step of a log and what it is of the prediction; None without one."""
    found = check_log(text.log, run) if text.log else None
    if found is None:
        return None
    return found.steady.median, found.steady.median / found.predicted


def fastest_of(timings: Timings) -> Fastest:
    """Return the fastest product, copy and collective."""
    return Fastest(
        product=max(
            (2 * one.rows * one.columns * one.inner / one.time for one in timings.products),
            default=0.0,
        ),
        copy=max((one.size / one.time for one in timings.copies), default=0.0),
        collective=max(map(_bus, timings.collectives), default=0.0),
    )


def _bus(one: TimedCollective) -> Bandwidth:
    if one.ranks < 2:
        return 0.0
    return bus_bandwidth(one.size, one.time, one.operation, one.ranks)  # type: ignore[arg-type]


def count_of(timings: Timings) -> Count:
    """Return how many rows were timed."""
    parts = (timings.products, timings.attention, timings.copies, timings.collectives)
    return sum(map(len, parts))
