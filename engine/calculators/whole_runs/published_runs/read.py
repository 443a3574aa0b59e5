"""The published runs as records, read once from their compact texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engine.basis.units import GB, Bytes, Count, Ratio, Seconds
from engine.calculators.whole_runs.published_runs import rows as texts
from engine.calculators.whole_runs.published_runs.fields import SIZES, SWITCHES
from engine.form.run.inputs import CUSTOM, Inputs

_SHAPE = (
    "num_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "ffn_hidden_size",
    "vocab_size",
)
_WORDS = ("zero_stage", "precision", "recompute", "schedule", "framework")
_FAMILIES = ("GB200", "GB300", "B200", "B300", "A100", "H100")


@dataclass(frozen=True, slots=True)
class Published:
    """One published run.

    Attributes:
        key: of the row in `content/data/published_runs.csv`.
        source: index of its source.
        name: of the model.
        model: the six sizes and two choices of its shape, or the name of a preset.
        cluster: GPU, GPUs and ports of a node, speed of a port.
        switches: settings of the software.
        complete: nothing had to be assumed.
        doubted: the source itself doubts the row, or the GPU is of no catalogue; not fitted.
        sizes: of the plan and the batch.
        measured: seconds of a step.
        predicted: likewise.
        memory: measured and predicted peak; empty where none was published.
    """

    key: str
    source: int
    name: str
    model: tuple[str, ...]
    cluster: tuple[str, ...]
    switches: tuple[str, ...]
    complete: bool
    doubted: bool
    sizes: Mapping[str, Count]
    measured: Seconds
    predicted: Seconds
    memory: tuple[Bytes, ...]

    @property
    def error(self) -> Ratio:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1

    @property
    def mixture(self) -> bool:
        """The model has experts; no shape of a reader's own in these rows does."""
        return len(self.model) == 1

    @property
    def family(self) -> str:
        """The type of GPU."""
        return next(family for family in _FAMILIES if self.cluster[0].startswith(family))

    @property
    def precision(self) -> str:
        """Of the matrix products."""
        return self.switches[SWITCHES.index("precision")]


@cache
def sources() -> tuple[tuple[str, str], ...]:
    """Return the key of the bibliography and the name of every source."""
    pairs = (line.partition("|") for line in texts.SOURCES.splitlines())
    return tuple((key, title) for key, _, title in pairs)


@cache
def published() -> tuple[Published, ...]:
    """Return all runs."""
    names = texts.NAMES.splitlines()
    models, clusters, switches = (
        [tuple(line.split(",")) for line in text.splitlines()]
        for text in (texts.MODELS, texts.CLUSTERS, texts.SWITCHES)
    )
    found = []
    for line in texts.ROWS.splitlines():
        key, source, name, model, cluster, switch, complete, doubt, *rest = line.split(",")
        sizes, measured = rest[: len(SIZES)], rest[len(SIZES) :]
        found.append(
            Published(
                key=key,
                source=int(source),
                name=names[int(name)],
                model=models[int(model)],
                cluster=clusters[int(cluster)],
                switches=switches[int(switch)],
                complete=complete == "A",
                doubted=doubt == "d",
                sizes=dict(zip(SIZES, map(int, sizes), strict=True)),
                measured=float(measured[0]),
                predicted=float(measured[1]),
                memory=tuple(float(size) * GB for size in measured[2:]),
            )
        )
    return tuple(found)


def inputs_of(row: Published) -> Inputs:
    """Return the inputs of `estimate_run` that give this run."""
    gpu, per_node, nics, bandwidth = row.cluster
    given: dict[str, str | float | bool] = {
        "gpu": gpu,
        "gpus_per_node": int(per_node),
        "nics_per_node": int(nics),
        "nic_bandwidth": float(bandwidth),
        **row.sizes,
    }
    for name, text in zip(SWITCHES, row.switches, strict=True):
        given[name] = text if name in _WORDS else text == "1"
    if row.mixture:
        return Inputs(model=row.model[0], **given)  # type: ignore[arg-type]
    for name, text in zip(_SHAPE, row.model, strict=False):
        given[name] = int(text)
    given["mlp"], given["tied_embeddings"] = row.model[6], row.model[7] == "1"
    return Inputs(model=CUSTOM, **given)  # type: ignore[arg-type]
