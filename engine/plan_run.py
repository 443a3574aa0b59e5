"""`python -m engine plan REQUEST.json`: the best plans of a job and their explanation."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from engine.core.numbers import format_value
from engine.core.slices import run_to_end
from engine.core.text import render_text
from engine.core.units import BYTES, DAY, MONEY, SECONDS
from engine.form.memory_fit import tight_mark, tight_text
from engine.form.plan_to_reality import in_the_end
from engine.form.planner.best_plan_text import (
    MOVES,
    gain_text,
    limit_text,
    others_text,
    ties_text,
)
from engine.form.planner.plan_text import plan_name, reason_text
from engine.form.planner.published_text import published_text
from engine.plan_every import AllPlans, all_plans
from engine.run.file import InputError
from engine.run.plan_request import PlanRequest, read_request
from engine.run.plan_space import PlanningJob
from engine.run.schema import request_help
from engine.run.values import load_json
from engine.simulate.memory.allocator import reported_bytes
from engine.simulate.planner.evaluate import Candidate, candidate_run
from engine.simulate.planner.moves import JobChange, StepLimit, find_job_changes, largest_overhead
from engine.simulate.planner.published import PublishedPlan, published_beside
from engine.simulate.planner.search import SearchResult, fastest_plans, ordered_shapes
from engine.simulate.planner.ties import ListedPlan, Tie, find_ties, listed_plans
from engine.simulate.planner.why import Reason, why_not
from engine.simulate.step.step_range import prediction_spread, step_range

USAGE = (
    "python -m engine plan REQUEST.json [--json] [--every] [--workers N], or - for standard input"
)


def main(arguments: Sequence[str]) -> int:
    """Read a plan request, print the best plans; return 0, or 2 for an invalid request."""
    parser = argparse.ArgumentParser(usage=USAGE, allow_abbrev=False, add_help=False)
    parser.add_argument("file", help="the request, or - for standard input")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON in SI units")
    every = "time every plan, not only those that can be among the best, and say how many there are"
    parser.add_argument("--every", action="store_true", help=every)
    processes = "processes that do so; 0, the default: one for each processor"
    parser.add_argument(
        "--workers", type=int, choices=range(65), default=0, metavar="N", help=processes
    )
    parser.add_argument("--help", action=_Help, nargs=0, help="print this, and every key")
    options = parser.parse_args(arguments)
    try:
        request = read_request(load_json(_text(options.file)))
    except RecursionError:
        return _fail([f"{options.file}: nested too deeply; allowed: a file with one JSON object"])
    except InputError as error:
        return _fail(error.problems)
    except (OSError, ValueError) as error:
        return _fail([f"{options.file}: {error}; allowed: a file with one JSON object"])
    answer = best_plans(request)
    all_computed = all_plans(request.job, request.count, options.workers) if options.every else None
    sys.stdout.write(_answer_text(request, answer, all_computed, as_json=options.json) + "\n")
    return 0


class _Help(argparse.Action):
    """The help of the options, and of every key of a request."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print both and leave."""
        sys.stdout.write(f"{parser.format_help()}\n{request_help()}\n")
        parser.exit()


def _answer_text(
    request: PlanRequest, answer: "Answer", all_computed: AllPlans | None, *, as_json: bool
) -> str:
    if as_json:
        return json.dumps(answer_json(request, answer) | _all_plans_json(all_computed), indent=2)
    return "\n".join((*_answer_lines(request, answer), *_all_plans_lines(all_computed)))


def _all_plans_json(all_computed: AllPlans | None) -> dict[str, Any]:
    """Return the survey of all plans as plain data."""
    if all_computed is None:
        return {}
    survey = all_computed.survey
    return {
        "every": {
            "plans": survey.plans,
            "fit": survey.fit,
            "tight": survey.tight,
            "shortest_step": survey.shortest,
            "least_memory": survey.least,
            "processes": all_computed.workers,
        }
    }


