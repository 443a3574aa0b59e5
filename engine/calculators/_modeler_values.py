"""The numbers of the modeler with their receipts, and its verdicts."""

from engine.calculators._modeler_inputs import Inputs
from engine.calculators._modeler_model import Modeled, layer_parameters_at_work, peak_of
from engine.calculators._modeler_published import SOURCE, message, note
from engine.calculators._run_views import PEAK, STEP, band
from engine.equation import Equation
from engine.formulas.axes import (
    EXPOSED_RATIO,
    HALF,
    LEAST_BANDWIDTH,
    STAGE_MESSAGE,
    exposed_ratio,
    least_bandwidth,
)
from engine.formulas.overlap import COMPUTE_TIME
from engine.formulas.pipeline import (
    BUBBLE_OVER_IDEAL,
    BUBBLE_SHARE,
    PIPELINE_BYTES,
    bubble_over_ideal,
    bubble_share,
    pipeline_bytes,
)
from engine.parallelism import chunk_sizes, data_parallel
from engine.plan_problems import problems
from engine.text import Text, say
from engine.units import (
    BYTES,
    COUNT,
    FLOP_RATE,
    GPU_TIME,
    LINK_SPEED,
    PARAMETERS,
    RATIO,
    SECONDS,
    SHARE,
    TOKENS,
    Bytes,
    Quantity,
)
from engine.views import Badge, Formula, Published, Receipt, Value

EQUATIONS: tuple[Equation, ...] = (
    EXPOSED_RATIO,
    LEAST_BANDWIDTH,
    STAGE_MESSAGE,
    COMPUTE_TIME,
    BUBBLE_SHARE,
    BUBBLE_OVER_IDEAL,
    PIPELINE_BYTES,
    PEAK,
    STEP,
)
_ALIKE = "All stages alike, messages free."


def ratio(inputs: Inputs, found: Modeled) -> Value:
    """Return exposed communication over computation."""
    step = found.step
    value = exposed_ratio(found.exposed, step.compute)
    return Value(
        label="Exposed communication over computation",
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            equation=EXPOSED_RATIO,
            symbols={
                "r": (value, SHARE),
                "Te": (found.exposed, SECONDS),
                "Tc": (step.compute, SECONDS),
            },
            assumptions=(_band(found), "The bubble is waiting, not communication."),
            sources=("nccl_tests",),
        ),
        note=say("{e} of {c}", e=(found.exposed, SECONDS), c=(step.compute, SECONDS)),
        color="communication",
    )


def _band(found: Modeled) -> Text:
    return band("mixture" if found.run.model.num_experts else "dense")


def goal(inputs: Inputs, found: Modeled) -> Badge:
    """Return whether the exposed communication is within what the reader allows."""
    now = exposed_ratio(found.exposed, found.step.compute)
    if now <= inputs.target:
        return Badge(
            text="Met",
            sentence=say(
                "{r} of the computation is allowed, {n} is waited for.",
                r=(inputs.target, SHARE),
                n=(now, SHARE),
            ),
            color="compute",
        )
    worst = max(found.axes, key=lambda axis: axis.exposed)
    return Badge(
        text="Missed",
        sentence=say(
            f"{{r}} of the computation is allowed, {{n}} is waited for, most of it for "
            f"{worst.label}.",
            r=(inputs.target, SHARE),
            n=(now, SHARE),
        ),
        color=worst.key,
    )


def regime(found: Modeled) -> Badge:
    """Return what costs most beside the computation, or that the plan does not fit."""
    fullest = found.stages[found.fullest].memory.total
    if fullest > found.usable:
        return Badge(
            text="Capacity",
            sentence=say(
                f"Stage {found.fullest} needs {{m}}, a GPU has {{u}}: the plan does not run.",
                m=(fullest, BYTES),
                u=(found.usable, BYTES),
            ),
            color="buffers",
        )
    costs = [(axis.exposed, axis.label, axis.key) for axis in found.axes]
    costs += [(found.step.bubble, "Bubble", "muted"), (0.0, "Compute", "compute")]
    worst, name, color = max(costs)
    return Badge(
        text=name,
        sentence=say(
            "Beside the computation most of the step goes there: {t} of {s}.",
            t=(worst, SECONDS),
            s=(found.step.total, SECONDS),
        )
        if worst
        else "The step computes all the time.",
        color=color,
    )


