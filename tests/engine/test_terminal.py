import json
import shutil
import subprocess
import sys

import pytest

from engine.__main__ import VERBS, main
from engine.answer import answer, dump
from engine.calculator import load, names
from tests import lanes
from tests.each import each
from tests.layers import ROOT

SOME = lanes.sampled([*names()], 4)


@pytest.fixture
def run(capsys):
    """Run a command in this process; return its exit status, output and errors."""

    def command(*arguments):
        try:
            status = main(arguments)
        except SystemExit as stop:
            status = stop.code
        return (status, *capsys.readouterr())

    return command


def asked(**request):
    nothing = {"values": {}, "typed": {}, "display": {"binary": False, "both_ways": False}}
    return answer(dump({"calculator": "gradient_sync", **nothing, **request}))


def test_the_list_holds_every_calculator_with_its_question(run):
    lines = [line.split() for line in run("list")[1].splitlines()]
    assert [name for name in names() if [name, *load(name).question.split()] not in lines] == []


def test_the_list_ends_well(run):
    assert run("list")[0] == 0


def test_help_alone_is_the_list(run):
    assert run("--help") == run("list")


@each(
    ("arguments", "said"),
    [
        ((), "no command given; 'python -m engine list' shows all"),
        (("estimates", "run.json"), "no command 'estimates'; did you mean 'estimate'? "),
        (("gradientsync",), "no command 'gradientsync'; did you mean 'gradient_sync'? "),
        (("entirely", "else"), "no command 'entirely'; 'python -m engine list' shows all"),
    ],
)
def test_an_unknown_command_ends_with_status_2_and_the_closest_name(run, arguments, said):
    status, output, errors = run(*arguments)
    assert (status, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(said)


def test_an_unknown_input_ends_with_the_closest_name(run):
    status, _, errors = run("gradient_sync", "world_sise=64")
    assert status == 2
    assert errors.endswith("world_sise: did you mean 'world_size'?\n")


@each("verb", sorted(VERBS))
def test_every_verb_explains_itself(run, verb):
    status, output, errors = run(verb, "--help")
    assert (status, errors) == (0, "")
    assert output.startswith(f"usage: python -m engine {verb} ")


def test_the_list_is_json_on_request(run):
    rows = json.loads(run("list", "--json")[1])
    assert [row["name"] for row in rows] == list(names())


def test_the_repository_has_no_version_of_its_own(run):
    assert run("--version") == (0, "not installed\n", "")


@each("shell", ["bash", "zsh", "fish"])
def test_every_shell_completes_commands(run, shell):
    status, output, errors = run("completion", shell)
    assert (status, errors) == (0, "")
    assert "python -m engine completion words" in output


def test_a_shell_completes_commands_and_inputs(run):
    assert {"list", "estimate", "serve", *names()} <= set(run("completion", "words")[1].split())
    inputs = run("completion", "words", "gradient_sync")[1].split()
    assert inputs == [f"{name}=" for name in load("gradient_sync").fields]
    assert run("completion", "words", "plan") == (0, "\n", "")


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
def test_bash_completes_a_command(run, tmp_path):
    script = run("completion", "bash")[1].replace("python -m engine", f"{sys.executable} -m engine")
    ask = 'COMP_WORDS=(wallclock gradient_sy); COMP_CWORD=1; _wallclock; echo "${COMPREPLY[@]}"'
    bash = ["bash", "-c", f"complete() {{ :; }}\n{script}\n{ask}"]
    said = subprocess.run(bash, capture_output=True, text=True, check=True, cwd=ROOT)
    assert said.stdout.split() == ["gradient_sync"]


def test_results_come_with_label_and_unit(run):
    lines = [line.split() for line in run("gradient_sync")[1].splitlines()]
    assert ["all_reduce_time", "78.7", "ms", "All-reduce"] in [line[:4] for line in lines]


@pytest.mark.parametrize("name", SOME)
def test_every_calculator_can_be_read_as_text(run, name):
    status, output, errors = run(name)
    assert (status, errors) == (0, "")
    assert output.startswith(load(name).title)


@pytest.mark.parametrize("name", SOME)
def test_columns_leave_no_blanks_at_the_end_of_a_line(run, name):
    assert not [line for line in run(name)[1].splitlines() if line != line.rstrip()]


def test_a_bare_number_is_in_si_units(run):
    assert run("gradient_sync", "port=1e11") == run("gradient_sync", "port=800Gb/s")


def test_a_number_with_a_unit_is_read_as_on_the_page(run):
    assert run("gradient_sync", "parameters=70B", "--json")[1] == (
        asked(typed={"parameters": "70B"}) + "\n"
    )


def test_thousands_may_be_separated(run):
    assert run("gradient_sync", "world_size=1,024") == run("gradient_sync", "world_size=1024")


def test_a_choice_is_given_by_name(run):
    assert "102 ms" in run("gradient_sync", "algorithm=tree")[1]


def test_options_may_stand_between_inputs(run):
    between = run("gradient_sync", "port=1e11", "--json", "dtype=fp8")
    assert between == run("gradient_sync", "port=1e11", "dtype=fp8", "--json")


def test_json_is_exactly_the_answer_of_the_engine(run):
    values = {"port": "1e11", "dtype": "fp8"}
    status, output, errors = run("gradient_sync", "port=1e11", "dtype=fp8", "--json")
    assert (status, output, errors) == (0, asked(values=values) + "\n", "")


def test_sizes_can_be_binary(run):
    assert "13.0 GiB" in run("gradient_sync", "--binary")[1]


def test_links_can_be_summed_over_both_ways(run):
    assert "262.8 Gb/s both ways" in run("gradient_sync", "--both-ways")[1]


def test_display_options_reach_the_json(run):
    wanted = asked(display={"binary": True, "both_ways": True})
    assert run("gradient_sync", "--json", "--binary", "--both-ways")[1] == wanted + "\n"


def test_every_problem_has_its_line(run):
    status, output, errors = run("gradient_sync", "port=9e99", "foo=2", "dtype=int4")
    assert (status, output) == (2, "")
    assert [line.partition(":")[0].split()[0] for line in errors.splitlines()] == [
        "gradient_sync",
        "dtype",
        "port",
    ]


def test_a_bad_value_is_named_with_what_is_allowed(run):
    assert run("gradient_sync", "port=9e99")[2] == (
        "port: '9e99' is outside the range 1 Gb/s to 1,600 Gb/s\n"
    )


def test_a_bad_value_prints_no_json(run):
    assert run("gradient_sync", "port=many", "--json")[:2] == (2, "")


def test_an_input_without_a_value_is_refused(run):
    assert run("gradient_sync", "port") == (2, "", "'port' is not of the form name=value\n")


def test_an_unknown_option_ends_with_status_2(run):
    assert run("gradient_sync", "--jsn")[0] == 2


@pytest.mark.parametrize("name", SOME)
def test_help_explains_every_input(run, name):
    output = run(name, "--help")[1]
    explained = [line.split()[0] for line in output.splitlines() if line.startswith("  ")]
    assert set(load(name).fields) <= set(explained)


@pytest.mark.parametrize("part", ["5e10", "400 Gb/s", "1 Gb/s to 1,600 Gb/s", "one way"])
def test_help_gives_default_unit_range_and_help(run, part):
    lines = run("gradient_sync", "-h")[1].splitlines()
    assert part in next(line for line in lines if line.startswith("  port "))


def test_help_lists_the_presets(run):
    assert "One port per node: ports_per_node=1" in run("rail_claim", "--help")[1]


def test_the_module_runs_as_a_command():
    command = [sys.executable, "-m", "engine", "gradient_sync", "port=many"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_who_stops_reading_is_no_error():
    # The whole list is longer than a pipe holds, so that writing goes on after the reader has left.
    command = f"{sys.executable} -m engine published_runs --json | head -c 10"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (len(done.stdout), done.stderr) == (10, "")


def test_a_run_file_of_nothing_but_brackets_is_refused_in_one_line(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8")
    command = [sys.executable, "-m", "engine", "estimate", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "nested too deeply" in done.stderr
