"""The home page opens the tool that reads a file: every sample of every tool opens its own."""

import gzip
import pickle
from collections.abc import Iterator
from pathlib import Path

from builder.core import node
from engine.calculator import load
from engine.core.inputs import Text
from engine.simulate.profile_analysis.sample import sample_files
from tests.each import each

HERE = Path(__file__).parent
SIGNS = HERE.parent.parent / "theme" / "runtime" / "page" / "file_signs.js"
BOXES = {
    "import": ("import_job", "text"),
    "log": ("log_check", "log"),
    "nccl": ("nccl_log", "log"),
    "counters": ("counter_decoder", "counters"),
    "calibrate": ("calibrate", "measured"),
    "sweep": ("sweep_result", "table"),
}
# A table of nccl-tests is what two tools read; the one that is about it opens.
ELSEWHERE = {("calibrate", "nccl-tests and a log (made up)"): "nccl"}


def samples() -> Iterator[tuple[str, str, str]]:
    """Yield (name, folder of the tool, text) of all samples."""
    for folder, (name, field) in BOXES.items():
        box = load(name).fields[field]
        assert isinstance(box, Text)
        for sample in box.samples.values():
            yield sample.title, ELSEWHERE.get((folder, sample.title), folder), sample.text


def tools_for(starts: list[str]) -> list[str]:
    found = node.run(HERE / "file_signs.mjs", {"signs": str(SIGNS), "starts": starts})
    assert isinstance(found, list)
    return found


def test_every_sample_opens_its_own_tool() -> None:
    rows = list(samples())
    opened = tools_for([text for _, _, text in rows])
    wrong = [
        (title, folder, tool)
        for (title, folder, _), tool in zip(rows, opened, strict=True)
        if folder != tool
    ]
    assert len(rows) > 20
    assert wrong == []


def test_traces_open_the_trace_reader_packed_or_not() -> None:
    text = sample_files()[0]
    packed = gzip.compress(text.encode()).decode("latin1")
    assert tools_for([text, packed]) == ["trace", "trace"]


def test_a_memory_snapshot_is_known_for_what_it_is() -> None:
    starts = [pickle.dumps({"segments": []}, protocol).decode("latin1") for protocol in (2, 4, 5)]
    assert tools_for(starts) == ["snapshot"] * 3


@each("text", ["", "hello", "--tensor-model-parallel-size 8", '{"hidden_size": 4096}'])
def test_what_has_no_other_sign_is_a_configuration(text: str) -> None:
    assert tools_for([text]) == ["import"]
