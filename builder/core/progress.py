"""Build options, and progress reports for slow steps."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from builder.core.folders import RECEIPTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Build options.

    Attributes:
        base_url: where the output will be published, with a slash at its end; "" if unknown.
        repository: address of the project's repository, "" if none.
        drafts: whether drafts are built.
        reload: address of a script that every page loads, "" if none.
    """

    base_url: str = ""
    repository: str = ""
    drafts: bool = False
    reload: str = ""


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun in the right number, such as "1 page" or "2 addresses"."""
    plural = "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{'' if count == 1 else plural}"


def html_pages(names: Iterable[str]) -> list[str]:
    """Return the names of HTML pages among output files; pages of receipts do not count."""
    receipts_page = f"/{RECEIPTS}index.html"
    return [
        name for name in names if name.endswith(".html") and not f"/{name}".endswith(receipts_page)
    ]


Report = Callable[[str], None]
REPORT_AFTER = 1.0  # seconds


@contextmanager
def timed_step(report: Report, description: str) -> Iterator[None]:
    """Report `description` if the block takes longer than a second, and then its duration."""
    reported = threading.Event()

    def report_start() -> None:
        reported.set()
        report(f"{description} ...")

    timer = threading.Timer(REPORT_AFTER, report_start)
    timer.daemon = True
    began = time.perf_counter()
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if reported.is_set():
        report(f"{description}: {time.perf_counter() - began:.1f} s")
