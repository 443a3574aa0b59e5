from engine.answer import reply
from engine.calculators.whole_runs.memory_check import PRESETS, Inputs, solve


def outputs(**values):
    given = {name: str(value) for name, value in values.items()}
    return reply({"calculator": "memory_check", "values": given})["outputs"]


def verdict(**values):
    return outputs(**values)["verdict"]["html"]


def test_the_readings_at_the_start_are_as_modelled():
    assert "As modeled" in verdict()


def test_the_presets_show_what_they_are_named_after():
    named = {
        "torchtitan: Llama 3 8B on 8 H100, 77.0 GiB": "As modeled",
        "Blocks in pieces": "Blocks in pieces",
        "Memory outside PyTorch": "Outside PyTorch",
    }
    assert named.keys() == PRESETS.keys()
    for title, words in named.items():
        assert words in verdict(**PRESETS[title])


def test_without_readings_there_is_nothing_to_judge():
    assert "Nothing read yet" in verdict(allocated=0, reserved=0, process=0)


def test_a_larger_batch_than_described_is_other_tensors():
    assert "Other tensors" in verdict(micro_batch_size=2, global_batch_size=16)


def test_readings_that_do_not_nest_are_told():
    assert "Not of one moment" in verdict(allocated=56e9)


def test_a_reading_that_was_not_taken_has_no_row_of_numbers():
    html = outputs(process=0)["compared"]["html"]
    assert "not read" in html


def test_gaps_are_differences_of_the_readings():
    found = solve(Inputs(allocated=40e9, reserved=44e9, process=47e9))
    assert (found.in_pieces, found.beside) == (4e9, 3e9)
