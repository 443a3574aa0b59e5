"""The map: which GPU talks to which, over which link, in any order of the axes."""

from engine.basis.views import View
from engine.calculators.splitting_the_model.parallel_map.challenge import challenge
from engine.calculators.splitting_the_model.parallel_map.model import model
from engine.calculators.splitting_the_model.parallel_map.scenes import matrix, order_strip, scene
from engine.calculators.splitting_the_model.parallel_map.swaps import orders, swap_table, swaps
from engine.calculators.splitting_the_model.parallel_map.tables import (
    gpu_table,
    mesh_table,
    nature_table,
    traffic_table,
)
from engine.calculators.splitting_the_model.parallel_map.views import WORLD, legal, regime, values
from engine.form.map_inputs import PRESETS as PRESETS
from engine.form.map_inputs import Inputs as Inputs
from engine.form.run.views import STEP

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
