"""Run files of the contract's first version, frozen with what they print.

`python -m tests.engine.run.first_version` writes `first_version.json` again from the documents in
it, where a rule of memory or of counting has changed on purpose.
"""

import json
from pathlib import Path
from typing import Any

from engine.estimate import estimate
from engine.run.file import read_run

FILE = Path(__file__).parent / "first_version.json"


def kept(document: Any) -> dict[str, Any]:
    """What of a file's estimate no fit of constants changes, and the step."""
    run = read_run(document)
    found = estimate(run)
    whole = found["step_time"] * run.plan.world_size
    return {
        "printed": list(found),
        "parameters": found["parameters"],
        "model_operations": found["model_flops_rate"] * whole,
        "hardware_operations": found["hardware_flops_rate"] * whole,
        "tokens": found["tokens_per_second_per_gpu"] * whole,
        "memory": found["memory"],
        "fits": found["fits"],
        "problems": found["problems"],
        "step_time": found["step_time"],
    }


def frozen() -> list[dict[str, Any]]:
    """The documents, each with what was kept of it."""
    return list(json.loads(FILE.read_text(encoding="utf-8")))


def write(documents: list[Any]) -> None:
    """Freeze documents."""
    rows = [json.dumps({"document": one, "kept": kept(one)}) for one in documents]
    FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write([one["document"] for one in frozen()])
