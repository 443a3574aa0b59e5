"""What a reader measured replaces the catalog's constants wherever a calculator rests on them."""

import json
import subprocess
import sys
from pathlib import Path

from engine.calculator import load, names

ROOT = Path(__file__).parents[3]
# Calculators that rest on the catalog's constants, and ask for none of the reader's.
WITHOUT = {
    **dict.fromkeys(
        ("algorithm_race", "collective_at_scale", "collectives_by_hand", "rail_claim", "slow_port"),
        "collectives on the machine that all these pages open on, at its published rates",
    ),
    "failure_lives": "published runs, whose days are those of their own machines",
    "forecast_ledger": "frozen rows, and the step of today beside them, on the catalog's machines",
    "job_time": "a published plan's speed; the reader's is typed or comes from the estimate",
    "calibrate": "it makes them, and shows them beside the catalog's",
    "claims_checked": "published claims, about the machines that they name",
    "layer_stages": "compares stages on one machine, which no input changes",
    "hybrid_measured": "measured runs beside the model, on the machines of the measurement",
    "in_network_gain": "measured collectives beside the model, likewise",
    "kernel_trace": "a trace of one machine, made once",
    "message_waterfall": "links are given by line rate and latency; no GPU is named",
    "nccl_log": "a network that is judged by what was measured on it is always as expected",
    "published_runs": "published runs, on the machines that they name",
    "recompute_measured": "a published measurement beside the model",
    "tensor_measured": "a published measurement beside the model",
}
# Prints a digest of what each calculator shows, with half of all constants if asked to.
_SHOWN = """
import json, sys
from dataclasses import fields, replace
from engine.catalog import constants

if sys.argv[1] == "half":
    rates = [one.name for one in fields(constants.AchievedShares) if one.name != "fill"]
    for name, one in constants.ACHIEVED.items():
        half = {rate: getattr(one, rate) / 2 for rate in rates}
        constants.ACHIEVED[name] = replace(one, **half)
from engine.answer import reply

found = {name: reply({"calculator": name, "values": {}})["outputs"] for name in sys.argv[2:]}
print(json.dumps(found))
"""


def shown(kind, asked):
    """Return what calculators show at their defaults, in a process whose tables are its own."""
    command = [sys.executable, "-c", _SHOWN, kind, *asked]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_who_rests_on_the_catalogs_constants_takes_the_readers_or_has_a_reason_not_to():
    asked = [name for name in names() if "own_constants" not in load(name).fields]
    runs = [shown(kind, asked) for kind in ("all", "half")]
    usual, halved = (json.loads(run.communicate(timeout=300)[0]) for run in runs)
    assert {name for name in asked if usual[name] != halved[name]} == set(WITHOUT)
