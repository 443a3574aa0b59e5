"""Views tell what was solved: none calls a formula, at the defaults of any calculator."""

from engine.calculator import names
from tests.each import each
from tests.engine.calculators.climbs import climbs

# Their searches take minutes while every call is watched; `climbs` looks at them by hand.
SLOW = ("capstone", "planner")


@each("name", [name for name in names() if name not in SLOW])
def test_no_view_calls_a_formula(name):
    assert climbs(name, presets=False) == ()
