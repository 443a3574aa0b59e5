"""Measurements to try with one click, each marked as what it is.

`published`: products (Microsoft Azure) and streaming (BabelStream) on an A100, and the nccl-tests
of 8 A100 (Bekman), put in the form that the script prints. `made-up`: times that the engine's own
formulas give for known constants, with a few percent of scatter. `cpu`: what the script printed on
two processes of one CPU with gloo, as it is.
"""

import json
from collections.abc import Mapping

from engine.basis.inputs import Sample
from engine.basis.units import Count, GiB, Seconds
from engine.catalog.measured_kernels import MEASURED, STREAMED
from engine.form.log_samples import SAMPLES as LOGS
from engine.form.nccl_samples import SAMPLES as TABLES
from engine.simulate.made_up_timings import made_up

_A100 = "A100-SXM-80GB"
_OPERATIONS = 2.0


def _script(device: str, ranks: Count, nodes: Count, **rows: list[tuple[object, ...]]) -> str:
    head = {"format": "wallclock-calibration", "version": 1, "device": device}
    return json.dumps({**head, "ranks": ranks, "nodes": nodes, **rows}) + "\n"


def _rounded(time: Seconds) -> Seconds:
    return float(f"{time:.4g}")


def _published() -> str:
    products: list[tuple[object, ...]] = [
        (
            one.precision,
            one.rows,
            one.columns,
            one.inner,
            _rounded(_OPERATIONS * one.rows * one.columns * one.inner / one.rate),
        )
        for one in MEASURED
        if one.gpu == _A100 and one.source == "azure_gpu_guide"
    ]
    copies: list[tuple[object, ...]] = [
        (int(size * GiB), _rounded(size * GiB / STREAMED[_A100])) for size in (1, 2)
    ]
    kernels = _script("NVIDIA A100-SXM4-80GB", 8, 1, products=products, copies=copies)
    return kernels + TABLES["a100"].text


# What the script printed on two processes of one CPU (PyTorch 2.13, gloo), 2026-11-22.
_CPU = (
    '{"format": "wallclock-calibration", "version": 1, "torch": "2.13.0+cpu", "device'
    '": "CPU", "backend": "gloo", "ranks": 2, "nodes": 1, "products": [["bf16", 512, '
    '512, 512, 0.02935], ["bf16", 256, 256, 256, 0.003049], ["bf16", 128, 128, 128, 0'
    '.0002698], ["bf16", 64, 64, 64, 0.0001764], ["bf16", 512, 1792, 256, 0.03343], ['
    '"bf16", 256, 896, 256, 0.009123], ["bf16", 256, 256, 896, 0.01048], ["bf16", 512'
    ', 64, 512, 0.002988], ["bf16", 128, 640, 512, 0.008105], ["bf16", 1024, 256, 64,'
    ' 0.003439], ["bf16", 256, 256, 32, 0.0005416], ["bf16", 1024, 512, 128, 0.01276]'
    '], "attention": [["flash", 1, 4, 256, 128, 0.005713, 0.04136], ["flash", 1, 4, 5'
    '12, 128, 0.02277, 0.1627]], "copies": [[2097152, 0.0001808], [4194304, 0.0004912'
    '], [8388608, 0.0005281], [16777216, 0.001694], [33554432, 0.003525]], "collectiv'
    'es": [["all_reduce", 4096, 2, 1, 0.001922], ["all_gather", 4096, 2, 1, 0.001071]'
    ', ["reduce_scatter", 4096, 2, 1, 0.001821], ["all_reduce", 16384, 2, 1, 0.001503'
    '], ["all_gather", 16384, 2, 1, 0.001274], ["reduce_scatter", 16384, 2, 1, 0.0014'
    '24], ["all_reduce", 65536, 2, 1, 0.000944], ["all_gather", 65536, 2, 1, 0.001272'
    '], ["reduce_scatter", 65536, 2, 1, 0.001241], ["all_reduce", 262144, 2, 1, 0.003'
    '767], ["all_gather", 262144, 2, 1, 0.00135], ["reduce_scatter", 262144, 2, 1, 0.'
    '002211], ["all_reduce", 1048576, 2, 1, 0.003729], ["all_gather", 1048576, 2, 1, '
    '0.001928], ["reduce_scatter", 1048576, 2, 1, 0.003062]]}'
)
SAMPLES: Mapping[str, Sample] = {
    "made-up": Sample(title="16 H100 (made up)", text=made_up()),
    "published": Sample(title="8 A100, published tables", text=_published()),
    "log": Sample(
        title="nccl-tests and a log (made up)", text=TABLES["h100"].text + LOGS["megatron"].text
    ),
    "cpu": Sample(title="two processes on a CPU, as measured", text=_CPU + "\n"),
}
