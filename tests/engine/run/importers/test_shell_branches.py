"""A script as a shell reads it: branches, loops, functions, quotes, what is printed and not run."""

from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import TextError
from engine.run.importers.shell import script_flags
from engine.run.importers.unknown_keys import IDLE
from tests.each import each


def flags(text):
    return [(one.key, one.value) for one in script_flags(text) if not one.condition]


def conditional(text):
    return [(one.key, one.value, one.condition) for one in script_flags(text) if one.condition]


def branch(condition, yes, no=""):
    return f'if {condition}; then P="{yes}"; else P="{no}"; fi\nrun --a 1 $P'


@each(
    "text, found",
    [
        (f"X=fp8\n{branch('[ $X = fp8 ]', '--b 2', '--c 3')}", [("--a", "1"), ("--b", "2")]),
        (f"X=bf16\n{branch('[ $X = fp8 ]', '--b 2', '--c 3')}", [("--a", "1"), ("--c", "3")]),
        (f"X=4\n{branch('[[ $X -gt 2 && $X != 5 ]]', '--b 2')}", [("--a", "1"), ("--b", "2")]),
        (f"X=4\n{branch('(( X > 4 ))', '--b 2', '--c')}", [("--a", "1"), ("--c", True)]),
        (f"{branch('[ -z ${X:-} ]', '--b', '--c')}", [("--a", "1"), ("--b", True)]),
        (f"X=a7\n{branch('[[ $X == a* ]]', '--b', '--c')}", [("--a", "1"), ("--b", True)]),
        (f"{branch('! true', '--b', '--c')}", [("--a", "1"), ("--c", True)]),
        ('X=1\n[ $X = 1 ] && P="--b" || P="--c"\nrun $P', [("--b", True)]),
        ('X=2\n[ $X = 1 ] && P="--b" || P="--c"\nrun $P', [("--c", True)]),
        ("S=70b\ncase $S in\n 7b) H=1;;\n 70b|72b) H=2;;\n *) H=3;;\nesac\nrun --h $H",
         [("--h", "2")]),
        ("S=x\ncase $S in 7b) H=1;; *) H=3;; esac\nrun --h $H", [("--h", "3")]),
        ("f() {\n run --n $1 --t $2\n}\nf 8 4", [("--n", "8"), ("--t", "4")]),
        ("function f { run --n $1; }\nf 8", [("--n", "8")]),
        ("for X in 2; do run --x $X; done", [("--x", "2")]),
        ("for X in 2 4; do run --x $X; done", [("--x", "$X")]),
        ("while [[ $# -gt 0 ]]; do case $1 in --t) T=$2; shift 2;; esac; done\nrun --t ${T:-4}",
         [("--t", "4")]),
        ('C="run.py --a 1"\necho $C\neval python $C', [("--a", "1")]),
        ('C="python x.py \\\n --a 1 \\\n --b"\nbash -c "$C"', [("--a", "1"), ("--b", True)]),
        ("echo --b; printf '--c'\nrun --a 1 2>&1 | tee --append log", [("--a", "1")]),
        ("pip install --upgrade x\nmkdir --parents y\nrun --a 1", [("--a", "1")]),
        ("docker run --gpus all image python x.py --a 1", [("--a", "1")]),
        ("cat <<EOF\n--b\nEOF\nrun --a 1", [("--a", "1")]),
        ("sbatch <<EOF\n#!/bin/bash\nsrun python x.py --a 1\nEOF", [("--a", "1")]),
        ("A=(--x 1 # one\n # --y 2\n --z 3)\nrun ${A[@]}", [("--x", "1"), ("--z", "3")]),
        ("A=(--x 1)\nA+=(--y 2)\nrun \"${A[@]}\"", [("--x", "1"), ("--y", "2")]),
        ("A=(--x 1)\nA=\"${A[@]} --y 2\"\nrun $A", [("--x", "1"), ("--y", "2")]),
        ("A='--x $B'\nB=1\nrun $A", [("--x", "$B")]),
        ("run --f [1]*24 --g ([0]*3+[1]*58)", [("--f", "[1]*24"), ("--g", "([0]*3+[1]*58)")]),
        ("M=(--x 1)", [("--x", "1")]),
        ("X=ab.json\nrun --a ${X%.json} --b ${X##*.} --c ${X^^} --d ${#X}",
         [("--a", "ab"), ("--b", "json"), ("--c", "AB.JSON"), ("--d", "7")]),
        ("a=()\nfor ((i=0; i<4; i++)); do if (( i < 1 )); then a+=(0); else a+=(1); fi; done\n"
         "printf -v F \"[%s]\" \"$(IFS=', '; echo \"${a[*]}\")\"\nrun --f $F",
         [("--f", "[0,1,1,1]")]),
        ('M=(--x "$A" --y 1)', [("--x", "$A"), ("--y", "1")]),
        ("A=$(echo 3)\nrun --a $A --b $(date)", [("--a", "3"), ("--b", "$(...)")]),
        ("export C=' x.py --a 1'\necho $C\nsrun bash -c '$L --rank $R $C'",
         [("$L", ""), ("--rank", "$R"), ("--a", "1")]),
        ("srun -N 4 --ntasks-per-node 8 python x.py --a 1",
         [("--nodes", "4"), ("--ntasks-per-node", "8"), ("--a", "1")]),
        ("#SBATCH -N4\nrun --a 1", [("--nodes", "4"), ("--a", "1")]),
    ],
)  # fmt: skip
def test_a_script_runs_what_its_values_decide(text, found):
    assert flags(text) == found


