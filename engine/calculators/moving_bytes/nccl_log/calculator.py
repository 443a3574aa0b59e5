"""Paste nccl-tests or NCCL_DEBUG=INFO: bandwidth against the link, algorithm and protocol."""

from functools import partial

from engine.calculators.moving_bytes.nccl_log import charts, findings
from engine.calculators.moving_bytes.nccl_log.inputs import PRESETS as PRESETS
from engine.calculators.moving_bytes.nccl_log.inputs import Inputs as Inputs
from engine.calculators.moving_bytes.nccl_log.result import Result as Result
from engine.calculators.moving_bytes.nccl_log.result import solve as solve
from engine.calculators.moving_bytes.nccl_log.verdict import verdict
from engine.core.outputs import Presenter, Views

TITLE = "Is my network fine?"
LARGEST = "of the largest message"
QUESTION = "Does my table of nccl-tests fit my links, and what does NCCL's log say it chose?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "bus_bandwidth": present.value("bus_bandwidth", note=charts.measured_note(result, LARGEST)),
        "verdict": verdict(result),
        **present.values("expected"),
        "line": present.value("line", note=charts.line_note(result)),
        "share": present.value("share", note=charts.measured_note(result, "")),
        "latency": present.value(
            "latency", note=charts.measured_note(result, "its time is latency")
        ),
        "curve": partial(charts.curve, result),
        "alike": partial(charts.condition_bars, result),
        "rows": partial(charts.row_table, result),
        "choices": partial(findings.choice_table, result),
        "variables": partial(findings.variable_table, result),
        "reading": findings.reading_table(result),
    }
