"""The modeler's numbers of a step, of a GPU's memory and of what the wires must carry."""

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import (
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
    Quantity,
)
from engine.basis.views import Published, Receipt, Value
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.model import (
    Modeled,
    layer_parameters_at_work,
    peak_of,
)
from engine.calculators.splitting_the_model.parallelism_modeler.published import SOURCE, note
from engine.form.run.views import PEAK, STEP, band
from engine.formulas.axes import (
    EXPOSED_RATIO,
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
)
from engine.run.parallelism import data_parallel

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
