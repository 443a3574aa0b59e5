"""Weight updates from training to generating GPUs: bytes and time, four ways."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import GBYTES_PER_SECOND, Choice, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import GB, SECONDS, Bandwidth, Bytes, Count, Parameters, Ratio, Seconds
from engine.core.views import Axis, Bar, Bars, Segment
from engine.form.fields import OwnConstants
from engine.formulas.parameters import total_parameters
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.formulas.weight_update import (
    ONE_SENDER,
    SHARED_SENDING,
    by_files_time,
    one_sender_time,
    shared_sending_time,
)
from engine.run.machines import cluster_of
from engine.run.parallelism import Training
from engine.simulate.job.generation import HALF
from engine.simulate.layer.device_model import rank_group, rank_rates

TITLE = "New weights for the engines"
QUESTION = "How long does it take to move a model's weights from training to generation?"
HEADLINE = "faster"
EQUATIONS = (ONE_SENDER, SHARED_SENDING)
PRESETS = {
    "7B on 32 GPUs": {"model": "qwen2.5-7b"},
    "405B on 512 GPUs": {
        "model": "llama-3-405b",
        "trainers": 256,
        "generating": 256,
        "engine": "8",
    },
}
_MODELS = ("qwen2.5-7b", "qwen2.5-32b", "llama-3-70b", "llama-3-405b", "deepseek-v3")
_MACHINES = ("dgx-a100", "dgx-h100", "dgx-b200")
_ASSUMES = (
    "Weights in 16 bits. Ports reach what NCCL reaches on them; the time to cut and to load the "
    "tensors is left out, and in practice it is often the larger part.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    trainers: Annotated[
        int,
        Number(label="GPUs that train", low=8, high=1024, scale="log2", whole=True, symbol="N"),
    ] = 16
    generating: Annotated[
        int,
        Number(label="GPUs that generate", low=8, high=1024, scale="log2", whole=True, symbol="G"),
    ] = 16
    engine: Annotated[
        str, Choice(label="GPUs of an engine", options={n: n for n in ("1", "2", "4", "8")})
    ] = "4"
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-70b"
    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    storage: Annotated[
        float,
        Number(
            label="Shared storage",
            unit=GBYTES_PER_SECOND,
            low=0.1 * GB,
            high=1000 * GB,
            scale="log",
            help="The bandwidth that all who read at the same time share.",
        ),
        Symbol("S"),
    ] = 20 * GB
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Four ways."""

    parameters: Annotated[Parameters, Output("Parameters", "P", of="model")]
    element: Annotated[Bytes, Output(symbol="e")]
    slices: Annotated[Count, Output(symbol="t", of="engine")]
    bandwidth: Annotated[Bandwidth, Output("Ports of one GPU", "B", of="machine")]
    size: Annotated[Bytes, Output("Weights", "", "16 bits each", "parameters", _ASSUMES)]
    gathered: Annotated[
        Seconds, Output("Gathered on the same GPUs", "", "colocated", "parameters", _ASSUMES)
    ]
    one: Annotated[
        Seconds, Output("Broadcast by one GPU", "T", "to all others", "communication", _ASSUMES)
    ]
    shared: Annotated[
        Seconds,
        Output("Sent by all that train", "T", "each its part", "communication", _ASSUMES),
    ]
    files: Annotated[
        Seconds, Output("Through shared storage", "", "read by every engine", "memory", _ASSUMES)
    ]
    faster: Annotated[
        Ratio,
        Output("All instead of one", "", "as fast as the broadcast", "communication", _ASSUMES),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the time of every way."""
    cluster = cluster_of(inputs.machine, inputs.own_constants)
    rank = rank_rates(
        cluster, Training(micro_batch_size=1, global_batch_size=1, sequence_length=1024)
    )
    size, engine = total_parameters(MODELS[inputs.model]), int(inputs.engine)
    world = inputs.trainers + inputs.generating
    group = rank_group(rank, world, 1, "data")
    one_sender = one_sender_time(size, HALF, rank.port)
    shared = shared_sending_time(size, HALF, inputs.trainers, inputs.generating, engine, rank.port)
    return Result(
        parameters=size,
        element=HALF,
        slices=engine,
        bandwidth=rank.port,
        size=HALF * size,
        gathered=scatter_or_gather_time(
            HALF * size, world, group.nodes, group.bandwidth, group.network
        ),
        one=one_sender,
        shared=shared,
        files=by_files_time(size, HALF, inputs.generating // engine, inputs.storage),
        faster=one_sender / shared,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the bars and the numbers."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "bars": partial(_bars, result),
        "one": present.value("one", equation=ONE_SENDER),
        "shared": present.value("shared", equation=SHARED_SENDING),
        **present.values("faster", "gathered", "files", "size"),
        "formula": present.formula("Sent by all that train", SHARED_SENDING, T="shared"),
    }


def _bars(result: Result) -> Bars:
    rows = (
        ("gathered", "same GPUs: gathered", result.gathered, "parameters"),
        ("shared", "apart: all that train send", result.shared, "communication"),
        ("one", "apart: one GPU broadcasts", result.one, "communication"),
        ("files", "apart: through shared storage", result.files, "memory"),
    )
    return Bars(
        title="One update of the weights",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.05 * max(row[2] for row in rows)),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=label, value=value, color=color),),
            )
            for key, label, value, color in rows
        ),
        caption="The same GPUs are all of them together; apart, some train and some generate.",
    )
