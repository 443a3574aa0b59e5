"""Traces to read: small ones of Kineto, written here, and fixtures of Holistic Trace Analysis."""

import gzip
import json
from pathlib import Path

DATA = Path(__file__).with_name("data")


def event(name, start, length, *, stream=7, kind="kernel", **args):
    """Return a complete event; times in microseconds."""
    return {
        "ph": "X",
        "cat": kind,
        "name": name,
        "pid": 0,
        "tid": stream,
        "ts": start,
        "dur": length,
        "args": {"stream": stream, **args},
    }


def collective(start, length, *, name="allreduce", sent=1000, got=1000, ranks=4, **args):
    """Return a kernel of NCCL with the sizes that PyTorch records."""
    sizes = {"In msg nelems": sent, "Out msg nelems": got, "Group size": ranks}
    more = {"Collective name": name, "dtype": "Float", "Process Group Name": "0"}
    args = {"stream": 20, **sizes, **more, **args}
    return event("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start, length, **args)


def step(number, start, length, *, device=False):
    """Return the mark of a step."""
    kind = "gpu_user_annotation" if device else "user_annotation"
    return event(f"ProfilerStep#{number}", start, length, kind=kind)


def kineto(events, *, rank=0, world=4, **head):
    """Return Kineto's JSON."""
    about = {"rank": rank, "world_size": world}
    return json.dumps({"schemaVersion": 1, "distributedInfo": about, **head, "traceEvents": events})


def together(*texts):
    """Return several files as one text."""
    return "\n".join(f"--- rank{at}.json ---\n{text}" for at, text in enumerate(texts))


def fixture(name):
    """Return the text of a fixture."""
    return gzip.decompress((DATA / name).read_bytes()).decode()
