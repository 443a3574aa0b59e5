"""Write which published plans do not fit by the memory model, although they ran.

    python -m tests.validation.beyond

writes `engine/catalog/beyond_table.tsv`: row, cause, and the predicted memory of the process, free
blocks given back, over that of the GPU. Run it after every change of the memory model;
`test_beyond.py` compares it with the model.
"""

from collections.abc import Iterator

from engine.run.published import PublishedRun
from engine.simulate.planner.evaluate import run_candidate
from engine.simulate.planner.ranked import with_layer_cut
from tests.validation.published import DATA, ROOT
from tests.validation.rows import cases

TABLE = ROOT / "engine" / "catalog" / "beyond_table.tsv"
DIGITS = 4
# The recipes, and other releases, have a micro-batch of one; Llama 3.1 70B has four stages.
_OTHER_PLANS = ("mbridge-165", "mbridge-167", "mbridge-259")


def cause_of(case: PublishedRun) -> str:
    """Return the cause of a row, by what its software's recipes set for such runs."""
    if case.row["row_id"] in _OTHER_PLANS:
        return "plan"
    bridge = case.row["row_id"].startswith("mbridge")
    return "offload" if bridge and case.row["sharding"].startswith("FSDP") else "unknown"


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield row, share of the memory and cause of what does not fit."""
    for case in cases(DATA)[0]:
        one = run_candidate(with_layer_cut(case.run), kept_free=0.0)
        if not one.fit.runs:
            filled = one.memory.least / one.device
            yield case.row["row_id"], f"{filled:.{DIGITS}g}", cause_of(case)


if __name__ == "__main__":
    TABLE.write_text("".join("\t".join(row) + "\n" for row in rows()), encoding="utf-8")
