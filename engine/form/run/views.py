"""What an estimate shows: its numbers with their receipts."""

from collections.abc import Mapping
from typing import Any

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import (
    BYTES,
    COUNT,
    FLOP_RATE,
    OPERATIONS,
    PARAMETERS,
    SECONDS,
    SHARE,
    TOKEN_RATE,
    TOKENS,
    FlopRate,
)
from engine.basis.views import Receipt, Value
from engine.form.run.accuracy import ACCURACY
from engine.formulas.operations import hardware_operations, model_operations
from engine.run.file import Run

Estimate = Mapping[str, Any]

STEP = Equation(
    name="step_parts",
    tex=r"\v{T} = \v{C} + \v{X} + \v{D} + \v{W} + \v{O} + \v{R}",
    symbols={
        "T": (r"T_{\mathrm{step}}", "step"),
        "C": (r"T_{\mathrm{comp}}", "computation of the slowest stage"),
        "X": (r"T_{\mathrm{model}}", "exposed exchange of the ranks that share a model"),
        "D": (r"T_{\mathrm{data}}", "exposed gathers and reductions of data-parallel ranks"),
        "W": (r"T_{\mathrm{bubble}}", "wait for the first and last micro-batch"),
        "O": (r"T_{\mathrm{opt}}", "optimizer"),
        "R": (r"T_{\mathrm{other}}", "host, and waiting for the slowest GPU"),
    },
)
TOKENS_PER_SECOND = Equation(
    name="tokens_per_second_per_gpu",
    tex=r"\v{r} = \frac{\v{B}\,\v{s}}{\v{n}\,\v{T}}",
    symbols={
        "r": ("r", "tokens per second and GPU"),
        "B": ("B", "sequences in a step"),
        "s": ("s", "tokens in a sequence"),
        "n": ("n", "GPUs"),
        "T": (r"T_{\mathrm{step}}", "step"),
    },
)
MFU = Equation(
    name="run_mfu",
    tex=r"\v{u} = \frac{\v{Q}}{\v{n}\,\v{T}\,\v{F}}",
    symbols={
        "u": (r"\mathrm{MFU}", "share of the peak that the model uses"),
        "Q": (r"Q_{\mathrm{model}}", "operations of a step, recomputation not counted"),
        "n": ("n", "GPUs"),
        "T": (r"T_{\mathrm{step}}", "step"),
        "F": ("F", "dense peak of a GPU in this precision"),
    },
    sources=("chowdhery2022",),
)
HFU = Equation(
    name="run_hfu",
    tex=MFU.tex,
    symbols=dict(MFU.symbols)
    | {
        "u": (r"\mathrm{HFU}", "share of the peak that the GPU is kept busy with"),
        "Q": (r"Q_{\mathrm{done}}", "operations of a step, recomputation counted"),
    },
    sources=("korthikanti2022",),
)
PEAK = Equation(
    name="peak_parts",
    tex=r"\v{M} = \v{P} + \v{G} + \v{O} + \v{A} + \v{B} + \v{R}",
    symbols={
        "M": (r"M_{\mathrm{peak}}", "memory of the fullest GPU"),
        "P": (r"M_{\mathrm{param}}", "parameters"),
        "G": (r"M_{\mathrm{grad}}", "gradients"),
        "O": (r"M_{\mathrm{opt}}", "optimizer states and full-precision copy"),
        "A": (r"M_{\mathrm{act}}", "activations"),
        "B": (r"M_{\mathrm{buf}}", "buffers of communication"),
        "R": (r"M_{\mathrm{res}}", "workspaces, and what the framework keeps in reserve"),
    },
)


def band(kind: str) -> Text:
    """Return how far such predictions are from published runs."""
    rows, mean, tail = ACCURACY[kind]
    what = {
        "dense": "published step times of dense models",
        "mixture": "published step times of mixtures of experts",
        "memory": "published peaks of memory",
    }
    return say(
        f"On {{rows}} {what[kind]} the mean error is {{mean}}; nine in ten are within {{tail}}.",
        rows=(rows, COUNT),
        mean=(mean, SHARE),
        tail=(tail, SHARE),
    )


def _error_band(run: Run) -> Text:
    return band("mixture" if run.model.num_experts else "dense")


