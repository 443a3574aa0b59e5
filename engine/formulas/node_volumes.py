"""How many bytes leave a node in a step of sharded training, by how wide the states are sharded."""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count

NODE_BYTES = Equation(
    name="node_bytes_sent",
    tex=(
        r"\v{V} = \frac{\v{s}-1}{\v{s}} \left(\v{a}\,\v{P} + \v{r}\,\v{G}\right)"
        r" + \frac{2(\v{c}-1)}{\v{c}}\,\frac{\v{g}}{\max(\v{s}, \v{g})}\,\v{k}\,\v{G}"
    ),
    symbols={
        "V": ("V", "sent by all GPUs of a node to other nodes, in a step"),
        "s": ("s", "GPUs that share one copy of the states"),
        "c": ("c", "copies"),
        "g": ("g", "GPUs in a node"),
        "a": ("a", "gathers of all parameters that cross between nodes"),
        "r": ("r", "reduce-scatters of all gradients that cross between nodes"),
        "k": ("k", "sums of the gradients over the copies that cross between nodes"),
        "P": ("P", "all parameters"),
        "G": ("G", "all gradients"),
    },
    sources=("zhang2022_mics", "wang2023_zeropp", "patarasuk2009"),
    title="Bytes that a node sends under hybrid sharding",
)


def node_bytes_sent(
    gathered: Bytes,
    reduced: Bytes,
    summed: Bytes,
    shard: Count,
    copies: Count,
    gpus_per_node: Count,
) -> Bytes:
    """Return what a node sends to the others: rings that enter and leave every node once.

    The ring of a group of s ranks carries (s - 1)/s of a gather over each of its edges. Sums over
    the copies run in g rings side by side if a copy fills nodes, each with 1/s of the gradients,
    and in s rings if several copies share a node.

    Args:
        gathered: all parameters, times the gathers of a step that leave the node.
        reduced: all gradients, times the reduce-scatters that do.
        summed: all gradients, times the sums over the copies that do.
        shard: ranks that share one copy; a divisor of the GPUs of a node, or whole nodes.
        copies: of the states.
        gpus_per_node: all in the job.
    """
    inside = (shard - 1) / shard * (gathered + reduced)
    share = gpus_per_node / max(shard, gpus_per_node)
    return inside + 2 * (copies - 1) / copies * share * summed
