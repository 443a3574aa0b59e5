"""The page of a sweep: what is left, what is compared, and what a row asks the planner."""

from urllib.parse import parse_qsl

from engine.answer import reply
from engine.calculators.whole_runs import planner
from engine.calculators.whole_runs.sweep_result import (
    SAMPLES,
    Inputs,
    plan_difference,
    query_of,
    solve,
)
from engine.form.planner.plan_text import plan_name
from tests.engine.run.test_sweep_table import text


def outputs(**values):
    given = {name: str(value) for name, value in values.items()}
    return reply({"calculator": "sweep_result", "values": given})["outputs"]


def test_a_word_leaves_fewer_jobs_and_the_order_applies_to_them():
    found = solve(Inputs(only="70b", order="cost", row=2))
    assert (found.num_jobs, found.all_jobs) == (12, 24)
    assert found.chosen is found.jobs[1]
    assert found.jobs[0].cost <= found.cost == found.jobs[1].cost


def test_a_number_beyond_the_list_is_the_last_job_and_no_word_none():
    assert solve(Inputs(row=5000)).place == 24
    nothing = solve(Inputs(only="gpt-9"))
    assert (nothing.chosen, nothing.num_jobs) == (None, 0)
    numbers = ("step", "low", "high", "rate", "held", "time", "cost")
    assert [getattr(nothing, number) for number in numbers] == [0.0] * 7
    assert "No job of the table" in outputs(only="gpt-9")["best"]["html"]


def test_no_number_stands_where_no_job_matches():
    found = outputs(only="gpt-9")
    for told in ("step", "time", "cost", "rate", "held"):
        assert (found[told]["value"], found[told]["note"]) == (None, "no job matches")
        assert found[told]["text"] == "–"
    assert found["num_jobs"]["text"] == "0"


def test_a_row_opens_the_planner_with_its_job_and_its_plan():
    job = next(one for one in solve(Inputs()).jobs if "5 virtual stages" in one.plan)
    values = {key.removeprefix("planner."): value for key, value in parse_qsl(query_of(job))}
    answer = reply({"calculator": "planner", "values": values})
    assert not any(one["error"] for one in answer["inputs"].values())
    assert (values["model"], values["world_size"]) == ("llama-3-70b", str(job.world_size))
    assert values["own_pieces"] == "5"
    inputs = planner.Inputs(
        **{key: type(getattr(planner.Inputs(), key))(value) for key, value in values.items()}
    )
    found = planner.solve(inputs)
    assert found.why.verdict in ("best", "tied")
    assert plan_name(found.reader_run.plan, found.reader_run.training).startswith(
        job.plan.partition(" × CP")[0]
    )


def test_a_job_that_the_planner_has_no_input_for_does_not_open():
    assert query_of(solve(Inputs(table=text(gpus_per_node=72))).jobs[0]) == ""
    assert query_of(solve(Inputs(table=text(model="mine"))).jobs[0]) == ""
    assert "own_tensor" not in query_of(solve(Inputs(table=text(tensor_parallel=3))).jobs[0])


def test_the_frontier_holds_what_trains_the_same():
    found = outputs(only="256", row=1)["frontier"]
    assert [point["label"] for point in found["points"]] == [
        "256 H100",
        "256 A100",
        "job 5",  # its name would not stand beside a point on a phone
    ]
    assert "Job 5 has 256 H100, half the network." in str(found["caption"])


def test_names_may_hold_braces():
    """They are the reader's own, and stand in sentences whose numbers are put in later."""
    job = text(model="{x}", cluster="{0!r} 64 {}")
    assert "{x}, {0!r} 64 {}" in outputs(table=job)["best"]["html"]


def test_differences_of_plans_are_named():
    assert plan_difference("Megatron, TP 4 × DP 4, ZeRO-1", "Megatron, TP 8 × DP 2, ZeRO-1") == (
        "TP 8, DP 2 instead of TP 4, DP 4"
    )
    assert plan_difference("FSDP, DP 8", "FSDP, DP 8") == "the same"
    assert plan_difference("FSDP, DP 8", "FSDP, DP 8, fp8") == "also fp8"
    assert plan_difference("FSDP, DP 8, fp8", "FSDP, DP 8") == "no fp8"


def test_another_file_is_answered_by_a_sentence():
    answer = reply({"calculator": "sweep_result", "values": {"table": "step,loss\n1,2\n"}})
    assert "line 1 has no column model" in answer["inputs"]["table"]["error"]
    assert "sample:llama" in Inputs.__annotations__["table"].__metadata__[0].write(
        SAMPLES["llama"].text
    )


def test_the_range_of_a_step_is_that_of_the_chosen_job():
    found = solve(Inputs(table=text(step_time=5.0, step_time_low=4.5, step_time_high=6.25)))
    assert (found.low, found.step, found.high) == (4.5, 5.0, 6.25)
