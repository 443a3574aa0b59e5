"""A published pipeline calculator's own defaults give the digits that it prints."""

from engine.core.units import MiB
from engine.simulate.pipeline.published_pipeline import printed_efficiency, printed_outputs


def test_80_layers_on_4_stages_with_8_micro_batches_of_4096_tokens():
    assert printed_outputs(80, 4, 8, 4096, 64 * MiB) == {
        "operations": "32",
        "stage": "20 layers, 64.00 MB",
        "transfer": "1.0000 GB",
        "bubble": "27.3 %",
        "compute": "81.92 ms",
        "bandwidth": "97.66 Gb/s",
        "activation": "512.0 MB",
        "efficiency": "72.7 %",
    }


def test_twice_the_micro_batches_bring_its_efficiency_above_80_percent():
    assert printed_efficiency(4, 16) == "84.2 %"
