"""An accelerator of the reader's own in a run file: what it takes, what is refused and how."""

import pytest

from engine.catalog.constants import GUESS_ERROR, achieved_shares, is_guessed
from engine.estimate import estimate
from engine.run.file import InputError, read_run
from engine.run.own_gpu import NAME
from tests.engine.run.test_run_file import GOOD
from tests.validation.any_run import changed

H100 = {
    "peak": {"bf16": 989e12, "fp8": 1979e12},
    "memory": 84.94e9,
    "memory_bandwidth": 3.35e12,
    "scale_up": 450e9,
    "pcie": 63e9,
}


def own(**keys):
    return read_run(changed(GOOD, "cluster", gpu={**H100, **keys}))


def problems(**keys):
    with pytest.raises(InputError) as error:
        own(**keys)
    return "\n".join(error.value.problems)


def test_an_accelerator_with_the_figures_of_an_h100_takes_as_long_but_for_its_switch():
    same = estimate(own())
    h100 = estimate(read_run(changed(GOOD, "cluster", gpu="H100-SXM")))
    assert same["step_time"] == pytest.approx(h100["step_time"], rel=0.02)
    assert same["step_time_high"] > 1.3 * h100["step_time_high"]
    assert same["step_time_low"] < h100["step_time_low"] / 1.3


def test_its_constants_are_a_guess_and_it_is_said():
    gpu = own().cluster.gpu
    assert gpu.name == NAME
    assert is_guessed(gpu)
    assert GUESS_ERROR == 1.5
    assert achieved_shares(gpu).matmul == 0.6816  # of the H100
    assert any("a guess" in sentence for sentence in estimate(own())["extrapolates"])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"memory": 80}, "cluster.gpu.memory: 80; allowed: 1e+09 to 1e+13 bytes"),
        ({"peak": {"bf16": 989}}, "cluster.gpu.peak.bf16: 989; allowed: 1e+12 to 1e+18 FLOP/s"),
        ({"peak": {"fp8": 1e15}}, "bf16 or fp16 among them"),
        ({"peak": {"bf16": 1e15, "int8": 1e15}}, "cluster.gpu.peak.int8"),
        ({"peak": {"bf16": 1e14, "fp8": 1e17}}, "not 1e+03 times"),
        ({"memory_bandwidth": 1e10}, "not in 8.49"),
        ({"scale_up": 450}, "allowed: 0, or 1e+09 to 1e+14 bytes/s"),
        ({"peak": {"bf16": 1e18}}, "operations for each byte"),
        ({"like": "H100-SXM"}, "cluster.gpu.peak"),
        ({"memory": True}, "cluster.gpu.memory: true"),
        ({"links": 9}, "cluster.gpu.links: 9; unknown key"),
    ],
)
def test_what_no_datasheet_could_say_is_refused_by_its_key(keys, said):
    assert said in problems(**keys)


def test_links_may_be_left_out_and_memory_may_not():
    assert own(scale_up=0).cluster.gpu.scale_up == 0
    section = {key: H100[key] for key in ("peak", "memory_bandwidth")}
    with pytest.raises(InputError, match=r"cluster\.gpu\.memory: missing"):
        read_run(changed(GOOD, "cluster", gpu=section))