def _all_plans_lines(all_computed: AllPlans | None) -> Iterator[str]:
    """Yield the survey of all plans as text lines."""
    if all_computed is None:
        return
    survey = all_computed.survey
    yield ""
    yield (
        f"{survey.plans:,} plans divide, {survey.fit:,} of them fit, {survey.tight:,} more are "
        f"tight. The shortest step of all is {format_value(survey.shortest, SECONDS)}, "
        f"the least memory {format_value(survey.least, BYTES)}."
    )
    several = "es" if all_computed.workers > 1 else ""
    yield f"All were computed, by {all_computed.workers} process{several}."


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123 (pathlib costs start-up time)
        return opened.read()


def _fail(problems: Sequence[str]) -> int:
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 2


Answer = tuple[SearchResult, Tie | None, StepLimit | None, tuple[JobChange, ...], Reason | None]


def best_plans(request: PlanRequest) -> Answer:
    """Return the best plans, their ties, limit and possible moves, and why not the named plan."""
    shapes = ordered_shapes(request.job)
    search = fastest_plans(request.job, request.count, shapes)
    best = search.best[0] if search.best else None
    why = why_not(request.job, request.why, best) if request.why else None
    if best is None:
        return search, None, None, (), why
    ties = run_to_end(find_ties(search.job, best, shapes))
    return (
        search,
        ties,
        largest_overhead(best),
        run_to_end(find_job_changes(request.job, best)),
        why,
    )


def answer_json(request: PlanRequest, answer: Answer) -> dict[str, Any]:
    """Return the answer as plain data in SI units."""
    search, ties, limits, changes, why = answer
    answer_data: dict[str, Any] = {
        "plans": [_listed_json(request, plan) for plan in _listed(request, answer)],
        "shapes": search.shapes,
        "shapes_searched": search.examined,
        "plans_timed": search.timed,
    }
    if ties and limits:
        answer_data["tied"] = {
            "kinds": len(ties.kinds),
            "simplest": _plan_json(request, ties.simplest),
        }
        answer_data["limit"] = asdict(limits)
        answer_data["moves"] = [
            {"change": MOVES[candidate.key], "gain": candidate.gain, "per_gpu": candidate.per_gpu}
            for candidate in changes
        ]
    if search.best:
        answer_data["published"] = [
            _published_json(request, plan) for plan in published_beside(request.job, search.best[0])
        ]
    if why:
        answer_data["why"] = {"verdict": why.verdict, "reason": render_text(reason_text(why))}
    return answer_data


def _listed(request: PlanRequest, answer: Answer) -> tuple[ListedPlan, ...]:
    """Return the fastest plan, what ties with it, and slower plans, one of each kind."""
    search, ties, *_ = answer
    return listed_plans(search.best, ties.kinds if ties else (), request.count)


def _listed_json(request: PlanRequest, plan: ListedPlan) -> dict[str, Any]:
    also = {name: list(values) for name, values in plan.others.items() if values}
    return _plan_json(request, plan.candidate) | {"tied": plan.tied, "also_with": also}


def _published_json(request: PlanRequest, plan: PublishedPlan) -> dict[str, Any]:
    gpu, count = plan.machine
    published = {"source": plan.recipe.source, "gpu": gpu, "gpus": count}
    compared = {"slower": plan.slower, "more_memory": plan.more}
    return published | compared | {"plan": _plan_json(request, plan.candidate)}


def _plan_json(request: PlanRequest, candidate: Candidate) -> dict[str, Any]:
    job = request.job
    low, high, _ = step_range(
        candidate_run(job, candidate.plan, candidate.training), candidate.step
    )
    rate = _tokens(job) / candidate.step
    days = request.tokens / rate / DAY
    run = {"days": days, "days_in_the_end": list(in_the_end(days))} if request.tokens else {}
    price = job.cluster.price_per_hour * job.world_size
    cost = {"cost": price * request.tokens / rate} if request.tokens and price else {}
    return {
        "name": plan_name(candidate.plan, candidate.training),
        "step_time": candidate.step,
        "step_time_low": low,
        "step_time_high": high,
        "tokens_per_second_per_gpu": rate / job.world_size,
        "peak_memory": reported_bytes(candidate.memory, candidate.training),
        "memory_process": candidate.memory.total,
        "room": candidate.room,
        "fit": candidate.fit.verdict,
        "memory_to_give_back": candidate.fit.give_back,
        **run,
        **cost,
        "time": {
            field.name: getattr(candidate.time, field.name) for field in fields(candidate.time)
        },
        "parallelism": _parallelism_json(candidate),
        "training": _training_json(candidate),
    }


