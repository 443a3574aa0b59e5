"""The library's functions: configurations in, records out. Values are in SI units.

What only one function needs is imported when it is called, so that `import wallclock` is quick.
"""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.models import Model
from engine.catalog.nodes import NODES, Node
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.closest_name import closest
from engine.core.units import Bytes, Count
from engine.estimate import estimate as estimate_document
from engine.formulas.bandwidth import Operation, bus_bandwidth
from engine.library.results import (
    CollectiveTime,
    Config,
    Estimate,
    PlannedRun,
    Plans,
    RangeBasis,
    RankMemory,
    StepParts,
    TracedStep,
    TraceSummary,
)
from engine.run.document import InputError
from engine.run.file import read_run
from engine.run.keys import SECTIONS
from engine.run.run import Run
from engine.run.values import format_value, load_json
from engine.simulate.collectives.collective import (
    collective_choice,
    collective_time,
    collective_times,
)
from engine.simulate.collectives.nccl_effect import place_collective

Document = Mapping[str, Any]
Path = str | PathLike[str]
Source = Run | Config | Document | Path


def estimate(source: Source) -> Estimate:
    """Return step time, rates and memory of one training run.

    Args:
        source: a run file as a mapping, its path, what `read_config` returned, or a `Run`.

    Raises:
        InputError: the run cannot be read; `problems` has a line for each key that is wrong.
        OSError: a file cannot be opened.

    Example:
        >>> result = estimate(run)
        >>> result.fits
        True
        >>> result.step_time_low < result.step_time < result.step_time_high
        True

    The time comes from a model of every kernel, message and wait of a step; its constants are
    fitted to published runs, and `step_time_low` to `step_time_high` is the range of four in five
    runs of that kind. Source: the guides, and their table of published runs.
    """
    return _estimate_of(_run_of(source))


def plan(source: Document | Path) -> Plans:
    """Return the fastest plans of a job that fit its machines.

    Args:
        source: a request as a mapping, or its path: `model`, `cluster`, `world_size`,
            `sequence_length` and `global_batch_size`; `wallclock schema request` lists all keys.

    Raises:
        InputError: the request cannot be read, or no plan divides.
        OSError: the file cannot be opened.

    Example:
        >>> plans = plan({
        ...     "model": "llama-3-8b",
        ...     "cluster": run["cluster"],
        ...     "world_size": 64,
        ...     "sequence_length": 8192,
        ...     "global_batch_size": 512,
        ... })
        >>> best = plans.plans[0]
        >>> best.fit
        'fits'
        >>> estimate(best.document).step_time == best.step_time
        True
    """
    from engine.plan_run import answer_json, best_plans
    from engine.run.plan_request import read_request

    document = _document_of(source)
    request = read_request(document)
    answer = answer_json(request, best_plans(request))
    tied = answer.get("tied")
    return Plans(
        plans=tuple(_planned(document, entry) for entry in answer["plans"]),
        timed=answer["plans_timed"],
        tied=tied["kinds"] if tied else 0,
        simplest=_planned(document, tied["simplest"]) if tied else None,
        reason=answer["why"]["reason"] if "why" in answer else "",
        published=tuple(answer.get("published", ())),
    )


def read_config(
    *sources: Document | Path, model: str = "", node: str = "dgx-h100", gpus: Count = 0
) -> Config:
    """Return the run that a run file or the configuration of a trainer describes.

    Args:
        sources: one run file as a mapping, or paths of files of one job: run file, launch script,
            YAML, TOML, Python or `config.json` of any trainer that the guides name.
        model: key of `models()`, where no file says which model.
        node: key of `nodes()`: machines to assume where no file names them.
        gpus: GPUs to assume; 0: one node, or what the degrees of parallelism need.

    Raises:
        InputError: the files contradict each other, or do not say enough.
        TextError: a file is written in no known format; the message has its line.
        OSError: a file cannot be opened.

    Example:
        >>> config = read_config("train.sh", node="dgx-a100")
        >>> config.formats
        ('Megatron-LM arguments',)
        >>> config.run.plan.tensor_parallel
        8
    """
    if len(sources) == 1 and isinstance(sources[0], Mapping):
        return Config(run=read_run(sources[0]), document=sources[0])
    paths = [source for source in sources if not isinstance(source, Mapping)]
    if not paths or len(paths) < len(sources):
        raise InputError(["sources: allowed: one mapping, or paths of files"])
    texts = {fspath(path): _read(path) for path in paths}
    return read_texts(texts, model=model, node=node, gpus=gpus)


