"""Values of the gradient sync lab with their receipts."""

from functools import partial

from engine.calculators.moving_bytes.gradient_sync.result import MODEL, NO_RANGE, Inputs, Result
from engine.catalog.hardware import GPUS
from engine.core.numbers import format_significant
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say, with_published_digits
from engine.core.units import BYTES, SECONDS, TOKENS, GiB
from engine.core.views import Formula, Published, Receipt, Table, Value
from engine.form.published_sync_calculator import SOURCE, published_outputs
from engine.formulas import communication, hierarchy, overlap

TIME_EQUATION = {
    "ring": communication.RING_ALL_REDUCE,
    "tree": communication.TREE_ALL_REDUCE,
    "hierarchical": hierarchy.HIERARCHICAL_ALL_REDUCE,
    "in_network": communication.IN_NETWORK_ALL_REDUCE,
    "switched": hierarchy.SWITCHED_ALL_REDUCE,
    "switched_ports": hierarchy.SWITCHED_NETWORK,
}
BYTES_EQUATION = {
    "ring": communication.RING_BYTES,
    "tree": communication.TREE_BYTES,
    "hierarchical": hierarchy.HIERARCHICAL_BYTES,
    "in_network": communication.IN_NETWORK_BYTES,
    "switched": hierarchy.SWITCHED_BYTES,
}
_NO_TRAFFIC = (
    "Alone on the wire: no other traffic, no congestion. Ports and links reach the share of their "
    "line rate that was measured for collectives: {port_rate} of a port, {scale_up_rate} of a link."
)
_SENT_NOTES = {
    "ring": "the least any all-reduce can send without help from a switch",
    "in_network": "the switch adds, so the sum comes back once",
    "switched": "the switches add, so the node's sum leaves it once",
    "switched_ports": "the switches add: the buffer leaves once, the sum comes back once",
    "tree": "the busiest GPU",
    "hierarchical": "the rest stays on NVLink",
}


_TIERS = ("hierarchical", "switched")


def _formula_key(inputs: Inputs, result: Result) -> str:
    """Return the key of the formula that applies to the algorithm and its switches."""
    if result.algorithm != "in_network" or result.num_nodes == 1:
        return result.algorithm
    return "switched" if inputs.gpus_per_node > 1 else "switched_ports"


def headline(present: Presenter, inputs: Inputs, result: Result) -> Value:
    """Return the time of the all-reduce in NCCL, beside the published calculator's."""
    published = ring_note(result) if result.algorithm == "ring" else None
    return present.value(
        "all_reduce_time",
        equation=TIME_EQUATION[_formula_key(inputs, result)],
        symbols={"T": "bound_time"},
        assumes=(
            _way_words(inputs, result),
            "The equation is a bound: it counts bytes and steps alone. The number is NCCL's, with "
            "start, protocol and pipeline.",
            _NO_TRAFFIC,
            _latency_words(inputs, result),
        ),
        note=_link_words(inputs, result),
        published=published,
    )


def formula(present: Presenter, inputs: Inputs, result: Result) -> Formula:
    """Return the formula of the algorithm in use, with the reader's numbers."""
    equation = TIME_EQUATION[_formula_key(inputs, result)]
    return present.formula("The equation, with these numbers", equation)


def all_reduce_values(present: Presenter, inputs: Inputs, result: Result) -> Views:
    """Return the all-reduce by itself: its two parts, its bytes, its bandwidths."""
    name = _formula_key(inputs, result)
    return {
        "bandwidth_part": partial(
            _part_value,
            present,
            inputs,
            result,
            "bandwidth_part",
            "What more bytes add to it.",
        ),
        "latency_part": partial(
            _part_value,
            present,
            inputs,
            result,
            "latency_part",
            "One byte in the same algorithm and protocol.",
        ),
        "gradient_size": partial(present.value, "gradient_size"),
        "sent_bytes": partial(
            present.value,
            "sent_bytes",
            equation=BYTES_EQUATION[name.removesuffix("_ports")],
            label="Sent by each GPU" + (" into the network" if name in _TIERS else ""),
            note=_SENT_NOTES[name],
        ),
        "algorithm_bandwidth": partial(
            present.value, "algorithm_bandwidth", symbols={"T": "all_reduce_time"}
        ),
        "bus_bandwidth": partial(present.value, "bus_bandwidth", symbols={"T": "all_reduce_time"}),
    }


def _part_value(
    present: Presenter, inputs: Inputs, result: Result, name: str, of_sum: str
) -> Value:
    assumes = of_sum, _way_words(inputs, result), _NO_TRAFFIC, _latency_words(inputs, result)
    return present.value(name, assumes=assumes)


