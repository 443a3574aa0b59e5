"""The page's reader of traces makes the same document as the engine's, slice by slice."""

import gzip
import json
import random
from pathlib import Path

import pytest

from builder.core import node
from engine.run.traces.document import fault_message, read_traces
from engine.run.traces.kineto import TraceFault, read_kineto
from engine.simulate.profile_analysis.sample import sample_files
from tests.engine.run.traces.files import DATA, event, kineto
from tests.engine.run.traces.fuzz import base, mutated

HERE = Path(__file__).parent
READER = HERE.parent.parent / "theme" / "runtime" / "trace" / "reader.js"


def read(texts, chunk=65536):
    payload = {"reader": str(READER), "texts": list(texts), "chunk": chunk}
    return node.run(HERE / "trace_reader.mjs", payload)


def native(text):
    try:
        return read_kineto(text, "my.json")
    except TraceFault as fault:
        return {"fault": fault.parts}


def sound():
    chance = random.Random("sound traces")
    files = [gzip.decompress(path.read_bytes()).decode() for path in sorted(DATA.glob("*.json.gz"))]
    small = [text for text in (base(chance) for _ in range(20)) if not text.startswith("---")]
    events = [event("é \U0001f600 \\" + "x" * 500, 1e15 + 0.25, 2), event("gemm", 1e15 + 7.5, 3)]
    return [
        *files,
        *small,
        *sample_files(),
        kineto(events),
        json.dumps(events),
        "\ufeff" + small[0],
    ]


@pytest.mark.parametrize("chunk", [65536, 997, 61])
def test_both_readers_make_the_same_document(chunk):
    texts = sound()
    for mine, theirs in zip(read(texts, chunk), map(native, texts), strict=True):
        assert mine == theirs


def test_damaged_files_are_refused_or_read_alike():
    chance = random.Random("damaged traces")
    texts = [text for text in (mutated(chance) for _ in range(400)) if "---" not in text]
    both = 0
    for text, mine in zip(texts, read(texts, 199), strict=True):
        theirs = native(text)
        if "fault" in mine:
            assert 10 < len(fault_message(mine["fault"])) < 500
        elif "fault" not in theirs:
            assert mine == theirs
            both += 1
        else:
            read_traces(json.dumps({"trace": 1, "ranks": [mine]}))
    assert both > 20


REFUSED = {
    "": "the file is empty",
    "step,time\n1,2\n": "line 1, column 1: a trace begins with { or [, this file with 'step,time'",
    '{"traceEvents": [{"ph": "X"},\n {"ts": 1.2.3}]}': "line 2, column 2: this is no JSON",
    kineto([event("gemm", 0, 1)])[:-30]: "ends before its JSON does",
    '{"spans": [1, 2]}': "without traceEvents",
    kineto([event("aten::mm", 0, 9, kind="cpu_op")]): "1 events, and none of them ran on a GPU",
    "{" * 1000: "ends before its JSON does",
}


def test_what_is_no_trace_is_refused_with_place_and_reason():
    for text, found in zip(REFUSED, read(REFUSED), strict=True):
        assert REFUSED[text] in fault_message(found["fault"])
