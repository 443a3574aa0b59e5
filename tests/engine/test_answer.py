import json
import subprocess
import sys
from dataclasses import replace
from itertools import count

import pytest

from engine.answer import answer, dump, read_inputs, reply
from engine.calculator import load, names
from engine.simulate.profile_analysis.sample import sample_text

# Asked in a fresh interpreter, for the test's own has imported everything.
HEAVY = {"argparse", "html.parser", "random", "pathlib", "subprocess", "decimal", "datetime"}


def ask(calculator="gradient_sync", **request):
    return reply({"calculator": calculator, **request})


def value(answered, name):
    return answered["inputs"][name]["value"]


def error(answered, name):
    return answered["inputs"][name]["error"]


def number(answered, name):
    return answered["outputs"][name]["text"]


def test_no_inputs_give_the_defaults():
    assert number(ask(), "all_reduce_time") == "78.7 ms"


def test_a_typed_value_is_in_the_unit_of_its_field():
    assert number(ask(typed={"port": "200"}), "all_reduce_time") == "160 ms"


def test_a_value_from_a_url_is_in_si_units():
    assert number(ask(values={"port": "2.5e10"}), "all_reduce_time") == "160 ms"


def test_a_typed_value_wins_over_the_one_before():
    answered = ask(values={"port": "1e11"}, typed={"port": "400"})
    assert number(answered, "all_reduce_time") == "78.7 ms"


def test_a_slider_at_its_end_gives_the_highest_value():
    assert value(ask(slide={"world_size": 1.0}), "world_size") == "131072"


def test_arrow_keys_start_from_the_value_given():
    answered = ask(values={"world_size": "64"}, nudge={"world_size": 1})
    assert value(answered, "world_size") == "128"


def test_arrow_keys_go_round_the_options_of_a_choice():
    assert value(ask(values={"dtype": "fp8"}, nudge={"dtype": 1}), "dtype") == "fp32"


def test_arrow_keys_flip_a_switch():
    assert value(ask(nudge={"overlap": 1}), "overlap") == "off"


def test_two_flips_leave_a_switch_alone():
    assert value(ask(nudge={"overlap": 2}), "overlap") == "on"


def test_a_choice_has_no_slider():
    assert error(ask(slide={"dtype": 0.5}), "dtype") == "dtype has no slider"


def test_a_bad_value_stops_the_results():
    assert ask(typed={"port": "many"})["outputs"] is None


def test_a_bad_value_is_reported_beside_its_input():
    assert error(ask(typed={"port": "many"}), "port").startswith("'many' is not a number")


def test_a_bad_value_leaves_the_others_without_error():
    assert error(ask(typed={"port": "many"}), "world_size") is None


def test_a_bad_value_falls_back_to_the_default_if_so_wanted():
    answered = ask(values={"port": "many"}, fallback=True)
    assert number(answered, "all_reduce_time") == "78.7 ms"


def test_a_fallback_still_reports_the_bad_value():
    assert error(ask(values={"port": "many"}, fallback=True), "port")


def test_a_good_value_heals_a_bad_one():
    answered = ask(values={"port": "many"}, typed={"port": "400"})
    assert (error(answered, "port"), answered["outputs"] is None) == (None, False)


def test_an_unknown_input_is_a_problem_with_the_names_there_are():
    problem = ask(values={"gpus": "8"})["problems"][0]
    assert problem.startswith("gradient_sync has no input 'gpus'; there are parameters, dtype")


def test_an_unknown_input_does_not_stop_the_results():
    assert ask(values={"gpus": "8"})["outputs"] is not None


def test_an_unknown_calculator_is_an_error_with_the_names_there_are():
    with pytest.raises(LookupError, match="no calculator 'zero'; there are accumulation_cost, "):
        ask("zero")


def test_the_query_holds_only_what_differs_from_the_defaults():
    answered = ask(typed={"port": "800", "world_size": "64"})
    assert answered["query"] == [["gradient_sync.port", "1e11"]]


def test_the_query_of_the_defaults_is_empty():
    assert ask()["query"] == []


def test_the_query_leads_back_to_the_same_results():
    first = ask(typed={"parameters": "70.6B", "port": "123.4"}, nudge={"dtype": 1})
    values = {key.partition(".")[2]: text for key, text in first["query"]}
    assert ask(values=values)["outputs"] == first["outputs"]


def test_a_changed_input_says_so():
    answered = ask(typed={"port": "800"})
    assert [k for k, v in answered["inputs"].items() if v["changed"]] == ["port"]


def test_only_numbers_have_a_position():
    positions = {name: v["position"] for name, v in ask()["inputs"].items()}
    assert (positions["dtype"], positions["overlap"]) == (None, None)


def test_the_display_reaches_every_text():
    answered = ask(display={"binary": True})
    assert number(answered, "gradient_size") == "13.0 GiB"


def test_receipts_come_only_when_wanted():
    assert ask()["extra"] == {}


def test_a_wanted_receipt_is_a_fragment():
    extra = ask(want={"receipts": ["all_reduce_time"]})["extra"]
    assert "64.2 ms" in extra["receipts"]["all_reduce_time"]