def read_texts(
    texts: Mapping[str, str], *, model: str = "", node: str = "dgx-h100", gpus: Count = 0
) -> Config:
    """Return the run that texts describe, given by the names of their files.

    Args:
        texts: path -> content of the files of one job.
        model: as for `read_config`.
        node: as for `read_config`.
        gpus: as for `read_config`.

    Raises:
        InputError: the texts contradict each other, or do not say enough.
        TextError: a text is written in no known format.

    Example:
        >>> import json
        >>> read_texts({"run.json": json.dumps(run)}) == read_config("run.json")
        True
    """
    from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run

    if len(texts) == 1:
        ((path, text),) = texts.items()
        if document := _run_file(path, text):
            return Config(run=read_run(document), document=document)
    machine = _named(node, NODES, "node")
    text = "\n".join(f"--- {_base_name(path)} ---\n{content}" for path, content in texts.items())
    cluster = {key: getattr(machine, key) for key in DGX_H100}
    imported = import_run(text, ImportDefaults(model=model, cluster=cluster, world_size=gpus))
    if imported.run is None:
        raise InputError(imported.contradictions)
    return Config(
        run=imported.run,
        document=imported.document,
        formats=imported.dialects,
        entries=imported.entries,
        warnings=imported.warnings,
    )


def read_trace(*files: Path) -> TraceSummary:
    """Return where the steps of a trace of PyTorch's profiler went.

    Args:
        files: Kineto JSON, plain or gzip; one file for each rank.

    Raises:
        TextError: a file is no such trace.
        OSError: a file cannot be opened.

    Example:
        >>> summary = read_trace("trace.json")
        >>> step = summary.ranks[0]
        >>> parts = step.compute + step.exposed + step.copies + step.idle
        >>> abs(parts - step.time) < 1e-9
        True
    """
    from engine.read_trace import trace_document
    from engine.simulate.profile_analysis.check import check_trace, mean_use
    from engine.simulate.profile_analysis.rules import RULES

    check = check_trace(trace_document([fspath(file) for file in files]), RULES)
    ranks = []
    for at, (classified, uses) in enumerate(zip(check.ranks, check.uses, strict=True)):
        use = mean_use(uses)
        ranks.append(
            TracedStep(
                rank=classified.trace.rank,
                steps=len(uses),
                time=use.length,
                compute=use.compute,
                communication=use.communication,
                exposed=use.exposed,
                copies=use.copies,
                idle=use.idle,
                waited=check.wait_suffered(at),
            )
        )
    late = check.straggler
    return TraceSummary(
        ranks=tuple(ranks), straggler=None if late is None else check.ranks[late].trace.rank
    )


def collective(
    operation: Operation, size: Bytes, gpus: Count, node: str = "dgx-h100"
) -> CollectiveTime:
    """Return the time of a collective with the algorithm and protocol that NCCL takes.

    Args:
        operation: "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast" or
            "reduce".
        size: bytes of the whole buffer of a rank: before a reduce-scatter, after an all-gather.
        gpus: ranks that take part, on as few machines as possible.
        node: key of `nodes()`.

    Raises:
        InputError: there is no such machine, or the numbers are not above 0.

    Example:
        >>> gathered = collective("all_gather", size=1e9, gpus=16)
        >>> gathered.time < all_reduce(size=1e9, gpus=16).time
        True
    """
    _named(node, NODES, "node")
    problems = [
        f"{name}: {format_value(value)}; allowed: a number above {least - 1}"
        for name, value, least in (("size", size, 1), ("gpus", gpus, 2))
        if not value > least - 1
    ]
    if problems:
        raise InputError(problems)
    placement = place_collective(node, gpus)
    times = collective_times(placement.rank, placement.group, size, operation)
    if not times:
        raise InputError([f"operation: {format_value(operation)}; allowed: a collective of NCCL"])
    time = collective_time(placement.rank, placement.group, size, operation)
    return CollectiveTime(
        time=time,
        choice=collective_choice(placement.rank, placement.group, size, operation, times),
        bus_bandwidth=bus_bandwidth(size, time, operation, gpus),
        choices=times,
    )