@each(
    "text, found",
    [
        (branch("[ $X = fp8 ]", "--bf16 --b", "--bf16"),
         [("--b", True, "[ ${X} = fp8 ] (line 1)")]),
        (branch("[ $X = 1 ]", "--t 2", "--t 4"),
         [("--t", "2", "[ ${X} = 1 ] (line 1)"), ("--t", "4", "not [ ${X} = 1 ] (line 1)")]),
        ("if [ -n $X ]; then A+=(--b); fi\nA+=(--c 1)\nrun ${A[@]}",
         [("--b", True, "[ -n ${X} ] (line 1)")]),
        ("[ $X = 1 ] && P=--b\nrun $P", [("--b", True, "[ ${X} = 1 ] (line 1)")]),
        ("case $X in 1) run --b;; esac", [("--b", True, "case ${X} is 1 (line 1)")]),
        ("E=(--b 1)\nrun --a", [("--b", "1", IDLE)]),
    ],
)  # fmt: skip
def test_what_nothing_decides_carries_its_condition(text, found):
    assert conditional(text) == found


def test_a_flag_of_every_branch_has_no_condition():
    text = "if [ $X = 1 ]; then run --bf16 --t 2; else run --bf16 --t 4; fi"
    assert flags(text) == [("--bf16", True)]


def test_a_value_of_several_branches_is_none_of_them():
    text = "T=1\nif [ $S = 7 ]; then T=2; elif [ $S = 70 ]; then T=8; fi\nrun --t $T"
    assert flags(text) == [("--t", "$T=2|8|1")]


GPT = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 "
GPT += "--num-attention-heads 4 --vocab-size 128 --seq-length 64 "
GPT += "--micro-batch-size 1 --global-batch-size 8"


def test_a_branch_that_nothing_decides_stops_the_answer_where_it_matters():
    found = import_run(f'if [ $X = 1 ]; then P="--swiglu"; fi\n{GPT} $P')
    assert found.run is None
    assert found.contradictions == (
        "line 1: --swiglu true holds only where [ ${X} = 1 ] (line 1), and nothing in the text "
        "says whether it does",
    )
    quiet = import_run(f'if [ $X = 1 ]; then P="--log-interval 5"; fi\n{GPT} $P')
    assert quiet.run is not None
    (entry,) = [one for one in quiet.entries if one.key == "--log-interval"]
    assert (entry.kind, entry.line) == ("not known", 1)


def test_arguments_that_the_text_does_not_say_are_named():
    found = import_run(f"{GPT} $MORE")
    assert found.warnings == ("$MORE (line 1) holds arguments that the text does not say",)
    both = import_run(f"{GPT} $MORE\n--- model.sh ---\nMORE=(--num-experts 4 --moe-router-topk 2)")
    assert both.warnings == ()
    assert both.run.model.num_experts == 4


def test_an_argument_of_the_script_is_named_as_missing():
    found = import_run(f"T=$1\n{GPT} --tensor-model-parallel-size $T")
    assert found.contradictions == (
        "line 2: --tensor-model-parallel-size is $1; a whole number is needed",
    )


@each(
    "text",
    [
        "${" * 20_000,
        "$((" * 20_000,
        "if [ $X = 1 ]; then\n" * 2000,
        "for ((i=0; i<500; i++)); do " * 6 + "A+=(1); " + "done; " * 6,
        "\"'" * 20_000,
        "f() { f; }\nf\n",
        "while true; do run --x; done\n" * 500,
    ],
)
def test_a_text_that_is_no_script_is_read_or_refused_in_a_moment(text):
    assert outcome(f"run --a 1\n{text}") in ("read", "line 1: a script that is nested too deeply")


def outcome(text):
    try:
        return "read" if script_flags(text) else "empty"
    except TextError as error:
        return str(error)
