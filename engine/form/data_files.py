"""The data that the site publishes: runs of the validation, whole runs, the ledger of forecasts."""

import json
from collections.abc import Mapping
from math import exp

from engine.catalog import forecast_scores_table, forecasts_table
from engine.catalog.mlperf_runs import mlperf_runs
from engine.catalog.mlperf_steps import mlperf_steps
from engine.catalog.published_runs import SOURCES, published_rows
from engine.catalog.reported_hours import WHOLE_RUNS
from engine.catalog.unseen_runs import unseen_log_pairs
from engine.core.units import HOUR
from engine.draw.csv import csv_rows
from engine.run.schema import request_schema, run_schema, schema_text
from engine.simulate.step.published_runs import predictions
from engine.simulate.step.step_range import prediction_spread

# Column -> its meaning; the columns of the table of published runs come before them.
COMPUTED: Mapping[str, str] = {
    "source_name": "name of the source",
    "source_key": "key of the source in the bibliography of the site",
    "predicted_s": "predicted step in seconds, with the constants of the site",
    "error": "predicted over measured step, minus 1",
    "error_without_source": "the same with constants fitted without any run of this source",
    "error_without_model": "the same with constants fitted without any run of this model",
    "range_low": "low end of the stated range over the predicted step",
    "range_high": "high end of the stated range over the predicted step",
}
TABLE: Mapping[str, str] = {
    "row_id": "name of the row",
    "source_file": "table that the row was read from",
    "input_completeness": "A: all inputs are published; B: what is missing, and what stands in",
    "gpu": "accelerator",
    "n_gpus": "accelerators",
    "model": "model, as the source names it",
    "n_layers": "transformer layers",
    "hidden": "hidden size",
    "ffn": "inner size of the feed-forward layers",
    "heads": "attention heads",
    "kv_heads": "key-value heads",
    "vocab": "rows of the embedding table",
    "seq_len": "tokens in a sequence",
    "tp": "tensor-parallel size",
    "pp": "pipeline-parallel size",
    "vpp": "virtual stages of each pipeline rank",
    "cp": "context-parallel size",
    "ep": "expert-parallel size",
    "sharding": "what data-parallel ranks shard",
    "mbs": "sequences in a micro-batch",
    "gbs": "sequences in a step",
    "recompute": "recomputation of activations",
    "precision": "data type of the matrix products",
    "schedule": "pipeline schedule",
    "step_time_s": "measured step in seconds",
    "memory_value": "measured peak of memory",
    "memory_unit": "unit of that peak, and how it was read",
    "flag": "remark",
}
HOURS: Mapping[str, str] = {
    "run": "name of the run",
    "gpu": "accelerator, by its key in a run file",
    "tokens": "that were trained on",
    "published_gpu_hours": "GPU-hours, as published or from published days and GPUs",
    "planned_gpu_hours": "GPU-hours of the steps of the plan, predicted, without failures",
    "plan": "published, or the planner's best",
    "hours_hold": "what the hours hold or leave out, as far as the source says",
    "source_key": "key of the source in the bibliography of the site",
    "settings": "the plan, by the keys of a run file, flat, as JSON",
}
MLPERF: Mapping[str, str] = {
    "row": "name of the row",
    "version": "version of the MLPerf Training suite, Closed division",
    "submitter": "as the submission names it",
    "system": "as the submission names it",
    "benchmark": "as the submission names it",
    "accelerator": "as the submission names it",
    "gpus": "accelerators",
    "precision": "as the configuration names it",
    "step_s": "median step in seconds, derived from logs; no result of the benchmark, not verified "
    "by MLCommons Association; empty where the log tells none",
    "method": "how the step was read off the log",
    "predicted_s": "predicted step in seconds; empty without a run file",
    "low_s": "low end of the stated range",
    "high_s": "high end of the stated range",
    "seen": "whether a constant was fitted to the row",
    "note": "what had to be assumed, or why there is no run file",
    "duplicate_of": "row whose logs these are, submitted again",
    "log": "the first log, at the commit that was read",
    "run_file": "what the engine reads",
}
LICENSE = {
    "name": "CC-BY-4.0",
    "path": "https://creativecommons.org/licenses/by/4.0/",
    "title": "Creative Commons Attribution 4.0",
}


