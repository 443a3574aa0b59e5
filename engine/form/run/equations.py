"""The equations of an estimate: its step, its rates, its peak of memory."""

from engine.core.equation import Equation

STEP = Equation(
    name="step_parts",
    tex=r"\v{T} = \v{C} + \v{X} + \v{D} + \v{W} + \v{O} + \v{R}",
    symbols={
        "T": (r"T_{\mathrm{step}}", "step"),
        "C": (
            r"T_{\mathrm{comp}}",
            "computation of the slowest stage, with the collectives of its vocabulary",
        ),
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
        "r": ("r", "tokens per second per GPU"),
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
        "M": (r"M_{\mathrm{peak}}", "memory of the rank that holds most"),
        "P": (r"M_{\mathrm{param}}", "parameters"),
        "G": (r"M_{\mathrm{grad}}", "gradients"),
        "O": (r"M_{\mathrm{opt}}", "optimizer states and full-precision copy"),
        "A": (r"M_{\mathrm{act}}", "activations"),
        "B": (r"M_{\mathrm{buf}}", "buffers of communication"),
        "R": (r"M_{\mathrm{res}}", "workspaces, and what the framework keeps in reserve"),
    },
)
