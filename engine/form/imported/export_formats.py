"""Formats of exports: configurations of other software, written from a run.

Apart from `exports`, which needs the readers of every format: a page that only writes sends none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.catalog.models import MODELS, Model
from engine.run.exporters import fully_sharded
from engine.run.exporters.megatron import bridge_overrides, megatron_arguments
from engine.run.importers.torchtitan_derived import FLAVORS
from engine.run.run import Run


def catalog_key(model: Model) -> str:
    """Return the catalog key of a model, or ""."""
    return next((key for key, row in MODELS.items() if row == model), "")


_OWN = ("your_model", "your_flavor")
# Families whose flavors torchtitan writes in small letters.
_LOWER = ("llama4", "gpt_oss", "your_model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An export format: title, language and writer."""

    title: str
    language: str
    write: Callable[[Run], str]


def _flavor(run: Run) -> tuple[str, str]:
    """Return the torchtitan model and flavor; placeholders for a model it lacks."""
    row = catalog_key(run.model)
    family, flavor = next((names for names, key in FLAVORS.items() if key == row), _OWN)
    return family, flavor if family in _LOWER else flavor.upper()


def _recipe(run: Run) -> str:
    return catalog_key(run.model).replace("llama-3-", "llama3-").replace("-", "_").replace(".", "p")


EXPORTS: Mapping[str, Export] = {
    "megatron": Export(
        title="Megatron-LM arguments (Core 0.19)",
        language="bash",
        write=megatron_arguments,
    ),
    "bridge": Export(
        title="Megatron-Bridge overrides",
        language="bash",
        write=lambda run: bridge_overrides(run, _recipe(run)),
    ),
    "torchtitan-toml": Export(
        title="torchtitan TOML (up to 0.2)",
        language="toml",
        write=lambda run: fully_sharded.torchtitan_toml(run, *_flavor(run)),
    ),
    "torchtitan-python": Export(
        title="torchtitan 0.3",
        language="python",
        write=lambda run: fully_sharded.torchtitan_python(run, *_flavor(run)),
    ),
    "torchtitan-main": Export(
        title="torchtitan, main branch since August 2026",
        language="python",
        write=lambda run: fully_sharded.torchtitan_python(run, *_flavor(run), tokens=True),
    ),
    # MiCS, its way to shard within a group, was removed in 0.19.7.
    "deepspeed": Export(
        title="DeepSpeed JSON (groups that shard: up to 0.19.6)",
        language="json",
        write=fully_sharded.deepspeed_json,
    ),
    "accelerate": Export(
        title="accelerate YAML", language="yaml", write=fully_sharded.accelerate_yaml
    ),
    "fsdp2": Export(title="PyTorch FSDP2", language="python", write=fully_sharded.fsdp2_code),
}