def possible(inputs: Inputs, found: Modeled) -> Badge:
    """Return whether every size divides, in words."""
    if found.changes:
        return Badge(text="Changed", sentence=found.changes[0], color="communication")
    run, stages = found.run, inputs.pipeline_parallel
    layers = run.model.num_layers
    pieces = stages * run.plan.virtual_pipeline
    if layers % pieces and not run.plan.stage_layers:
        sizes = chunk_sizes(layers, pieces)
        words = ", ".join(map(str, sizes[:8])) + (", …" if len(sizes) > 8 else "")
        kind = "stages" if pieces == stages else "pieces"
        return Badge(
            text="Uneven",
            sentence=f"{layers} layers do not divide by {pieces} {kind}; they hold {words}.",
            color="communication",
        )
    if run.plan.virtual_pipeline > 1 and (inputs.off_first or inputs.off_last):
        sentence = "The pieces of an interleaved pipeline stay as they are; no layer was moved."
        return Badge(text="Not moved", sentence=sentence, color="communication")
    said = problems(run.model, run.cluster, run.plan, run.training)
    if said:
        return Badge(text="Doubtful", sentence=said[0].replace("_", " "), color="communication")
    words = "Every size divides."
    if run.plan.stage_layers:
        words = f"Cut by hand: {', '.join(map(str, run.plan.stage_layers[:16]))} layers."
    return Badge(text="Possible", sentence=words, color="compute")


def step(found: Modeled) -> Value:
    """Return the step of the model."""
    time = found.step
    layers = time.tensor_parallel + time.context_parallel + time.expert_parallel + time.pipeline
    parts = {
        "T": time.total,
        "C": time.compute,
        "X": layers,
        "D": time.data_parallel,
        "W": time.bubble,
        "O": time.optimizer,
        "R": time.other,
    }
    tokens = found.run.training.global_batch_size * found.run.training.sequence_length
    return Value(
        label="Step",
        value=time.total,
        quantity=SECONDS,
        receipt=Receipt(
            equation=STEP,
            symbols={key: (value, SECONDS) for key, value in parts.items()},
            assumptions=(_band(found), "The slowest stage sets the pace."),
        ),
        note=say(
            "{t} tokens on {n} GPUs",
            t=(tokens, TOKENS),
            n=(found.run.plan.world_size, COUNT),
        ),
    )


def token_time(found: Modeled) -> Value:
    """Return the GPU time of a million tokens."""
    return Value(
        label="GPU time for a million tokens",
        value=found.token_time,
        quantity=GPU_TIME,
        receipt=Receipt(
            assumptions=("The step times the GPUs, over the tokens of the step.", _band(found)),
        ),
        note="what plans of different size are compared by",
    )


def utilization(inputs: Inputs, found: Modeled) -> Value:
    """Return what the bubble leaves of the step."""
    plan = found.run.plan
    value = 1 - bubble_share(plan.pipeline_parallel, found.microbatches, plan.virtual_pipeline)
    return Value(
        label="Utilization after the bubble",
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            assumptions=(_ALIKE, "One less the bubble's share; nothing else costs time."),
            sources=("huang2019", "narayanan2021"),
            published=note("efficiency", inputs, found),
        ),
        color="compute",
    )


def bubble(inputs: Inputs, found: Modeled) -> Value:
    """Return the bubble in the reader's convention, and the other one beside it."""
    plan = found.run.plan
    sizes = plan.pipeline_parallel, found.microbatches, plan.virtual_pipeline
    share, ideal = bubble_share(*sizes), bubble_over_ideal(*sizes)
    of_step = inputs.convention == "share"
    equation = BUBBLE_SHARE if of_step else BUBBLE_OVER_IDEAL
    value = share if of_step else ideal
    known = dict(zip("pmv", ((float(size), COUNT) for size in sizes), strict=True))
    assumption = _ALIKE
    if found.run.training.schedule == "zb-1p":
        assumption = "That of 1F1B; ZB-1p fills part of it with weight gradients."
    return Value(
        label="Bubble, of the step" if of_step else "Bubble, over the ideal time",
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            equation=equation,
            symbols=known | {"q" if of_step else "o": (value, SHARE)},
            inputs={"p": "pipeline_parallel", "m": "num_microbatches"},
            assumptions=(assumption,),
            published=note("bubble", inputs, found),
        ),
        note=say("{o} over the ideal time", o=(ideal, SHARE))
        if of_step
        else say("{q} of the step", q=(share, SHARE)),
    )


