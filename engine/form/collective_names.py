"""Display names of collective algorithms and operations."""

_LABELS = {
    "ring": "Ring",
    "star": "Star",
    "tree": "Double binary tree",
    "hierarchical": "Hierarchical",
    "halving_doubling": "Halving and doubling",
    "in_network": "In the switch",
    "binomial": "Binomial tree",
    "direct": "Direct",
    "two_level": "Two levels",
}


def algorithm_label(algorithm: str) -> str:
    """Return the display name of an algorithm."""
    return _LABELS.get(algorithm, algorithm.replace("_", " ").capitalize())


# Operations that nccl-tests has a test for, by `engine.formulas.bandwidth`.
TESTED = {
    "all_reduce": "All-reduce",
    "reduce_scatter": "Reduce-scatter",
    "all_gather": "All-gather",
    "all_to_all": "All-to-all",
    "broadcast": "Broadcast",
    "reduce": "Reduce",
    "send_receive": "Send and receive",
    "gather": "Gather",
    "scatter": "Scatter",
}
