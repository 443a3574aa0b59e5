from engine.catalog.published_runs import SOURCES, published_rows
from engine.run.published import read_published_runs
from engine.simulate.step.published_runs import predictions


def test_a_row_is_read_as_its_source_says():
    # Narayanan et al. 2021, table 1: 1,008 billion parameters on 3,072 A100, 102.6 s per step.
    found = next(one for one in predictions() if one.case.row["row_id"] == "sc21-t1-1008.0")
    plan = found.case.run.plan
    assert (plan.world_size, plan.tensor_parallel, plan.pipeline_parallel) == (3072, 8, 64)
    assert abs(found.error) < 0.25


def test_a_row_with_a_peak_of_memory_predicts_one():
    assert all((one.case.held is None) == (one.memory is None) for one in predictions())


def test_every_row_is_read_or_skipped_for_a_reason():
    found, skipped = read_published_runs(published_rows())
    assert len(found) + len(skipped) == len(published_rows())
    assert all(skipped.values())


def test_every_row_has_a_source():
    assert {row["source_file"] for row in published_rows()} <= set(SOURCES)
