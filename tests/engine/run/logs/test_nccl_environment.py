"""NCCL variables of commands, scripts and dumps."""

import random
import time

from engine.run.logs.nccl import read_nccl
from engine.run.logs.nccl_environment import AS_THE_SHELL, read_environment
from tests.each import each
from tests.engine.run.logs import nccl_texts as texts


@each(
    ("text", "values"),
    [
        ("mpirun -np 8 -x NCCL_ALGO=Ring -x NCCL_P2P_DISABLE=1 ./a", ["Ring", "1"]),
        ("NCCL_ALGO=Ring NCCL_PROTO=Simple mpirun ./a", ["Ring", "Simple"]),
        ("env NCCL_SOCKET_IFNAME=^lo,docker0 NCCL_NET=Socket ./a", ["^lo,docker0", "Socket"]),
        ("  export NCCL_IB_HCA==mlx5_0,mlx5_1:1", ["=mlx5_0,mlx5_1:1"]),
        ("srun --export=ALL,NCCL_ALGO=Ring,NCCL_PROTO=LL,FOO=1 ./a", ["Ring", "LL"]),
        ("#SBATCH --export=ALL,NCCL_ALGO=Tree", ["Tree"]),
        ("mpiexec -genv NCCL_ALGO Ring -n 8 ./a", ["Ring"]),
        ("docker run -e NCCL_P2P_DISABLE='1' image", ["1"]),
        ('os.environ["NCCL_ALGO"] = "Ring"', ["Ring"]),
        ("      NCCL_ALGO: Ring", ["Ring"]),
        ("NCCL_ALGO='allreduce:ring;allgather:tree' ./a", ["allreduce:ring;allgather:tree"]),
        ("mpirun -x NCCL_ALGO ./a", [AS_THE_SHELL]),
        ("export NCCL_ALGO=Ring\nexport NCCL_ALGO=Tree", ["Tree"]),
        ("export NCCL_ALGO=Ring\nunset NCCL_ALGO", []),
        ("# export NCCL_ALGO=Ring", []),
        ("echo NCCL_ALGO=Ring", []),
        ("NCCL_ALGO is what you need", []),
    ],
)  # fmt: skip
def test_variables_of_a_line(text, values):
    assert [variable.value for variable in read_environment(text)] == values


def test_what_nccl_says_it_read_counts():
    said = "h:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Tree\n"
    found = read_nccl("NCCL_ALGO=Ring NCCL_PROTO=LL ./a\n" + said + texts.ROW)
    assert {own.name: own.value for own in found.variables} == {
        "NCCL_ALGO": "Tree",
        "NCCL_PROTO": "LL",
    }


def test_hostile_lines_take_no_time():
    start = time.process_time()
    for text in ("NCCL_A=1," * 100_000, "NCCL_" + "A" * 1_000_000, 'NCCL_A="' + "x," * 400_000):
        read_environment(text)
    assert time.process_time() - start < 1


def test_damaged_lines_are_read_or_passed_over():
    chance = random.Random("environment")
    line = (
        "mpirun -x NCCL_ALGO=Ring -genv NCCL_PROTO LL NCCL_IB_HCA='a,b' os.environ['NCCL_NET']='x'"
    )
    for _ in range(3000):
        at, end = sorted(chance.randrange(len(line)) for _ in range(2))
        text = line[:at] + chance.choice(("", "=", "'", '"', "\\", "\n", "NCCL_")) + line[end:]
        for variable in read_environment(text):
            assert variable.name.startswith("NCCL_")
            assert "\n" not in variable.value
