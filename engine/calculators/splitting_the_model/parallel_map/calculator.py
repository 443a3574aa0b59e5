"""The map: which GPU talks to which, over which link, in any order of the axes."""

from functools import partial

from engine.calculators.splitting_the_model.parallel_map import tables
from engine.calculators.splitting_the_model.parallel_map.challenge import challenge
from engine.calculators.splitting_the_model.parallel_map.inputs import PRESETS as PRESETS
from engine.calculators.splitting_the_model.parallel_map.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.parallel_map.result import Result
from engine.calculators.splitting_the_model.parallel_map.result import solve as solve
from engine.calculators.splitting_the_model.parallel_map.scenes import matrix, order_strip, scene
from engine.calculators.splitting_the_model.parallel_map.swaps import orders, swap_table, swaps
from engine.calculators.splitting_the_model.parallel_map.values import (
    WORLD,
    plan_verdict,
    regime,
    values,
)
from engine.core.outputs import Presenter, Views
from engine.form.run.equations import STEP

TITLE = "The map"
QUESTION = "Which GPU talks to which, how much, and over which link?"
EQUATIONS = (WORLD, STEP)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    return {
        "map": partial(scene, result),
        "regime": regime(result),
        "legal": plan_verdict(result),
        **values(Presenter(inputs, result, equations=EQUATIONS), result),
        "gpu": partial(tables.gpu_table, result),
        "matrix": partial(matrix, result),
        "order_strip": partial(order_strip, result),
        "orders": orders(inputs, result),
        "swap_table": swap_table(inputs, result),
        "swaps": swaps(result),
        "axes": partial(tables.mesh_table, result),
        "traffic": tables.traffic_table(result),
        "nature": tables.nature_table(result),
        "challenge": challenge(inputs, result),
    }
