"""Views tell what was solved: none calls a formula, at the defaults of any calculator."""

from engine.calculator import names
from tests import lanes
from tests.each import each
from tests.engine.calculators.climbs import climbs

# Their searches take minutes while every call is watched; `climbs` looks at them by hand.
SLOW = ("capstone", "job_planner", "planner")
# Drawings that stand in the file of their calculator: what they ask of a record of the tiny model
# or of a routed batch is where things lie, and no number of a result.
DRAWN = {
    # A row of a table is a job of its own.
    "calculators/one_gpu/one_gpu_tuning.py": {"fine_tuning"},
    "calculators/reference/forecast_ledger.py": {"read_document", "step_time"},
    # Whether a row of a table opens in the estimate, of the rows that one page of it shows.
    "form/run/nearest_valid.py": {"read_document", "read_model"},
    "calculators/reference/run_totals.py": {"active_parameters", "utilization"},
    "calculators/whole_runs/log_check.py": {"is_another_job", "credible_mfu"},
    "calculators/data_parallelism/bucket_steps.py": {"part_names"},
    "calculators/splitting_the_model/token_exchange.py": {
        "sent_copies",
        "received_imbalance",
        "received_copies",
        "transpose",
    },
    "calculators/splitting_the_model/state_steps.py": {"seen_values"},
    "calculators/splitting_the_model/token_flow.py": {"expert_queues", "lost_tokens"},
}
WATCHED = [name for name in names() if name not in SLOW]


@each("name", lanes.sampled(WATCHED, 3))
def test_no_view_calls_a_formula(name):
    calls = climbs(name, presets=False)
    assert [call for call in calls if not is_drawn(call)] == []


def is_drawn(call):
    file, _, pair = call.partition(": ")
    return pair.partition(" -> ")[2] in DRAWN.get(file, ())
