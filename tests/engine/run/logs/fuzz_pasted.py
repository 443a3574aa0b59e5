"""NCCL texts and counters that were damaged, or of two kinds in one paste.

`python -m tests.engine.run.logs.fuzz_pasted [COUNT]` tries so many of each. Anything but a
`TextError` or a verdict with finite numbers ends it with the text.
"""

import math
import random
import sys
import time

from engine.calculators.moving_bytes import counter_decoder
from engine.calculators.moving_bytes.nccl_log import calculator as nccl_log
from engine.core.inputs import InputError
from engine.core.text import render_text
from engine.form.counter_samples import SAMPLES as COUNTER_SAMPLES
from engine.form.nccl_samples import SAMPLES as NCCL_SAMPLES
from engine.run.importers.import_report import TextError
from tests.engine.run.logs import nccl_texts

COMMANDS = (
    "mpirun -x NCCL_ALGO=Ring -x NCCL_P2P_DISABLE=1 ./all_reduce_perf\n",
    "export NCCL_PROTO=LL; srun --export=ALL,NCCL_NVLS_ENABLE=0,NCCL_IB_HCA=mlx5_0 ./a\n",
    "os.environ['NCCL_NET'] = 'Socket'\n",
)
SYSFS = "".join(
    f"{clock}\n/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data:{10 + more}\n"
    f"/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:{more}\n"
    for clock, more in ((1_763_800_000, 0), (1_763_800_010, 10**9))
)
SONIC = "".join(
    f"{clock}\n  Port Rx    PFC0    PFC1\n---------  ------  ------\n"
    f"Ethernet0  {count:6,}       0\n"
    for clock, count in ((1_763_800_000, 1), (1_763_800_010, 9200))
)
BNXT = "".join(
    f"{clock}\nNIC statistics:\n     [0]: rx_ucast_packets: {count}\n"
    f"     rx_fcs_err_frames: {count}\n"
    for clock, count in ((1_763_800_000, 1), (1_763_800_010, 9200))
)
TEXTS = {
    "nccl": (
        *(sample.text for sample in NCCL_SAMPLES.values()),
        *(command + nccl_texts.VERSIONED for command in COMMANDS),
        nccl_texts.TWO_TESTS,
        nccl_texts.PIECES,
    ),
    "counters": (*(sample.text for sample in COUNTER_SAMPLES.values()), SYSFS, SONIC, BNXT),
}
ODD = (
    "<script>", "\x00", "9" * 400, "-1", "nan", "1e999", "NCCL_", "=", "MNNVL 0", "Rank", ",,,",
    "# Port counters: Lid 6 port 1\n", "NIC statistics:\n", "link a/1 ", "1763800000\n", "\n\n\n",
    "==> /sys/class/infiniband/a/ports/1/counters/b <==\n", "IFACE  STATE  RX_OK\n", "\ud83d\ude00",
    "{", "}", "device  0 [0x1] NVIDIA GB200",
)  # fmt: skip


def mutated(chance: random.Random, kind: str) -> str:
    """Return a text with a few damages; one in four has a text of another kind pasted in."""
    text = chance.choice(TEXTS[kind])
    if chance.random() < 0.25:
        other = chance.choice(TEXTS[chance.choice(sorted(TEXTS))])
        lines = text.split("\n")
        at = chance.randrange(len(lines))
        text = "\n".join([*lines[:at], other, *lines[at:]])
    for _ in range(chance.choice((1, 2, 4, 8))):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.choice((0, 1, 5, 30, 200)))
        way = chance.randrange(3)
        if way == 0:
            text = text[:place] + text[end:]
        elif way == 1:
            text = text[:place] + chance.choice(ODD) + text[end:]
        else:
            text = text[:place] + text[place:end] * chance.choice((2, 5)) + text[end:]
    return text


def tried(kind: str, text: str) -> str:
    """Return the title of the verdict, or "refused"; anything else is a fault."""
    module = nccl_log if kind == "nccl" else counter_decoder
    inputs = module.Inputs(**{"log" if kind == "nccl" else "counters": text})
    try:
        result = module.solve(inputs)
    except (TextError, InputError):
        return "refused"
    badge = module.views(inputs, result)["verdict"]
    sentence = render_text(badge.sentence)
    assert "nan" not in sentence.split()
    for name in ("bus_bandwidth", "latency", "sent", "received", "paused"):
        value = getattr(result, name, 0.0)
        assert value >= 0 or math.isnan(value)
    return badge.text


def main(count: int) -> None:
    for kind in TEXTS:
        chance, counts, slowest = random.Random(f"pasted {kind}"), {}, 0.0
        for _ in range(count):
            text = mutated(chance, kind)
            start = time.process_time()
            try:
                title = tried(kind, text)
            except BaseException:
                print(repr(text))
                raise
            slowest = max(slowest, time.process_time() - start)
            counts[title] = counts.get(title, 0) + 1
        print(kind, counts, f"slowest {1000 * slowest:.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 5000)
