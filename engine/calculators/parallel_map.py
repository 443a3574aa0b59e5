"""The map: which GPU talks to which, over which link, in any order of the axes."""

from engine.calculators._map_challenge import challenge
from engine.calculators._map_inputs import PRESETS as PRESETS
from engine.calculators._map_inputs import Inputs as Inputs
from engine.calculators._map_model import model
from engine.calculators._map_scenes import matrix, order_strip, scene
from engine.calculators._map_swaps import orders, swap_table, swaps
from engine.calculators._map_tables import gpu_table, mesh_table, nature_table, traffic_table
from engine.calculators._map_views import WORLD, legal, regime, values
from engine.calculators._run_views import STEP
from engine.views import View

TITLE = "The map"
QUESTION = "Which GPU talks to which, how much, and over which link?"
EQUATIONS = (WORLD, STEP)


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    found = model(inputs)
    return {
        "map": scene(found),
        "regime": regime(found),
        "legal": legal(found),
        **values(found),
        "gpu": gpu_table(found),
        "matrix": matrix(found),
        "order_strip": order_strip(found),
        "orders": orders(inputs, found),
        "swap_table": swap_table(inputs, found),
        "swaps": swaps(found),
        "axes": mesh_table(found),
        "traffic": traffic_table(found),
        "nature": nature_table(found),
        "challenge": challenge(inputs, found),
    }