def _assumptions(run: Run) -> tuple[Text, ...]:
    return (
        _error_band(run),
        "The constants of the GPU were fitted to such runs; another type rests on benchmarks.",
        "The slowest rank sets the step; experts are loaded evenly; no failure, no checkpoint.",
    )


def step_value(run: Run, found: Estimate) -> Value:
    """Return the step."""
    time = found["time"]
    model = ("tensor_parallel", "context_parallel", "expert_parallel", "pipeline")
    exchange = sum(time[name] for name in model)
    parts = {
        "T": found["step_time"],
        "C": time["compute"],
        "X": exchange,
        "D": time["data_parallel"],
        "W": time["bubble"],
        "O": time["optimizer"],
        "R": time["other"],
    }
    return Value(
        label="Step",
        value=found["step_time"],
        quantity=SECONDS,
        receipt=Receipt(
            equation=STEP,
            symbols={key: (value, SECONDS) for key, value in parts.items()},
            assumptions=_assumptions(run),
        ),
        note=_error_band(run),
    )


def token_rate(run: Run, found: Estimate) -> Value:
    """Return the tokens per second and GPU."""
    training = run.training
    rate = found["tokens_per_second_per_gpu"]
    return Value(
        label="Per GPU",
        value=rate,
        quantity=TOKEN_RATE,
        receipt=Receipt(
            equation=TOKENS_PER_SECOND,
            symbols={
                "r": (rate, TOKEN_RATE),
                "B": (float(training.global_batch_size), COUNT),
                "s": (float(training.sequence_length), TOKENS),
                "n": (float(run.plan.world_size), COUNT),
                "T": (found["step_time"], SECONDS),
            },
            inputs={"B": "global_batch_size", "s": "sequence_length", "n": "world_size"},
            assumptions=_assumptions(run)[:1],
        ),
    )


def utilization(run: Run, found: Estimate, name: str) -> Value:
    """Return the MFU ("mfu") or the HFU ("hfu")."""
    counted = model_operations if name == "mfu" else hardware_operations
    return Value(
        label=name.upper(),
        value=found[name],
        quantity=SHARE,
        receipt=Receipt(
            equation=MFU if name == "mfu" else HFU,
            symbols={
                "u": (found[name], SHARE),
                "Q": (counted(run.model, run.training), OPERATIONS),
                "n": (float(run.plan.world_size), COUNT),
                "T": (found["step_time"], SECONDS),
                "F": (_peak_rate(run), FLOP_RATE),
            },
            inputs={"n": "world_size", "F": "gpu"},
            assumptions=(
                "Attention is counted in full, as if nothing were masked.",
                _error_band(run),
            ),
            sources=(run.cluster.gpu.source,),
        ),
    )


def _peak_rate(run: Run) -> FlopRate:
    peaks = run.cluster.gpu.peak
    return peaks.get(run.training.precision, peaks["fp16"])


def flops_rate(run: Run, found: Estimate) -> Value:
    """Return the operations per second and GPU, as papers print them."""
    return Value(
        label="Model operations per GPU",
        value=found["model_flops_rate"],
        quantity=FLOP_RATE,
        receipt=Receipt(
            assumptions=(
                "Megatron's count: attention in full, the output layer, no recomputation.",
                "Other sources count otherwise; compare times instead.",
            ),
            sources=("korthikanti2022",),
        ),
    )


def parameters(found: Estimate) -> Value:
    """Return the size of the model."""
    return Value(
        label="Parameters",
        value=found["parameters"],
        quantity=PARAMETERS,
        receipt=Receipt(
            basis="definition",
            assumptions=("Counted from the shape, matrix by matrix.",),
        ),
    )


def peak(run: Run, found: Estimate) -> Value:
    """Return the memory of the fullest GPU."""
    parts = found["memory"]
    values = {"M": found["peak_memory"]} | dict(zip("PGOABR", parts.values(), strict=True))
    return Value(
        label="Fullest GPU",
        value=found["peak_memory"],
        quantity=BYTES,
        receipt=Receipt(
            equation=PEAK,
            symbols={key: (value, BYTES) for key, value in values.items()},
            assumptions=(
                band("memory"),
                "An allocator's peak; nvidia-smi adds the context of CUDA and NCCL.",
            ),
            sources=(run.cluster.gpu.source,),
        ),
        note=band("memory"),
    )
