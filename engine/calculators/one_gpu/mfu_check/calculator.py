"""Is my MFU right? From tokens per second to MFU and HFU, and which peak a log divided by."""

from functools import partial

from engine.calculators.one_gpu.mfu_check import charts
from engine.calculators.one_gpu.mfu_check.inputs import Inputs as Inputs
from engine.calculators.one_gpu.mfu_check.inputs import Result as Result
from engine.calculators.one_gpu.mfu_check.inputs import solve as solve
from engine.core.outputs import Teller, Views
from engine.formulas.token_operations import HFU, IMPLIED_PEAK, MFU

TITLE = "Is my MFU right?"
QUESTION = "What MFU do your tokens per second amount to, and which peak did your log divide by?"
EQUATIONS = (MFU, HFU, IMPLIED_PEAK)
PRESETS = {
    "torchtitan: Llama 3.1 8B on A100, 56.8 %": {
        "gpu": "A100-SXM-80GB",
        "model": "llama-3-8b",
        "sequence_length": 8192,
        "rate": 2904.0,
        "printed": 0.568,
        "recompute": "selective",
    },
    "torchtitan: 405B in fp8, 23.5 %": {
        "model": "llama-3-405b",
        "sequence_length": 8192,
        "rate": 177.0,
        "printed": 0.2346,
        "precision": "fp8",
        "recompute": "full",
    },
    "An H100 measured with an A100's peak": {"rate": 9600.0, "printed": 1.443},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        **tell.values("mfu", "hfu"),
        "verdict": charts.verdict(tell, inputs, result),
        "peak_rate": tell.value("peak_rate", note=result.peak.name),
        **tell.values("achieved", "operations"),
        "implied": tell.value(
            "implied",
            symbols={"q": "printed" if inputs.printed else "mfu"},
            note="" if inputs.printed else "type the MFU that it prints",
        ),
        "peaks": partial(charts.peak_bars, tell, inputs, result),
        "ways": partial(charts.ways, tell, inputs, result),
        "formula": tell.formula("With your numbers", MFU, u="mfu"),
        "published": partial(charts.published, tell, result),
    }