def bubble_formula(inputs: Inputs, found: Modeled) -> Formula:
    """Return the bubble's share of the step with the reader's numbers."""
    plan = found.run.plan
    sizes = plan.pipeline_parallel, found.microbatches, plan.virtual_pipeline
    known = dict(zip("pmv", ((float(size), COUNT) for size in sizes), strict=True))
    return Formula(
        title="The bubble, as a share of the step",
        equation=BUBBLE_SHARE,
        symbols={"q": (bubble_share(*sizes), SHARE)} | known,
        inputs={"p": "pipeline_parallel", "m": "num_microbatches"},
    )


def operations(inputs: Inputs, found: Modeled) -> Value:
    """Return the passes of a step, forward and backward, over all stages."""
    return Value(
        label="Passes in a step",
        value=2.0 * inputs.pipeline_parallel * found.microbatches,
        quantity=COUNT,
        receipt=Receipt(
            basis="definition",
            assumptions=("A forward and a backward pass of each micro-batch on each stage.",),
            published=note("operations", inputs, found),
        ),
    )


def boundary(inputs: Inputs, found: Modeled) -> Value:
    """Return what crosses a boundary of stages for one micro-batch, one way."""
    one = message(inputs, found)
    return Value(
        label="Over a boundary, one micro-batch",
        value=one,
        quantity=BYTES,
        receipt=Receipt(
            equation=STAGE_MESSAGE,
            symbols={
                "S": (one, BYTES),
                "t": (float(inputs.micro_batch_size * inputs.sequence_length), TOKENS),
                "h": (float(found.run.model.hidden_size), COUNT),
                "e": (HALF, BYTES),
            },
            assumptions=("All GPUs of a replica's stage together; each way.",),
        ),
        color="pipeline",
    )


def transfer(inputs: Inputs, found: Modeled) -> Value:
    """Return what crosses one boundary in a step, both ways."""
    both = _sent(inputs, found, 2)
    return _transfer("Over one boundary in a step", inputs, found, both, 2)


def transfer_total(inputs: Inputs, found: Modeled) -> Value:
    """Return what crosses all boundaries in a step."""
    pieces = inputs.pipeline_parallel * found.run.plan.virtual_pipeline
    return _transfer(
        "Over all boundaries in a step", inputs, found, _sent(inputs, found, pieces), pieces
    )


def _sent(inputs: Inputs, found: Modeled, pieces: int) -> Bytes:
    return pipeline_bytes(found.microbatches, pieces, message(inputs, found))


def _transfer(label: str, inputs: Inputs, found: Modeled, sent: Bytes, pieces: int) -> Value:
    return Value(
        label=label,
        value=sent,
        quantity=BYTES,
        receipt=Receipt(
            equation=PIPELINE_BYTES,
            symbols={
                "V": (sent, BYTES),
                "m": (float(found.microbatches), COUNT),
                "v": (1.0, COUNT),
                "p": (float(pieces), COUNT),
                "S": (message(inputs, found), BYTES),
            },
            inputs={"m": "num_microbatches"},
            assumptions=("Both ways, one replica; two stages have one boundary.",),
            published=note("transfer", inputs, found),
        ),
        color="pipeline",
    )


