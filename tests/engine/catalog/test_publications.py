"""What was published of whole runs."""

import pytest

from engine.catalog.publications import LLAMA_3_405B, find_publication
from engine.core.units import DAY


def test_30_84_million_gpu_hours_are_78_4_days_of_16_384_gpus():
    assert LLAMA_3_405B.wall == pytest.approx(78.4 * DAY, rel=1e-3)


def test_unexpected_interruptions_are_some_of_all():
    assert (LLAMA_3_405B.unexpected, LLAMA_3_405B.interruptions) == (419, 466)


def test_only_the_very_job_has_a_publication():
    assert find_publication("llama-3-405b", "H100-SXM", 16_384, 8192) is LLAMA_3_405B
    assert find_publication("llama-3-405b", "H100-SXM", 8192, 8192) is None
