import json

import pytest

from engine.form.trace_sample import TEXT
from engine.run.traces.document import kineto_document
from engine.simulate.profile_analysis.check import check_trace, mean_use
from engine.simulate.profile_analysis.rules import RULES
from engine.simulate.profile_analysis.sample import PACES, sample_files, sample_text, simulate_ranks
from engine.simulate.streams.streams import COMPUTE, NETWORK, StreamOp, run_program
from tests.engine.run.traces.files import together as one_text

OPS = (
    StreamOp(key="a", stream=COMPUTE, time=2.0),
    StreamOp(key="ab", stream=NETWORK, time=1.0, after=("a",)),
    StreamOp(key="b", stream=COMPUTE, time=3.0),
    StreamOp(key="c", stream=COMPUTE, time=1.0, after=("ab",)),
)


def test_one_rank_alone_runs_as_a_listed_program():
    (alone,) = simulate_ranks(OPS, (1.0,))
    listed = run_program(OPS)
    assert [(one.start, one.end) for one in alone] == [(one.start, one.end) for one in listed]


def test_a_collective_ends_when_the_slowest_rank_has_come():
    """The second rank computes for 4 instead of 2: the first waits from 2 to 4."""
    fast, slow = simulate_ranks(OPS, (1.0, 2.0))
    assert (fast[1].start, slow[1].start) == (2.0, 4.0)
    assert fast[1].end == slow[1].end == 5.0


def test_the_sample_reads_as_the_files_that_it_was_made_from():
    files = sample_files()
    direct = kineto_document(one_text(*files))
    kept = json.loads(sample_text())
    for mine, theirs in zip(direct["ranks"], kept["ranks"], strict=True):
        assert {**mine, "file": ""} == {**theirs, "file": ""}


def test_the_page_keeps_todays_sample():
    # Else: python -m tests.engine.simulate.profile_analysis.write_sample
    assert sample_text() == TEXT


def test_the_slower_rank_is_found_and_computes_longer_by_its_pace():
    found = check_trace(sample_text(), RULES)
    assert found.straggler == 1
    fast, slow = (mean_use(uses).compute for uses in found.uses)
    assert slow / fast == pytest.approx(PACES[1], rel=1e-3)
