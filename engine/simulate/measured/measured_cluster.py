"""Cluster constants from a reader's measurements, and the pace of a logged job."""

from dataclasses import dataclass, replace
from math import exp, log

from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import OwnConstants, pace_key
from engine.catalog.unseen_errors import CLASSES
from engine.core.units import Bandwidth, Count, FlopRate, Ratio, Seconds
from engine.formulas.bandwidth import bus_bandwidth
from engine.run.logs.calibration import TimedCollective, Timings
from engine.run.logs.cluster_text import ClusterMeasurements
from engine.run.run import Run
from engine.simulate.collectives.collective import HALF_COLLECTIVES
from engine.simulate.collectives.nccl_check import check_nccl
from engine.simulate.collectives.nccl_setting import NcclInputs, machine_of
from engine.simulate.measured.calibration import Calibration
from engine.simulate.measured.log_check import check_log
from engine.simulate.step.error_attribution import cluster_share, explained_variance
from engine.simulate.step.step_range import run_classes
from engine.simulate.step.what_if import run_step_time


@dataclass(frozen=True, slots=True, kw_only=True)
class FastestRates:
    """Fastest measured rate of each kind; 0 if none was timed."""

    product: FlopRate
    copy: Bandwidth
    collective: Bandwidth


def machine_of_text(text: ClusterMeasurements) -> str:
    """Return the usual machine of a text's devices; empty if it names none."""
    devices = [text.timings.device] if text.timings else []
    if text.nccl and text.nccl.table:
        devices += text.nccl.table.devices
    return next((machine for machine in map(machine_of, devices) if machine), "")


def all_timings(text: ClusterMeasurements, machine: str) -> Timings:
    """Return all timings of a text, including the rows of its nccl-tests table."""
    timings = text.timings or Timings(device="")
    return replace(timings, collectives=(*timings.collectives, *_nccl_collectives(text, machine)))


def _nccl_collectives(text: ClusterMeasurements, machine: str) -> tuple[TimedCollective, ...]:
    if text.nccl is None:
        return ()
    check = check_nccl(text.nccl, NcclInputs(machine=machine))
    setting = check.setting
    if setting.operation not in ("all_reduce", *HALF_COLLECTIVES):
        return ()
    nodes = setting.nodes or -(-setting.ranks // NODES[machine].gpus_per_node)
    return tuple(
        TimedCollective(
            operation=setting.operation,
            size=row_check.row.size,
            ranks=setting.ranks,
            nodes=nodes,
            time=row_check.row.time,
        )
        for row_check in check.rows
        if row_check.row.size > 0 and row_check.row.time > 0
    )


def own_constants(calibration: Calibration, gpu: str) -> OwnConstants | None:
    """Return the constants for other pages; None if nothing was measured."""
    if not calibration.measured:
        return None
    return OwnConstants(gpu=gpu, measured=calibration.measured)


def with_log_pace(constants: OwnConstants, text: ClusterMeasurements, run: Run) -> OwnConstants:
    """Return the constants with the pace of a logged job; unchanged without a possible one.

    A log holds what is the cluster's and what is the job's own. The weight of the former is what
    groups of published runs have in common.
    """
    plain = replace(run, cluster=replace(run.cluster, own_constants=constants))
    log_check = check_log(text.log, plain) if text.log else None
    if log_check is None or log_check.mfu > 1:
        return constants
    name = next(name for name in run_classes(plain) if name in CLASSES)
    ratio = log_check.steady.median / run_step_time(plain).total
    pace = exp(cluster_share(explained_variance(plain, name)) * log(ratio))
    key = pace_key(run.training.precision, run.training.framework)
    return replace(constants, pace=min(max(pace, 0.2), 5.0), paced=key)


def logged_step(text: ClusterMeasurements, run: Run) -> tuple[Seconds, Ratio] | None:
    """Return the median step time of a log and its ratio to the prediction; None without a log."""
    log_check = check_log(text.log, run) if text.log else None
    if log_check is None:
        return None
    return log_check.steady.median, log_check.steady.median / log_check.predicted


def fastest_rates(timings: Timings) -> FastestRates:
    """Return the fastest product, copy and collective."""
    return FastestRates(
        product=max(
            (2 * row.rows * row.columns * row.inner / row.time for row in timings.products),
            default=0.0,
        ),
        copy=max((row.size / row.time for row in timings.copies), default=0.0),
        collective=max(map(_bus_rate, timings.collectives), default=0.0),
    )


def _bus_rate(collective: TimedCollective) -> Bandwidth:
    if collective.ranks < 2:
        return 0.0
    return bus_bandwidth(collective.size, collective.time, collective.operation, collective.ranks)  # type: ignore[arg-type]


def num_timings(timings: Timings) -> Count:
    """Return the number of timed rows."""
    parts = (timings.products, timings.attention, timings.copies, timings.collectives)
    return sum(map(len, parts))