def data_files() -> Mapping[str, str]:
    """Return the name and text of each file; a file belongs to the page its name begins with."""
    return {
        "validation.csv": validation_csv(),
        "validation.mlperf.csv": mlperf_csv(),
        "whole-runs.csv": whole_runs_csv(),
        "forecasts.tsv": forecasts_table.TEXT,
        "forecasts.scores.tsv": forecast_scores_table.TEXT,
        "validation.datapackage.json": datapackage(),
        "run-file.run.schema.json": schema_text(run_schema()),
        "run-file.request.schema.json": schema_text(request_schema()),
    }


def validation_csv() -> str:
    """Return every published run with its settings, what was measured, and what is predicted."""
    predicted = {prediction.case.row["row_id"]: prediction for prediction in predictions()}
    unseen = unseen_log_pairs()
    rows = []
    for row in published_rows():
        key, name = SOURCES[row["source_file"]]
        computed: tuple[str, ...] = ("",) * 6
        if prediction := predicted.get(row["row_id"]):
            source, model = (exp(log) - 1 for log in unseen[row["row_id"]])
            spread = prediction_spread(prediction.case.run)
            numbers = prediction.time, prediction.error, source, model, spread.low, spread.high
            computed = tuple(f"{number:.5g}" for number in numbers)
        rows.append((*(row[column] for column in TABLE), name, key, *computed))
    return csv_rows(((*TABLE, *COMPUTED), *rows))


def mlperf_csv() -> str:
    """Return every row of MLPerf Training, measured and predicted."""
    rows = []
    for run in mlperf_runs():
        step = mlperf_steps().get(run.key)
        numbers = (step.predicted, step.low, step.high) if step else ()
        rows.append(
            (
                run.key,
                run.version,
                run.submitter,
                run.system,
                run.benchmark,
                run.accelerator,
                str(run.world_size),
                run.precision,
                f"{run.step:.6g}" if run.step else "",
                run.method,
                *(tuple(f"{number:.5g}" for number in numbers) or ("", "", "")),
                "yes" if step and step.seen else "no",
                run.note,
                run.duplicate_of,
                run.log_address,
                run.run_file,
            )
        )
    return csv_rows((tuple(MLPERF), *rows))


def whole_runs_csv() -> str:
    """Return every published total of GPU-hours beside that of its plan."""
    return csv_rows(
        (
            tuple(HOURS),
            *(
                (
                    run.name,
                    run.gpu,
                    f"{run.tokens:.6g}",
                    f"{run.gpu_time / HOUR:.0f}",
                    f"{run.forecast / HOUR:.0f}",
                    "published" if run.published_plan else "planner",
                    run.includes,
                    run.source,
                    json.dumps(dict(run.settings), separators=(",", ":")),
                )
                for run in WHOLE_RUNS
            ),
        )
    )


def datapackage() -> str:
    """Return the description of the files. Source: Data Package standard, version 1."""
    tables = (
        ("validation.csv", "Published runs, measured and predicted", {**TABLE, **COMPUTED}),
        ("validation.mlperf.csv", "MLPerf Training, steps measured and predicted", MLPERF),
        ("whole-runs.csv", "GPU-hours of whole runs, published and planned", HOURS),
    )
    return json.dumps(
        {
            "name": "wallclock",
            "title": "Published training runs beside the predictions of Wallclock",
            "licenses": [LICENSE],
            "resources": [
                {
                    "name": path.removesuffix(".csv").replace(".", "-"),
                    "path": path,
                    "title": title,
                    "format": "csv",
                    "schema": {
                        "fields": [
                            {"name": name, "description": meaning}
                            for name, meaning in columns.items()
                        ]
                    },
                }
                for path, title, columns in tables
            ],
        },
        indent=1,
    )