def _way_words(inputs: Inputs, result: Result) -> str:
    """Return algorithm and protocol, and who chose them."""
    if result.way == "hierarchical":
        return "Three calls of NCCL: reduce-scatter and all-gather in the nodes, a sum between."
    if result.way == "in_network":
        return "Sums form in the switches of nodes and network (NVLS, SHARP)."
    chose = "NCCL's choice" if inputs.algorithm == "auto" else "the fastest protocol"
    return f"In NCCL: {result.way}, {chose} for this size, by times fitted to measured curves."


def _link_words(inputs: Inputs, result: Result) -> str:
    link = result.link
    if result.num_nodes == 1:
        return f"over {link} inside one node, {{ring_bandwidth}} per GPU one way"
    if inputs.gpus_per_node == 1:
        return "over the network, {ring_bandwidth} per GPU one way"
    if result.algorithm in ("hierarchical", "in_network"):
        return (
            f"over {{num_nodes}} nodes: {link} at {{scale_up_rate}} per GPU, "
            "all ports of a node at {node_bandwidth}, one way"
        )
    return (
        f"over {{num_nodes}} nodes, rings at {{ring_bandwidth}} one way (the slower of {link} and "
        "a node's ports)"
    )


def _latency_words(inputs: Inputs, result: Result) -> str:
    hop = f"A step takes {{scale_up_latency}} over {result.link}"
    if result.num_nodes == 1:
        return f"{hop}; nothing leaves the node."
    if inputs.gpus_per_node == 1:
        return "One GPU, one step from node to node: {network_latency}."
    hops = f"{hop}, {{network_latency}} from node to node"
    if result.algorithm == "hierarchical":
        return f"{hops}. The phases follow one another; a pipelined library overlaps them."
    if result.algorithm == "in_network":
        return f"{hops}. Chunks stream through both kinds of switches; the slower sets the pace."
    return f"{hops}, {{step_latency}} in the mean. One ring per port leaves each node once."


def step_values(present: Presenter, inputs: Inputs, result: Result) -> Views:
    """Return the values of the step: computation, exposed time, and the bandwidth that hides it."""
    peak = f"{GPUS[inputs.gpu].name}, dense bf16 peak {{peak}}."
    link = result.link if result.num_nodes == 1 else "Network port"
    working = {"Tc": "working_time"}
    return {
        "compute_time": partial(present.value, "compute_time", assumes=(peak,)),
        "reached": partial(present.value, "reached", assumes=(peak,)),
        "backward_time": partial(present.value, "backward_time", assumes=(peak,)),
        "exposed_time": partial(_exposed_value, present, inputs),
        "closing_time": partial(present.value, "closing_time"),
        "step_time": partial(_step_value, present, inputs, result),
        "blocking_share": partial(
            present.value, "blocking_share", symbols={"Te": "all_reduce_time", **working}
        ),
        "exposed_share": partial(present.value, "exposed_share", symbols=working),
        "efficiency": partial(
            present.value, "efficiency", equation=overlap.EFFICIENCY, symbols=working
        ),
        "states": partial(_states_value, present, inputs, result),
        "break_even_tokens": partial(present.value, "break_even_tokens"),
        "required_bandwidth": partial(
            present.value,
            "required_bandwidth",
            label=f"{link} needed to hide it",
            symbols={"V": "port_sent", "a": "port_wait"},
        ),
    }


def _step_value(present: Presenter, inputs: Inputs, result: Result) -> Value:
    """Return the step, and as software runs it unasked where that is another."""
    job_text: Text = (
        "As software runs it unasked: algorithms by NCCL's choice, buckets of PyTorch's size."
    )
    note: Text = "compute, exposed communication, optimizer and host"
    if result.estimate != result.step_time:
        job_text = present.say(
            "Algorithm, type of gradients or bucket are what no software takes unasked; that step "
            "takes {estimate}."
        )
        note = say("{estimate} as software runs it unasked", estimate=(result.estimate, SECONDS))
    assumes = MODEL, job_text, NO_RANGE
    return present.value("step_time", assumes=assumes, note=note, symbols={"Tc": "working_time"})


def _states_value(present: Presenter, inputs: Inputs, result: Result) -> Value:
    """Return the states per GPU, with a note on whether they fit."""
    note = "of {memory} that may be filled"
    if result.missing:
        remedy = "shard more, or split the model" if inputs.sharding == "zero1" else "shard them"
        name = GPUS[inputs.gpu].name
        note = f"{{missing}} more than the {{memory}} of {name} that may be filled: {remedy}"
    return present.value("states", note=note)