def _tokens(job: PlanningJob) -> float:
    return job.training.global_batch_size * job.training.sequence_length


def _parallelism_json(candidate: Candidate) -> Mapping[str, Any]:
    """Return the parallelism of a plan in the format of a run file."""
    keys = asdict(candidate.plan)
    layout = keys.pop("stage_layers")
    return keys | ({"pipeline_layout": list(layout)} if layout else {})


def _training_json(candidate: Candidate) -> Mapping[str, Any]:
    """Return the training settings of a plan in the format of a run file."""
    keys = ("framework", "precision", "micro_batch_size", "global_batch_size", "recompute")
    modules = candidate.training.recompute_modules
    named = {"recompute": list(modules)} if modules else {}
    return {key: getattr(candidate.training, key) for key in (*keys, "schedule")} | named


def _answer_lines(request: PlanRequest, answer: Answer) -> Iterator[str]:
    search, ties, limits, changes, why = answer
    if not search.best:
        yield "No plan fits: the process of each that divides takes more than a GPU has."
    for rank, plan in enumerate(_listed(request, answer), start=1):
        candidate = plan.candidate
        low, high, _ = step_range(
            candidate_run(request.job, candidate.plan, candidate.training), candidate.step
        )
        step, shortest, longest = (format_value(t, SECONDS) for t in (candidate.step, low, high))
        memory = format_value(candidate.memory.total, BYTES)
        name = plan_name(candidate.plan, candidate.training) + tight_mark(candidate.fit)
        others = others_text(plan.others)
        also = f"; also with {others}" if others else ""
        yield f"{rank:3}  {step} ({shortest} to {longest})  {memory}  {name}{also}"
    if tight := [candidate for candidate in search.best if candidate.fit.verdict == "tight"]:
        yield render_text(tight_text(tight[0].fit))
    if ties and limits:
        yield ""
        yield render_text(ties_text(ties))
        for beside in published_beside(request.job, search.best[0]):
            name = plan_name(beside.candidate.plan, beside.candidate.training)
            yield f"{render_text(published_text(beside))} {name} [{beside.recipe.source}]."
        yield render_text(limit_text(limits))
        yield from (
            f"  {MOVES[m.key]}: {render_text(gain_text(m.gain, m.per_gpu))}" for m in changes
        )
        best = search.best[0]
        yield from prediction_spread(candidate_run(request.job, best.plan, best.training)).beyond
        yield from _not_searched(request.job)
        yield from _run_cost_lines(request, search.best[0])
    if why and request.why:
        yield ""
        yield f"Why not {plan_name(request.why.plan, request.why.training)}?"
        yield render_text(reason_text(why))


def _not_searched(job: PlanningJob) -> Iterator[str]:
    yield f"Not searched: micro-batches above {job.largest_micro_batch} sequences."
    if job.model.num_experts:
        axes = ("tensor", "context", "expert")
        sizes = ((axis, getattr(job, f"{axis}_parallel")) for axis in axes)
        only = [
            f"{axis} parallelism of {', '.join(map(str, tried))}" for axis, tried in sizes if tried
        ]
        if only:
            yield f"Searched: {'; '.join(only)}. `choose` names others."


def _run_cost_lines(request: PlanRequest, best: Candidate) -> Iterator[str]:
    plan = _plan_json(request, best)
    if "days" in plan:
        cost = f", {format_value(plan['cost'], MONEY)}" if "cost" in plan else ""
        times = (plan["days"], *plan["days_in_the_end"])
        steps, soon, median, late = (format_value(days * DAY, SECONDS) for days in times)
        yield f"The whole run: {steps}{cost}, if nothing fails."
        yield f"In the end, as pretraining runs went: {median}, {soon} to {late} in eight of ten."
