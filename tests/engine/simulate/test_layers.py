from tests.layers import upward

# From the ground up: numbers, a rank, a step, wires, plans and jobs, then what plays them.
ROOMS = (
    "numerics",
    "memory",
    "layer",
    "step",
    "network",
    "collectives",
    "planner",
    "measured",
    "job",
    "streams",
    "pipeline",
    "programs",
    "overlap",
    "data_parallel",
    "profile_analysis",
)


def test_no_room_of_the_simulators_imports_from_one_above():
    assert list(upward("engine/simulate", ROOMS)) == []