def _exposed_value(present: Presenter, inputs: Inputs) -> Value:
    if not inputs.overlap:
        blocking = "Without overlap all of the communication is exposed."
        return present.value("exposed_time", receipt=Receipt(assumptions=(blocking, MODEL)))
    buckets = present.say(
        "{num_buckets} buckets of whole tensors, full at equal intervals, and one of the embedding "
        "behind the backward pass; each pays its own latencies."
    )
    beside = "Passes are slower beside collectives, by the bytes that these move: contention."
    if inputs.sharding == "zero1":
        halves: Text = (
            "ZeRO-1: half of the bytes behind the backward pass, half behind the next forward pass;"
            " the exposed parts of both halves are added."
        )
        sharded = Receipt(
            assumptions=(halves, buckets, beside, MODEL), sources=("rajbhandari2020",)
        )
        return present.value("exposed_time", receipt=sharded)
    return present.value(
        "exposed_time",
        equation=overlap.EXPOSED_TIME,
        symbols={"Te": "exposed_bound"},
        assumes=(
            "The equation is a bound: equal buckets, none for the embedding, and no contention. "
            "The number is that of the step.",
            buckets,
            beside,
            MODEL,
        ),
    )


def traffic(result: Result) -> Table:
    """Return the bytes that each tier carries per all-reduce, flat ring against hierarchical."""
    flat, tiers = result.tiers
    rows = (
        ("sent by a GPU, all links", flat.gpu, tiers.gpu),
        ("sent by a GPU into the network, mean", flat.network, tiers.network),
        ("leaving a node", flat.node, tiers.node),
    )
    return Table(
        title="Bytes per tier and all-reduce",
        columns=("Where", "Flat ring", "Hierarchical"),
        rows=tuple(
            (label, *(say("{x}", x=(moved, BYTES)) for moved in pair)) for label, *pair in rows
        ),
        caption="A flat ring enters and leaves each node once, so both move about as many bytes "
        "out of a node: 2(n − 1)/n buffers, where n counts GPUs for the flat ring and nodes for "
        "the hierarchy, which takes fewer steps across nodes.",
    )


# Outputs of a widely published gradient sync calculator beside ours.


def published_values(result: Result) -> dict[str, str]:
    """Return its outputs for the reader's job."""
    job = result.job
    line = job.port * job.ports_per_node
    return published_outputs(job.parameters, job.element, job.world_size, line)


def ring_note(result: Result) -> Published:
    """Return the published calculator's ring time, for the receipt."""
    more = format_significant((GiB / 1e9 - 1) * 100, 2)
    return Published(
        text=f"a published calculator prints {published_values(result)['ring']}",
        reason=f"It divides GiB by GB/s; at line rate the right time is {more} % more.",
        source=SOURCE,
        claim="E3.2",
    )


def table(present: Presenter, inputs: Inputs, result: Result) -> Table:
    """Return the table of published and correct values with reasons; empty unless requested."""
    if not inputs.published:
        return Table(title="", columns=(), rows=())
    theirs = published_values(result)
    return Table(
        title="A published calculator's digits beside ours",
        columns=("Output", "It prints", "Right", "Why they differ"),
        rows=tuple(
            (label, with_published_digits(theirs[key]), right, why)
            for key, label, right, why in _rows(present, result)
        ),
        caption="Its column follows its own arithmetic with your inputs. Its compute time is taken "
        "as printed, for its formula cannot be recovered from its outputs.",
    )


def _rows(present: Presenter, result: Result) -> tuple[tuple[str, str, Text, Text], ...]:
    tokens = round(result.printed_tokens), TOKENS
    artifact = "an artifact of its compute time"
    return (
        ("gradient", "Gradient size", present.say("{gradient_size}"), "GiB printed as GB"),
        (
            "ring",
            "All-reduce, ring",
            say("{t}", t=(result.ring_time, SECONDS)),
            "GiB divided by GB/s, no latency; at line rate, as is the time beside it",
        ),
        (
            "tree",
            "All-reduce, tree",
            say("{t}", t=(result.tree_time, SECONDS)),
            "the same unit error; the tree's lower latency is missing",
        ),
        (
            "compute",
            "Compute",
            present.say("{compute_time}"),
            say("what it prints is the time of {n} tokens", n=tokens),
        ),
        (
            "step",
            "Step",
            present.say("{step_time}"),
            "it adds both times; overlap, optimizer and host are ignored",
        ),
        ("overhead", "Communication share", present.say("{exposed_share}"), artifact),
        ("efficiency", "GPU efficiency", present.say("{efficiency}"), artifact),
        (
            "bandwidth",
            "Least bandwidth",
            present.say("{required_bandwidth}"),
            "it forgets the factor 2(n − 1)/n and hides nothing behind the backward pass",
        ),
        (
            "upgrade",
            "Suggested upgrade",
            "none",
            "counted in hundreds, rounded up, then multiplied by 400: a slip",
        ),
    )
