"""A plugin of pytest: writes down the first test that fails, or the file that cannot be read."""

from pathlib import Path

import pytest

FIRST = "first_failure.txt"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file whose tests cannot be collected."""
    _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    file = Path(FIRST)
    if report.failed and report.nodeid and not file.exists():
        file.write_text(report.nodeid, "utf-8")