def computation(inputs: Inputs, found: Modeled) -> Value:
    """Return the computation of a GPU in a step at the reader's kernel efficiency."""
    run = found.run
    plan = run.plan
    held = plan.tensor_parallel * plan.pipeline_parallel * plan.context_parallel
    tokens = run.training.global_batch_size // data_parallel(plan) * run.training.sequence_length
    known: dict[str, tuple[float, Quantity]] = {
        "Tc": (found.computation, SECONDS),
        "P": (layer_parameters_at_work(run) / held, PARAMETERS),
        "t": (float(tokens), TOKENS),
        "u": (inputs.utilization, SHARE),
        "F": (peak_of(run), FLOP_RATE),
    }
    return Value(
        label="A GPU computes, in a step",
        value=found.computation,
        quantity=SECONDS,
        receipt=Receipt(
            equation=COMPUTE_TIME,
            symbols=known,
            inputs={"u": "utilization", "F": "gpu"},
            assumptions=(
                "Layers only, stages alike; P is a GPU's share of them, t all tokens of its "
                "replica.",
            ),
            sources=(run.cluster.gpu.source,),
            published=note("compute", inputs, found),
        ),
        note=say("its layers alone, at {u} of the peak", u=(inputs.utilization, SHARE)),
        color="compute",
    )


def needed_pipeline(inputs: Inputs, found: Modeled) -> Value:
    """Return the bandwidth between stages at which sending takes as long as computing."""
    sent = next((axis.sent for axis in found.axes if axis.key == "pipeline"), 0.0)
    value = least_bandwidth(sent, found.computation)
    return Value(
        label="Least bandwidth between stages",
        value=value,
        quantity=LINK_SPEED,
        receipt=Receipt(
            equation=LEAST_BANDWIDTH,
            symbols={
                "B": (value, LINK_SPEED),
                "V": (sent, BYTES),
                "Tc": (found.computation, SECONDS),
            },
            assumptions=(
                "Of a GPU of a middle stage, which sends on and back; one way.",
                "With less no schedule can hide it.",
            ),
            sources=("narayanan2021",),
            published=note("bandwidth", inputs, found),
        ),
        color="pipeline",
    )


def tensor_alone(inputs: Inputs, found: Modeled) -> Value:
    """Return what tensor parallelism takes with nothing beside it, over the computation."""
    alone = next((axis.alone for axis in found.axes if axis.key == "tensor"), 0.0)
    value = exposed_ratio(alone, found.computation)
    return Value(
        label="Tensor parallelism alone, over computation",
        value=value,
        quantity=RATIO,
        receipt=Receipt(
            equation=EXPOSED_RATIO,
            symbols={
                "r": (value, RATIO),
                "Te": (alone, SECONDS),
                "Tc": (found.computation, SECONDS),
            },
            assumptions=(
                "All of its collectives one after another, nothing hidden; bandwidths as large "
                "messages were measured to reach them.",
                say("Computation at {u} of the peak.", u=(inputs.utilization, SHARE)),
            ),
            sources=("narayanan2021",),
            published=Published(
                text="a published text says 10 to 20 times the computation, across nodes",
                reason="That takes one network port for all GPUs of a node.",
                source=SOURCE,
                claim="E4.14",
            ),
        ),
        color="tensor",
    )


def activation(inputs: Inputs, found: Modeled) -> Value:
    """Return the activations of a GPU of the first stage at their peak."""
    first = found.stages[0]
    return Value(
        label="Activations on the first stage",
        value=first.memory.activations,
        quantity=BYTES,
        receipt=Receipt(
            assumptions=(
                band("memory"),
                say(
                    "All tensors of {n} layers, for {h} micro-batches in flight, on each GPU.",
                    n=(first.layers, COUNT),
                    h=(first.held, COUNT),
                ),
            ),
            sources=("korthikanti2022",),
            published=note("activation", inputs, found),
        ),
        color="activations",
    )


def peak_memory(found: Modeled) -> Value:
    """Return the memory of a GPU of the fullest stage."""
    held = found.stages[found.fullest].memory
    names = ("parameters", "gradients", "optimizer", "activations", "buffers", "reserve")
    parts = {key: getattr(held, name) for key, name in zip("PGOABR", names, strict=True)}
    return Value(
        label="Fullest GPU",
        value=held.total,
        quantity=BYTES,
        receipt=Receipt(
            equation=PEAK,
            symbols={key: (value, BYTES) for key, value in ({"M": held.total} | parts).items()},
            assumptions=(band("memory"),),
            sources=("korthikanti2022", "rajbhandari2020"),
        ),
        note=say(f"stage {found.fullest}; {{u}} may be filled", u=(found.usable, BYTES)),
        color="optimizer",
    )
