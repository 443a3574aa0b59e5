"""A trace beside a job: the same GPU and the same number of ranks, or another job."""

from engine.calculators.whole_runs.trace_check.calculator import Inputs, solve, views
from engine.catalog.accelerators import ACCELERATORS
from engine.core.text import render_text
from engine.simulate.measured.traced_gpu import chip_of, is_of_another_gpu
from tests.each import each
from tests.engine.run.traces.files import event, kineto


@each(
    ("traced", "key", "another"),
    [
        ("NVIDIA H100 80GB HBM3", "H100-SXM", False),
        ("NVIDIA H100 PCIe", "H100-SXM", True),
        ("NVIDIA H100 PCIe", "H100-PCIe", False),
        ("NVIDIA H100 NVL", "H100-NVL", False),
        ("NVIDIA H200", "H100-SXM", True),
        ("NVIDIA B200", "B200", False),
        ("NVIDIA B200", "GB200", True),
        ("NVIDIA GB200", "GB200", False),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM-80GB", False),
        ("Tesla V100-SXM2-32GB", "V100-SXM-32GB", False),
        ("NVIDIA L40S", "L40S", False),
        ("AMD Instinct MI300X", "MI300X", False),
        ("AMD Instinct MI300X", "H100-SXM", True),
        ("AMD Instinct MI325X", "MI300X", True),
        ("NVIDIA GeForce RTX 4090", "H100-SXM", True),
        ("Some GPU of 2031", "H100-SXM", True),
    ],
)
def test_gpus_by_the_names_of_drivers_and_makers(traced, key, another):
    assert is_of_another_gpu([traced], ACCELERATORS[key].name) is another


def test_a_trace_without_a_gpu_can_be_of_any():
    assert not is_of_another_gpu([], "H100 SXM")
    assert chip_of("graphics device") == ""


def said(job=None, **head):
    events = [event("gemm", 0, 100), event("ncclDevKernel_AllReduce", 50, 100, stream=20)]
    inputs = Inputs(trace=kineto(events, **head), **(job or {}))
    result = solve(inputs)
    return result, render_text(views(inputs, result)["verdict"].sentence)


def test_a_trace_of_another_gpu_is_not_compared():
    result, sentence = said(world=8, deviceProperties=[{"name": "NVIDIA B200"}])
    assert result.predicted == float("inf")
    assert "Another job: the trace was recorded on NVIDIA B200" in sentence
    assert "Another job" not in said(world=8)[1]
    assert "Another job" not in said(world=8, deviceProperties=[{"name": "NVIDIA H100 80GB"}])[1]


def test_a_trace_of_another_number_of_ranks_is_not_compared():
    result, sentence = said(world=64)
    assert result.job is None
    assert "is one of 64 ranks, the job below has 8" in sentence


H100 = {"deviceProperties": [{"name": "NVIDIA H100 80GB"}]}


def test_a_job_that_nobody_gave_is_not_compared():
    result, sentence = said(world=0)
    assert result.job is None
    assert "No job is given yet" in sentence
    assert said(world=8)[0].job is None  # of which GPU it does not say


@each("job", [{"model": "llama-3-70b"}, {"zero_stage": "1"}, {"global_batch_size": 64}])
def test_a_job_that_the_reader_chose_is_compared(job):
    result, sentence = said(job, world=0)
    assert result.job is not None
    assert "No job is given" not in sentence


def test_a_trace_that_names_the_machine_of_the_job_is_compared():
    assert said(world=8, **H100)[0].job is not None


def test_the_sample_is_compared_with_the_job_that_it_was_made_of():
    assert solve(Inputs()).job is not None
