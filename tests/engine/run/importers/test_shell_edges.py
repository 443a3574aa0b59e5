"""Flags of a launch script: words, variables, sums, launchers, what a log prints, at the limits."""

from engine.run.importers.shell import printed_arguments, resolve_variables, script_flags
from tests.each import each


def flags(text, first=1):
    return [(one.key, one.value, one.line) for one in script_flags(text, first)]


@each(
    "text, found",
    [
        ("run --a 1 --b", [("--a", "1", 1), ("--b", True, 1)]),
        ("run --a=1 --b= --c", [("--a", "1", 1), ("--b", True, 1), ("--c", True, 1)]),
        ("run --a=1 2", [("--a", "1", 1)]),
        ("run --a 1 2 3", [("--a", ["1", "2", "3"], 1)]),
        ("run --a 1 $MORE", [("--a", "1", 1), ("$MORE", "", 1)]),
        ("run --a $A", [("--a", "$A", 1)]),
        ("run --a ${A}", [("--a", "$A", 1)]),
        ("run --a 1 ${MORE}", [("--a", "1", 1), ("$MORE", "", 1)]),
        ("run --a 1 $MORE 2", [("--a", "1", 1), ("$MORE", "", 1)]),
        ("run -- --ab -c", [("--ab", True, 1)]),
        ("run --a \\\n 1 --b 2", [("--a", "1", 1), ("--b", "2", 2)]),
        ("run --a 1 ; x", [("--a", "1", 1)]),
        ("run --a 1 | tee log", [("--a", "1", 1)]),
        ("run --a x.py --b y.sh", [("--a", True, 1), ("--b", True, 1)]),
        ("run --a 'b c' \"d\"", [("--a", ["b c", "d"], 1)]),
        ("run --a '([0]*3+[1]*2)'", [("--a", "([0]*3+[1]*2)", 1)]),
        ("run --a 1 # --b 2\n# --c 3", [("--a", "1", 1)]),
        ("#SBATCH --nodes 4", [("--nodes", "4", 1)]),
        ("ARGS=(--a 1)\nrun ${ARGS[@]} --b 2", [("--a", "1", 1), ("--b", "2", 2)]),
        ('ARGS="--a 1"\nrun $ARGS --b 2', [("--a", "1", 1), ("--b", "2", 2)]),
    ],
)
def test_a_script_has_the_flags_that_it_hands_on(text, found):
    assert flags(text) == found


def test_a_flag_has_64_words_at_most():
    assert flags(f"run --a {'x ' * 65}") == [("--a", ["x"] * 64, 1)]


def test_lines_are_counted_from_the_first():
    assert flags("\nrun --a 1", 5) == [("--a", "1", 6)]
    assert flags("\nrun --a 1") == [("--a", "1", 2)]


@each(
    "text, value",
    [
        ("A=4\nrun --x $A", "4"),
        ("export A=4\nrun --x ${A}", "4"),
        ("A=4\nA=5\nrun --x $A", "5"),
        ("A='4'\nrun --x $A", "4"),
        ("A=4\nB=$A\nrun --x $B", "4"),
        ("run --x ${A:-8}", "8"),
        ("A=4\nrun --x ${A:-8}", "4"),
        ("B=2\nrun --x ${A:-$B}", "2"),
        ("run --x $A", "$A"),
        ("A=$((2 * 3))\nrun --x $A", "6"),
        ("A=4\nrun --x $((A + 1))", "5"),
        ("A=4\nrun --x $(($A - 1))", "3"),
        ("run --x $((9 / 2))", "4"),
        ("run --x $((2 + 3 * 4))", "14"),
    ],
)
def test_a_variable_is_what_the_text_assigns_to_it(text, value):
    ((_, found, _),) = flags(text)
    assert found == value


TRILLION = 10**12


@each(
    "term, found",
    [
        (f"{TRILLION - 1} + 1", str(TRILLION)),
        (f"{TRILLION} + 1", None),
        (f"{TRILLION - 1}", str(TRILLION - 1)),
        (f"{TRILLION}", None),
        (f"1 + {TRILLION - 1} + 1", None),
        (f"0 - {TRILLION - 1} - 1", str(-TRILLION)),
        (f"0 - {TRILLION - 1} - 1 - 1", None),
        (f"1 - {TRILLION - 1} * 1", str(2 - TRILLION)),
        (f"1 * {TRILLION}", None),
        (f"2 - 2 * {(TRILLION - 2) // 2}", str(4 - TRILLION)),
        (f"2 - 2 * {TRILLION // 2}", None),
        ("9 / 0", None),
        ("9 // 2", "4"),
        ("9 % 2", "1"),
        ("B * 2", None),
        ("1.5 * 2", None),
        ("-1", None),
        ("1 +", None),
    ],
)
def test_a_sum_is_one_of_whole_numbers_below_a_trillion(term, found):
    assert resolve_variables(f"x $(({term}))") == f"x {found or '$((...))'}"


def test_a_script_is_resolved_line_by_line():
    assert resolve_variables("A=4\nmodel.x=$A  y\n") == "A=4\nmodel.x=4  y"


def test_a_long_line_is_resolved_word_by_word():
    assert resolve_variables(f"A=1\n{'word ' * 500}$A").endswith("word 1")


@each(
    "text, name, line",
    [
        ("NNODES=4\nrun --x 1", "NNODES", 1),
        ("#\nexport NUM_NODES=4\nrun --x 1", "NUM_NODES", 2),
        ("GPUS_PER_NODE=4", "GPUS_PER_NODE", 1),
        ("NPROC_PER_NODE=4", "NPROC_PER_NODE", 1),
        ("NGPU=${NGPU:-4}", "NGPU", 1),
        ("WORLD_SIZE=4", "WORLD_SIZE", 1),
    ],
)
def test_variables_of_a_launcher_count(text, name, line):
    assert (name, "4", line) in flags(text)


def test_what_megatron_prints_is_told_with_its_line():
    text = "header\n  num_layers ...... 24\n[rank0]: lr ... 1\n  hidden_size .. 8\n x_y .... \n"
    found = [(one.key, one.value, one.line) for one in printed_arguments(text, 5)]
    assert found == [("--num-layers", "24", 6), ("--x-y", "", 9)]
    assert [one.line for one in printed_arguments("\nnum_layers ... 1")] == [2]


@each("length, kept", [(500, 1), (501, 0)])
def test_a_line_of_a_log_has_500_characters_at_most(length, kept):
    # The name may begin up to the 61st character, and its value has at most 300.
    start = "num_layers " + "." * (length - 11 - 300)
    (one,) = printed_arguments(start + "1" * 299 + "2")
    assert one.value.endswith("2" if kept else "1")
