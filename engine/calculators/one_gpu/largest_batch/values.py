"""The numbers of the largest batch with their receipts, and its verdicts."""

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, RATIO, SHARE, TOKEN_RATE, Quantity
from engine.basis.views import Badge, Formula, Receipt, Value
from engine.calculators.one_gpu.largest_batch.inputs import Inputs
from engine.calculators.one_gpu.largest_batch.model import SEQUENCES, Fit, speed
from engine.form.run.views import PEAK, band
from engine.formulas.batch import LARGEST_BATCH, MEMORY_LINE, USABLE_MEMORY
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.parallelism import data_parallel
from engine.run.problems import problems

EQUATIONS: tuple[Equation, ...] = (LARGEST_BATCH, MEMORY_LINE, USABLE_MEMORY, PEAK)
_LINKS = {"u": "margin", "C": "gpu"}


def symbols(inputs: Inputs, found: Fit) -> dict[str, tuple[float, Quantity]]:
    """Return the symbols of the equations with their values."""
    return {
        "b": (float(found.largest), COUNT),
        "u": (inputs.margin, SHARE),
        "C": (found.run.cluster.gpu.memory, BYTES),
        "X": (found.context, BYTES),
        "M0": (found.line.fixed, BYTES),
        "M1": (found.line.per_sequence, BYTES),
        "U": (found.usable, BYTES),
    }


def largest(inputs: Inputs, found: Fit) -> Value:
    """Return the largest micro-batch."""
    ranks = data_parallel(found.run.plan)
    return Value(
        label="Largest micro-batch",
        value=float(found.largest),
        quantity=COUNT,
        receipt=Receipt(
            equation=LARGEST_BATCH,
            symbols=_only(LARGEST_BATCH, symbols(inputs, found)),
            inputs=_LINKS,
            assumptions=(
                band("memory"),
                "The line is that of the pipeline stage which runs out of memory first.",
                "The CUDA context and the channels of NCCL are taken as measured on an A100.",
            ),
            sources=("korthikanti2022", "rajbhandari2020", found.run.cluster.gpu.source),
        ),
        note=say("sequences on each of {n} data-parallel ranks", n=(ranks, COUNT)),
        color="activations",
    )


def formula(inputs: Inputs, found: Fit) -> Formula:
    """Return the closed form with the reader's numbers."""
    return Formula(
        title="The closed form, with your numbers",
        equation=LARGEST_BATCH,
        symbols=_only(LARGEST_BATCH, symbols(inputs, found)),
        inputs=_LINKS,
    )


def _only(
    equation: Equation, known: dict[str, tuple[float, Quantity]]
) -> dict[str, tuple[float, Quantity]]:
    return {key: known[key] for key in equation.symbols}


def fits(inputs: Inputs, found: Fit) -> Badge:
    """Return whether the reader's micro-batch fits, and what fills the memory."""
    held, usable = found.held.total, found.usable
    if found.line.fixed > usable:
        return Badge(
            text="States",
            sentence=say(
                "Without a single sequence a GPU must hold {m}; {u} may be filled. Shard more.",
                m=(found.line.fixed, BYTES),
                u=(usable, BYTES),
            ),
            color="optimizer",
        )
    if held > usable:
        return Badge(
            text="Out of memory",
            sentence=say(
                "A micro-batch of {b} needs {m}; {u} may be filled.",
                b=(inputs.micro_batch_size, COUNT),
                m=(held, BYTES),
                u=(usable, BYTES),
            ),
            color="buffers",
        )
    return Badge(
        text="Fits",
        sentence=say(
            "A micro-batch of {b} needs {m} of the {u} that may be filled.",
            b=(inputs.micro_batch_size, COUNT),
            m=(held, BYTES),
            u=(usable, BYTES),
        ),
        color="activations",
    )


def possible(found: Fit) -> Badge:
    """Return whether the plan divides, in words."""
    run = found.run
    if found.changes:
        first = found.changes[0]
        return Badge(text="Changed", sentence=first, color="communication")
    said = problems(run.model, run.cluster, run.plan, run.training)
    if said:
        return Badge(text="Doubtful", sentence=said[0].replace("_", " "), color="communication")
    return Badge(text="Possible", sentence="Every size divides.", color="compute")


def total(inputs: Inputs, found: Fit) -> Value:
    """Return the memory of the fullest GPU at the reader's micro-batch."""
    held = found.held
    names = ("parameters", "gradients", "optimizer", "activations", "buffers", "reserve")
    parts = {key: getattr(held, name) for key, name in zip("PGOABR", names, strict=True)}
    return Value(
        label="Fullest GPU at your micro-batch",
        value=held.total,
        quantity=BYTES,
        receipt=Receipt(
            equation=PEAK,
            symbols={key: (value, BYTES) for key, value in ({"M": held.total} | parts).items()},
            assumptions=(band("memory"), "An allocator's peak, the context of CUDA left out."),
            sources=("korthikanti2022", "rajbhandari2020"),
        ),
        note=say("of {u} that may be filled", u=(found.usable, BYTES)),
    )


def fixed(found: Fit) -> Value:
    """Return what a GPU holds without any sequence."""
    return Value(
        label="Without any sequence",
        value=found.line.fixed,
        quantity=BYTES,
        receipt=Receipt(
            assumptions=(
                "States of the rank's parameters under ZeRO, and the buffers of its framework.",
                "Extrapolated to a batch of zero from two calls of the memory model.",
            ),
            sources=("rajbhandari2020",),
        ),
        color="optimizer",
    )


def per_sequence(found: Fit) -> Value:
    """Return what each sequence adds."""
    return Value(
        label="Each sequence adds",
        value=found.line.per_sequence,
        quantity=BYTES,
        receipt=Receipt(
            assumptions=(
                "What all layers of the stage keep for the backward pass, the logits, and what "
                "one layer works with.",
                "The difference of two calls of the memory model.",
            ),
            sources=("korthikanti2022",),
        ),
        color="activations",
    )


def usable(inputs: Inputs, found: Fit) -> Value:
    """Return what tensors may fill."""
    return Value(
        label="May be filled",
        value=found.usable,
        quantity=BYTES,
        receipt=Receipt(
            equation=USABLE_MEMORY,
            symbols=_only(USABLE_MEMORY, symbols(inputs, found)),
            inputs=_LINKS,
            assumptions=("The share left free is a planning value of the reader's.",),
            sources=(found.run.cluster.gpu.source, "bigscience2022"),
        ),
    )


def token_rate(inputs: Inputs, found: Fit) -> Value:
    """Return the speed at the reader's micro-batch."""
    run = found.run
    again = hardware_operations(run.model, run.training) / model_operations(run.model, run.training)
    note: Text = "whether it fits or not"
    if again > 1.001:
        note = say("computing {r} of what the model needs", r=(again, RATIO))
    return Value(
        label="Speed at your micro-batch",
        value=speed(run, inputs.micro_batch_size),
        quantity=TOKEN_RATE,
        receipt=Receipt(
            assumptions=(
                band("mixture" if run.model.num_experts else "dense"),
                f"Each data-parallel rank works through {SEQUENCES} sequences in a step.",
                "Nodes of 8 GPUs with one port of 400 Gb/s for each.",
            ),
            sources=("korthikanti2022",),
        ),
        note=note,
        color="compute",
    )