def all_reduce(size: Bytes, gpus: Count, node: str = "dgx-h100") -> CollectiveTime:
    """Return the time of an all-reduce of `size` bytes over `gpus` GPUs.

    Args:
        size: bytes of the buffer of a rank.
        gpus: ranks that take part, on as few machines as possible.
        node: key of `nodes()`.

    Raises:
        InputError: there is no such machine, or the numbers are not above 0.

    Example:
        >>> result = all_reduce(size=1e9, gpus=64)
        >>> result.choice
        'NVLSTree Simple'
        >>> 1e-3 < result.time < 10e-3
        True
    """
    return collective("all_reduce", size, gpus, node)


def gpus() -> Mapping[str, Gpu]:
    """Return the GPUs of the catalog by the names of run files, each with source and date.

    Example:
        >>> gpus()["H100-SXM"].memory_bandwidth
        3350000000000.0
    """
    return ACCELERATORS


def models() -> Mapping[str, Model]:
    """Return the models of the catalog by the names of run files, each with its source.

    Example:
        >>> models()["llama-3-70b"].num_layers
        80
    """
    return EVERY_MODEL


def nodes() -> Mapping[str, Node]:
    """Return the machines of the catalog: their GPUs and network ports, each with its source.

    Example:
        >>> nodes()["dgx-h100"].nics_per_node
        8
    """
    return NODES


def _run_of(source: Source) -> Run:
    if isinstance(source, Run):
        return source
    if isinstance(source, Config):
        return source.run
    return read_config(source).run


def _estimate_of(run: Run) -> Estimate:
    values = estimate_document(run)
    basis = values.pop("range_basis")
    return Estimate(
        **{
            **values,
            "range_basis": RangeBasis(name=basis["class"], runs=basis["runs"]),
            "memory": RankMemory(**values["memory"]),
            "time": StepParts(**values["time"]),
            "extrapolates": tuple(values["extrapolates"]),
            "problems": tuple(values["problems"]),
        }
    )


def _planned(request: Document, entry: dict[str, Any]) -> PlannedRun:
    """Return a plan as a record, with the run file that says the same."""
    values = {**entry, "time": StepParts(**entry["time"])}
    training = {**request.get("training", {}), **values.pop("training")}
    document = {
        **{key: request[key] for key in ("model", "sequence_length", "cluster")},
        "parallelism": values.pop("parallelism"),
        "training": training,
    }
    values["days_in_the_end"] = tuple(values.get("days_in_the_end", ()))
    return PlannedRun(**values, document=document)


def _run_file(path: str, text: str) -> Document | None:
    """Return the document of a run file, None where a text is something else."""
    if not path.endswith(".json"):
        return None
    document = _parsed(path, text)
    is_run = isinstance(document, Mapping) and len(document.keys() & set(SECTIONS)) > 1
    return document if is_run and isinstance(document, Mapping) else None


def _document_of(source: Document | Path) -> Document:
    document = source if isinstance(source, Mapping) else _parsed(source, _read(source))
    if not isinstance(document, Mapping):
        raise InputError([f"request: {format_value(document)}; allowed: an object"])
    return document


def _parsed(path: Path, text: str) -> object:
    try:
        return load_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError([f"{fspath(path)}: {error}; allowed: one JSON object"]) from None


def _read(path: Path) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (the engine knows no paths)
        return file.read()


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].replace("=", "_") or "input"


def _named(name: str, rows: Mapping[str, Node], kind: str) -> Node:
    if name not in rows:
        near = closest(name, rows)
        hint = f"did you mean '{near}'? " if near else ""
        raise InputError([f"{kind}: {format_value(name)}; {hint}allowed: {', '.join(rows)}"])
    return rows[name]
