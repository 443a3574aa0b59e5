"""What pages show as measured is what the tables of the device say."""

import pytest

from engine.catalog.measured_timings import (
    ATTENTION_TOKENS,
    OWN_ATTENTIONS,
    OWN_COPIES,
    OWN_DATE,
    OWN_LAUNCHES,
    OWN_LAYERS,
)
from engine.simulate.layer.measured_attention import measured_and_modeled_rates
from engine.simulate.step.recompute_measured import predicted_kept_bytes
from tests.validation.device.tables import attention_time, machines, table

H100, H200 = "H100-SXM", "H200-SXM"


def the(which, **wanted):
    """Return the one row of a table with these cells."""
    (row,) = [r for r in table(which) if all(r[key] == one for key, one in wanted.items())]
    return row


def attentions(one, way):
    return the(
        "attention",
        **{"device": H100, "class": "length", "kernel": one.kernel, "pass": way},
        length=str(int(one.length)),
    )


def test_the_date_is_that_of_both_machines():
    assert {one["date"] for one in machines()} == {OWN_DATE}


@pytest.mark.parametrize("one", OWN_ATTENTIONS, ids=lambda one: f"{one.kernel}-{one.length}")
def test_an_attention_is_a_row_and_its_model_that_of_the_validation(one):
    for way, time in (("forward", one.forward), ("backward", one.backward)):
        row = attentions(one, way)
        assert float(row["time"]) == time
        assert int(row["batch"]) * int(row["length"]) == ATTENTION_TOKENS
        measured, modeled = measured_and_modeled_rates(one, backward=way == "backward")
        assert measured / modeled == pytest.approx(attention_time(row) / time)


def test_the_rate_counts_half_of_the_pairs():
    (one,) = (row for row in OWN_ATTENTIONS if (row.kernel, row.length) == ("cudnn", 16_384))
    by_hand = 4 * 32 * 16_384**2 / 2 * 128
    assert measured_and_modeled_rates(one, backward=False)[0] == pytest.approx(by_hand / 0.0038888)
    assert measured_and_modeled_rates(one, backward=True)[0] == pytest.approx(
        2.5 * by_hand / 0.010911
    )


@pytest.mark.parametrize(
    "one", OWN_LAYERS, ids=lambda one: f"{one.model}-{one.style}-{one.recompute}"
)
def test_a_kept_layer_is_a_row_and_the_model_is_near(one):
    kernel = "flash" if one.fused else "unfused"
    row = the(
        "layers",
        **{"device": H100, "model": one.model, "batch": "1", "length": str(int(one.length))},
        **{"style": one.style, "recompute": one.recompute, "kernel": kernel, "pass": "both"},
    )
    assert int(row["kept"]) == one.kept
    if one.style != "one norm":
        assert predicted_kept_bytes(one) == pytest.approx(one.kept, rel=1e-3)


def test_norms_in_one_operator_have_no_name_and_are_taken_for_eager_ones():
    """It keeps no copy of its input in fp32: two norms of 8,192 x 4,096 elements, 4 bytes each."""
    one, eager = (
        next(row for row in OWN_LAYERS if (row.style, row.recompute) == (style, "none"))
        for style in ("one norm", "eager")
    )
    assert predicted_kept_bytes(one) == predicted_kept_bytes(eager)
    assert eager.kept - one.kept == 2 * 8192 * 4096 * 4


def test_launches_are_rows():
    for name, times in OWN_LAUNCHES.items():
        for device, time in zip((H100, H200), times, strict=True):
            assert (
                float(the("streams", device=device, name=name, **{"class": "launches"})["time"])
                == time
            )


@pytest.mark.parametrize("one", OWN_COPIES, ids=lambda one: f"{one.gpu}-{one.size}")
def test_copies_are_rows(one):
    for kind, times in (("pinned", one.pinned), ("pageable", one.pageable)):
        for way, time in zip(("to device", "to host"), times, strict=True):
            row = the("streams", device=one.gpu, name=f"{way}, {kind}", size=str(int(one.size)))
            assert float(row["time"]) == time
