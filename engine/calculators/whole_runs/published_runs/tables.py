"""Tables of the published runs: run by run, their memory, and sources left out of the fit."""

from collections.abc import Callable, Sequence
from dataclasses import fields

from engine.basis.text import plain, say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE
from engine.basis.views import Cell, Cite, Open, Receipt, Table, Value
from engine.calculators.whole_runs.published_runs.errors import named, signed, split, statistics
from engine.calculators.whole_runs.published_runs.read import Published, inputs_of, sources
from engine.catalog.constants import Achieved, Common
from engine.form.run import accuracy
from engine.form.run.inputs import Inputs

PER_PAGE = 20
# Constants of one type of GPU that are fitted, and the types that there are runs for.
FREE = ("matmul", "matmul_fp8", "attention_forward", "attention_backward", "fill")
FITTED = ("A100", "H100", "B200", "GB200", "B300", "GB300")
# Constants that all types share: all but the gap between kernels are fitted.
SHARED = len(fields(Common)) - 1


def runs(rows: Sequence[Published], order: str, page: int) -> Table:
    """Return one page of the chosen runs, each with a link that opens its estimate."""
    keys: dict[str, Callable[[Published], float]] = {
        "worst": lambda row: -abs(row.error),
        "best": lambda row: abs(row.error),
        "source": lambda row: 0.0,
    }
    ordered = sorted(rows, key=keys[order])
    pages = max(1, -(-len(ordered) // PER_PAGE))
    page = min(page, pages)
    shown = ordered[(page - 1) * PER_PAGE : page * PER_PAGE]
    return Table(
        title="Predicted and measured, run by run",
        columns=("run", "error", "", "measured", "predicted", "GPUs", "plan", "source"),
        rows=tuple(_run(row) for row in shown),
        caption=say(
            "Page {page} of {pages}. A row with (?) was not fitted: its source doubts it, or its "
            "GPU is of no catalog.",
            page=(page, COUNT),
            pages=(pages, COUNT),
        ),
    )


def _run(row: Published) -> tuple[Cell, ...]:
    doubt = " (?)" if row.doubted else ""
    return (
        f"{row.name}, {row.precision}{doubt}",
        signed(row.error),
        Open("open", "estimate_run", query_of(row)),
        say("{t}", t=(row.measured, SECONDS)),
        say("{t}", t=(row.predicted, SECONDS)),
        say(f"{{n}} {row.family}", n=(row.sizes["world_size"], COUNT)),
        _plan(row),
        Cite((sources()[row.source][0],)),
    )


def _plan(row: Published) -> str:
    """Return the plan in the field's abbreviations, ones left out."""
    sizes = {
        "TP": "tensor_parallel",
        "PP": "pipeline_parallel",
        "VP": "virtual_pipeline",
        "CP": "context_parallel",
        "EP": "expert_parallel",
    }
    parts = [f"{key}{row.sizes[name]}" for key, name in sizes.items() if row.sizes[name] > 1]
    zero = row.switches[1]
    return " ".join(parts + [f"ZeRO-{zero}"] * (zero != "0"))


def query_of(row: Published) -> str:
    """Return the address that opens this run in `estimate_run`."""
    found, usual = inputs_of(row), Inputs()
    pairs = ((field.name, getattr(found, field.name)) for field in fields(Inputs))
    return "&".join(
        f"estimate_run.{name}={plain(value)}"
        for name, value in pairs
        if value != getattr(usual, name)
    )


def memory_summary(rows: Sequence[Published]) -> dict[str, Value]:
    """Return the errors of the peak of memory."""
    held = [row for row in rows if row.memory]
    found = statistics([row.memory[1] / row.memory[0] - 1 for row in held])
    receipt = Receipt(
        assumptions=(
            "Peaks of an allocator, or of nvidia-smi with the context that it counts.",
            "No script fits anything to them; allowances for allocator and CUDA were read "
            "off such measurements.",
        ),
        sources=named(held),
    )
    count = float(len(held))
    return {
        "memory_rows": Value(
            label="Runs with a memory", value=count, quantity=COUNT, receipt=receipt
        ),
        "memory_mean": Value(
            label="Mean error of the peak", value=found["mean"], quantity=SHARE, receipt=receipt
        ),
        "memory_p90": Value(
            label="Peaks: nine in ten are within",
            value=found["p90"],
            quantity=SHARE,
            receipt=receipt,
        ),
    }


def memory_groups(rows: Sequence[Published]) -> Table:
    """Return the errors of the peak by source, and the largest peak there."""
    body: list[tuple[Cell, ...]] = []
    for name, members in split([row for row in rows if row.memory], "source").items():
        errors = [row.memory[1] / row.memory[0] - 1 for row in members]
        found = statistics(errors)
        largest = max(members, key=lambda row: row.memory[0]).memory
        body.append(
            (
                name,
                say("{n}", n=(float(len(members)), COUNT)),
                *(say("{x}", x=(found[key], SHARE)) for key in ("median", "mean", "worst")),
                signed(found["bias"]),
                say("{m}, predicted {p}", m=(largest[0], BYTES), p=(largest[1], BYTES)),
            )
        )
    return Table(
        title="Error of the peak of memory by source",
        columns=("source", "runs", "median", "mean", "worst", "bias", "largest peak"),
        rows=tuple(body),
    )


def left_out_summary() -> dict[str, Value]:
    """Return the mean errors on sources that the fit did not see; no filter applies."""
    receipt = Receipt(
        basis="measured",
        assumptions=(
            "For each source in turn, the constants were fitted to all others and tried on it.",
            f"Run once, on {accuracy.LEFT_OUT_DATE}; the filters do not apply.",
        ),
    )
    means = {kind: mean for name, kind, _, mean, _, _ in accuracy.LEFT_OUT if name == "all"}
    return {
        f"left_out_{kind}": Value(
            label=f"Left out, {words}", value=means[kind], quantity=SHARE, receipt=receipt
        )
        for kind, words in (("dense", "dense"), ("mixture", "mixtures"))
    }


def left_out() -> Table:
    """Return the errors on each source that the fit did not see."""
    return Table(
        title="Fitted without the source, tried on it",
        columns=("source", "runs", "mean", "90 %", "bias"),
        rows=tuple(
            (
                f"{name} ({kind})" if name == "all" or kind == "mixture" else name,
                say("{n}", n=(float(count), COUNT)),
                say("{x}", x=(mean, SHARE)),
                say("{x}", x=(tail, SHARE)),
                signed(bias),
            )
            for name, kind, count, mean, tail, bias in accuracy.LEFT_OUT
        ),
        caption=f"Run on {accuracy.LEFT_OUT_DATE}; the filters do not apply.",
    )


def constants() -> Value:
    """Return how many numbers were fitted to how many runs."""
    return Value(
        label="Fitted constants",
        value=float(len(FREE) * len(FITTED) + SHARED),
        quantity=COUNT,
        receipt=Receipt(
            basis="definition",
            assumptions=(
                say(
                    "{free} of {all} constants of each of {types} types of GPU; the others are "
                    "read off measured bandwidths. {shared} more are shared by all types.",
                    free=(float(len(FREE)), COUNT),
                    all=(float(len(fields(Achieved))), COUNT),
                    types=(float(len(FITTED)), COUNT),
                    shared=(float(SHARED), COUNT),
                ),
            ),
        ),
    )
