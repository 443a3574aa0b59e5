"""What speaks against a run: what does not fit together, and pieces that are not alike."""

from dataclasses import replace

from engine.catalog.models import MODELS
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.run.doubts import run_warnings
from tests.each import each

JOB = Inputs(model="llama-3-70b", pipeline_parallel=4, virtual_pipeline=1, schedule="1f1b")
RUN, _ = nearest_run(JOB)


def test_80_layers_on_four_stages_leave_no_doubt():
    assert (run_warnings(RUN).problems, run_warnings(RUN).pieces) == ((), ())


def test_126_layers_on_four_stages_are_uneven():
    found = run_warnings(replace(RUN, model=MODELS["llama-3-405b"]))
    assert len(found.pieces) == 4
    assert sum(found.pieces) == 126


def test_a_batch_that_does_not_divide_is_named():
    found = run_warnings(replace(RUN, training=replace(RUN.training, global_batch_size=127)))
    assert any("global_batch_size 127" in one for one in found.problems)


@each(
    "stages, sequences, asked",
    [(4, 256, 0), (4, 6, 1), (5, 200, 1), (4, 15, 1), (1, 3, 0)],
)
def test_dual_pipe_asks_for_even_stages_and_two_micro_batches_for_each(stages, sequences, asked):
    sizes = {"tensor_parallel": 1, "context_parallel": 1, "pipeline_parallel": stages}
    plan = replace(RUN.plan, world_size=2 * stages, **sizes)
    training = replace(
        RUN.training, schedule="dualpipe", micro_batch_size=1, global_batch_size=2 * sequences
    )
    found = run_warnings(replace(RUN, plan=plan, training=training))
    assert len(found.asked) == asked
