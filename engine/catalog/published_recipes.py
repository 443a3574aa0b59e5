"""Plans that were published with a measured step, by model of the catalog.

`published_recipes_table.tsv` has the plans of `published_table.tsv` that are no sweep, and those
of `reported_runs.py`; `tests.engine.catalog.write_published_recipes` writes it.
"""

from functools import cache
from math import log2

from engine.catalog.published_recipes_table import TEXT
from engine.core.record import record
from engine.core.units import Count

# Key of the bibliography -> whose plan it is, for readers.
OWNERS = {
    "deepseek2024": "DeepSeek's plan",
    "dubey2024": "Meta's plan, Llama 3",
    "fms_fsdp": "IBM's plan, FSDP",
    "internevo": "InternEvo's plan",
    "korthikanti2022": "NVIDIA's plan of 2022",
    "megatron_bridge": "NVIDIA's recipe, Megatron-Bridge",
    "mosaicml2023": "MosaicML's plan, LLM Foundry",
    "narayanan2021": "NVIDIA's plan of 2021",
    "nemo_2407": "NVIDIA's recipe, NeMo 24.07",
    "nvidia_dgxc": "NVIDIA's recipe, DGX Cloud",
    "olmo_core": "Ai2's plan, OLMo-core",
    "torchtitan": "torchtitan's plan",
}


@record
class Recipe:
    """A published plan.

    Attributes:
        model: key of the catalog.
        source: key of the bibliography.
        machines: GPU, as a key of the catalog, and how many of them, for which it was published.
        framework: family of software.
        tensor, pipeline, context, expert, expert_tensor: ranks of parallelism.
        virtual: stages of a pipeline rank.
        zero_stage, shard_group: as in a plan.
        micro_batch: sequences.
        recompute: what the backward pass repeats.
        repeated: modules, where it repeats "modules".
        schedule: of the pipeline.
    """

    model: str
    source: str
    machines: tuple[tuple[str, Count], ...]
    framework: str
    tensor: Count
    pipeline: Count
    virtual: Count
    context: Count
    expert: Count
    expert_tensor: Count
    zero_stage: Count
    shard_group: Count
    micro_batch: Count
    recompute: str
    repeated: tuple[str, ...]
    schedule: str

    def nearest(self, gpu: str, count: Count) -> tuple[str, Count]:
        """Return the machine of the recipe that is nearest to so many GPUs of a kind."""
        return min(self.machines, key=lambda machine: _distance(machine, gpu, count))

    def distance(self, gpu: str, count: Count) -> tuple[bool, float]:
        """Return the distance of that machine from so many GPUs of a kind; the least is nearest."""
        return _distance(self.nearest(gpu, count), gpu, count)


def _distance(machine: tuple[str, Count], gpu: str, count: Count) -> tuple[bool, float]:
    return machine[0] != gpu, abs(log2(machine[1] / count))


@cache
def published_recipes() -> tuple[Recipe, ...]:
    """Return the published plans."""
    return tuple(map(_recipe, TEXT.splitlines()))


def _recipe(line: str) -> Recipe:
    """Return the recipe of a line: the fields in order, "modules:a,b" for what is repeated."""
    model, source, machines, framework, *sizes, recompute, schedule = line.split("\t")
    again, _, repeated = recompute.partition(":")
    pairs = (machine.rsplit(":", 1) for machine in machines.split(","))
    numbers = map(int, sizes)
    return Recipe(
        model=model,
        source=source,
        machines=tuple((gpu, int(count)) for gpu, count in pairs),
        framework=framework,
        tensor=next(numbers),
        pipeline=next(numbers),
        virtual=next(numbers),
        context=next(numbers),
        expert=next(numbers),
        expert_tensor=next(numbers),
        zero_stage=next(numbers),
        shard_group=next(numbers),
        micro_batch=next(numbers),
        recompute=again,
        repeated=tuple(filter(None, repeated.split(","))),
        schedule=schedule,
    )