def test_wanted_data_is_csv():
    extra = ask(want={"csv": ["parts"]})["extra"]
    assert extra["csv"]["parts"].startswith("bar,part,time [second]\r\n")


def test_an_unknown_output_is_not_in_the_extra():
    assert ask(want={"csv": ["nothing"]})["extra"] == {}


def test_only_what_is_looked_at_is_made():
    asked = {"calculator": "bubble_conventions", "only": ["share", "no such output"]}
    assert list(reply(asked)["outputs"]) == ["share"]


def test_what_is_looked_at_is_the_same_as_in_a_whole_reply():
    whole = reply({"calculator": "bubble_conventions"})["outputs"]
    part = reply({"calculator": "bubble_conventions", "only": ["step"]})["outputs"]
    assert part["step"] == whole["step"]


def test_what_is_opened_is_made_though_nobody_looks_at_it():
    want = {"receipts": ["share"]}
    found = reply({"calculator": "bubble_conventions", "only": ["step"], "want": want})
    assert set(found["extra"]["receipts"]) == {"share"}


def test_a_receipt_that_is_opened_later_computes_nothing_again(monkeypatch):
    solved = []
    calculator = load("bubble_conventions")

    def solve(inputs):
        solved.append(inputs)
        return calculator.solve(inputs)

    counting = replace(calculator, solve=solve)
    monkeypatch.setattr("engine.answer.load", lambda _: counting)
    asked = {"calculator": "bubble_conventions", "values": {"num_microbatches": "77"}}
    reply(asked)
    reply({**asked, "want": {"receipts": ["share"]}})
    assert len(solved) == 1


def test_nothing_extra_comes_with_a_bad_value():
    assert ask(typed={"port": "many"}, want={"csv": ["parts"]})["extra"] == {}


def test_a_link_in_a_receipt_carries_the_state():
    extra = ask(typed={"port": "800"}, want={"receipts": ["step_time"]})["extra"]
    assert 'href="?gradient_sync.port=1e11"' in extra["receipts"]["step_time"]


def test_hostile_text_stays_text():
    nasty = '<img src=x onerror="alert(1)">'
    answered = ask(typed={"dtype": nasty})
    assert error(answered, "dtype") == f"'{nasty}' is not among fp32, bf16, fp8"


def test_answer_is_reply_as_json_text():
    request = {"calculator": "rail_claim", "typed": {"ports_per_node": "1"}}
    assert answer(json.dumps(request)) == dump(reply(request))


def test_json_holds_no_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump({"value": float("nan")})


def test_json_keeps_its_letters_and_wastes_no_space():
    assert dump({"a": ["µ", 1]}) == '{"a":["µ",1]}'


def test_the_engine_starts_without_heavy_modules():
    code = "import engine.answer, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_an_input_that_was_renamed_is_read_by_both_names():
    calculator = replace(load("gradient_sync"), formerly={"ranks": "world_size"})
    values, errors, problems = read_inputs(calculator, {"values": {"ranks": "16"}})
    assert (values["world_size"], errors, problems) == (16, {}, [])


def test_an_input_that_is_gone_is_said_to_be_gone():
    calculator = replace(load("gradient_sync"), formerly={"nodes": ""})
    values, _, problems = read_inputs(calculator, {"values": {"nodes": "16"}})
    assert values == calculator.defaults
    assert problems == ["the input 'nodes' of an older version is gone; what it set has no effect"]


def test_former_names_lead_to_inputs_there_are():
    for calculator in map(load, names()):
        assert not {*calculator.formerly} & {*calculator.fields}
        assert {*calculator.formerly.values()} <= {*calculator.fields, ""}


def test_what_is_left_for_later_is_named_and_comes_when_it_is_asked_for():
    ticks, values = count(0.0, 1e-4), {"port": "3.21e10"}
    asked = {"calculator": "gradient_sync", "values": values, "within": 0.0}
    answered = reply(asked, lambda: next(ticks))
    assert answered["later"]
    assert not set(answered["outputs"]) & set(answered["later"])
    assert {*answered["outputs"], *answered["later"]} == set(ask()["outputs"])
    rest = ask(values=values, only=answered["later"])
    assert list(rest["outputs"]) == [k for k in ask()["outputs"] if k in answered["later"]]


def test_without_a_clock_nothing_is_left_for_later():
    assert "later" not in ask(within=0.0)


def test_what_a_reader_of_files_handed_over_is_not_sent_back():
    text = sample_text().replace("simulated-rank", "mine")
    request = {"calculator": "trace_check", "values": {"trace": text}, "only": []}
    assert reply(request)["inputs"]["trace"]["value"] == text
    entry = reply({**request, "short": True})["inputs"]["trace"]
    assert (entry["value"], entry["text"], entry["changed"]) == (None, "", True)
    sample = reply({"calculator": "trace_check", "only": [], "short": True})["inputs"]["trace"]
    assert (sample["value"], sample["text"]) == ("sample:simulated", "")
