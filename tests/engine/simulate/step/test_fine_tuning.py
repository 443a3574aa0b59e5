"""Fine-tuning on one GPU: bytes by hand, measured peaks, and the agreement with ledger and step."""

from dataclasses import replace

import pytest

from engine.calculators.one_gpu import memory_ledger
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.units import GB
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.step.fine_tuning import METHODS, FineTuningJob, fine_tuning
from engine.simulate.step.step_time import step_time
from tests.each import each

JOB = FineTuningJob(
    model=MODELS["llama-2-7b"],
    gpu=ACCELERATORS["A100-SXM-80GB"],
    sequence_length=512,
    sequences=1,
    recompute="full",
    lora_rank=16,
    fused=True,
)
SIZE = total_parameters(MODELS["llama-2-7b"])


@each(
    "method, states",
    (
        ("fp32", 16.0),
        ("bf16", 8.0),
        ("8bit", 2 + 2 + 2 + 8 / 256),
        ("paged", 4.0),
    ),
)
def test_states_are_bytes_per_parameter(method, states):
    found = fine_tuning(JOB, METHODS[method])
    assert found.passes.states == pytest.approx(states * SIZE)


def test_in_the_backward_pass_one_gradient_exists_at_a_time():
    found = fine_tuning(JOB, METHODS["paged_backward"]).passes
    # Llama 2's embedding: 32,000 x 4,096 in bf16, its largest tensor.
    assert found.gradients == 2 * 32_000 * 4_096
    assert found.optimizer == 0


# torchtune's pull requests 389 and 527: AdamW with foreach=False, AdamW8bit, and PagedAdamW in the
# backward pass, all in bf16. The sequences' length is not given; 512 tokens are assumed.
@each("method, measured", (("bf16", 54.0), ("8bit", 40.5), ("paged_backward", 13.99)))
def test_measured_peaks_are_within_two_percent(method, measured):
    found = fine_tuning(JOB, METHODS[method])
    assert found.passes.allocated / GB == pytest.approx(measured, rel=0.02)


def test_foreach_holds_another_copy_of_the_second_moment_at_the_update():
    fused = fine_tuning(JOB, METHODS["bf16"])
    foreach = fine_tuning(replace(JOB, fused=False), METHODS["bf16"])
    held = foreach.updating.tensors - fused.updating.tensors
    assert held == pytest.approx(2 * SIZE)
    assert foreach.fullest == foreach.updating
    assert fused.fullest == fused.passes
    # 19 against 8 accesses of two bytes.
    assert foreach.update / fused.update == pytest.approx(19 / 8)


def test_what_crosses_to_the_host_takes_its_bytes_over_the_link():
    offload = fine_tuning(JOB, METHODS["offload"])
    assert offload.moving == pytest.approx(4 * SIZE / JOB.gpu.pcie)
    assert offload.host == pytest.approx(16 * SIZE)
    # 2.57 s for 10 billion parameters (Ren et al. 2021, table 4).
    assert offload.on_host == pytest.approx(2.57 * SIZE / 10e9)


@each("trained", ("full", "lora", "qlora"))
def test_one_job_has_one_memory(trained):
    inputs = memory_ledger.Inputs(trained=trained, recompute="full", sequence_length=2048)
    ledger = memory_ledger.solve(inputs)
    job = replace(JOB, model=MODELS["llama-3-8b"], gpu=ACCELERATORS["H100-SXM"],
                  sequence_length=2048)  # fmt: skip
    method = METHODS["fp32" if trained == "full" else trained]
    found = fine_tuning(job, method).passes
    assert found.tensors - found.buffers == pytest.approx(ledger.held.tensors - ledger.held.buffers)
    assert found.total == pytest.approx(ledger.process)


def test_one_job_has_one_step():
    training = Training(
        micro_batch_size=1, global_batch_size=1, sequence_length=512, recompute="full",
        framework="fsdp",
    )  # fmt: skip
    cluster = Cluster(gpu=JOB.gpu, gpus_per_node=1, nics_per_node=1, nic_bandwidth=25e9)
    step = step_time(JOB.model, cluster, Plan(world_size=1, zero_stage=3), training)
    assert fine_tuning(JOB, METHODS["fp32"]).step == pytest.approx(step.total)
