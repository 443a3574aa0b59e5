"""`python -m engine plan REQUEST.json`: the best plans of a job, why, and why not another."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from engine.core.numbers import show
from engine.core.slices import whole
from engine.core.text import words
from engine.core.units import BYTES, DAY, MONEY, SECONDS
from engine.form.planner.plan_text import MOVES, gained, limited, name, reason, tied
from engine.plan_every import Every, every
from engine.run.file import InputError
from engine.run.plan_request import Asked, read_request
from engine.run.plan_space import Job
from engine.run.values import loaded
from engine.simulate.planner.evaluate import Candidate, run_of
from engine.simulate.planner.moves import Limit, Move, limit, moves
from engine.simulate.planner.search import Found, fastest, in_order
from engine.simulate.planner.ties import Tie, tie
from engine.simulate.planner.why import Reason, why_not
from engine.simulate.step.step_range import step_range

USAGE = (
    "python -m engine plan REQUEST.json [--json] [--every] [--workers N], or - for standard input"
)


def main(arguments: Sequence[str]) -> int:
    """Read one request, print the best plans; return 0, or 2 where it asks for nothing possible."""
    parser = argparse.ArgumentParser(usage=USAGE, allow_abbrev=False)
    parser.add_argument("file")
    parser.add_argument("--json", action="store_true")
    # Times every plan, not only those that can be among the best, and says how many there are.
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--workers", type=int, choices=range(65), default=0, metavar="N")
    options = parser.parse_args(arguments)
    try:
        asked = read_request(loaded(_text(options.file)))
    except RecursionError:
        return _fail([f"{options.file}: nested too deeply; allowed: a file with one JSON object"])
    except (OSError, ValueError) as error:
        return _fail([f"{options.file}: {error}; allowed: a file with one JSON object"])
    except InputError as error:
        return _fail(error.problems)
    answer = planned(asked)
    all_of = every(asked.job, asked.count, options.workers) if options.every else None
    sys.stdout.write(_told(asked, answer, all_of, as_json=options.json) + "\n")
    return 0


def _told(asked: Asked, answer: "Answer", all_of: Every | None, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(document(asked, answer) | _counted(all_of), indent=2)
    return "\n".join((*_lines(asked, answer), *_census(all_of)))


def _counted(all_of: Every | None) -> dict[str, Any]:
    """Return what was found of all plans, as plain data."""
    if all_of is None:
        return {}
    found = all_of.found
    return {
        "every": {
            "plans": found.plans,
            "fit": found.fit,
            "shortest_step": found.shortest,
            "least_memory": found.least,
            "processes": all_of.workers,
        }
    }


def _census(all_of: Every | None) -> Iterator[str]:
    """Yield what was found of all plans, in words."""
    if all_of is None:
        return
    found = all_of.found
    yield ""
    yield (
        f"{found.plans:,} plans divide, {found.fit:,} of them fit. The shortest step of all is "
        f"{show(found.shortest, SECONDS)}, the least memory {show(found.least, BYTES)}."
    )
    several = "es" if all_of.workers > 1 else ""
    yield f"All were computed, by {all_of.workers} process{several}."


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read()
    with open(file, encoding="utf-8") as opened:  # noqa: PTH123 (pathlib costs start-up time)
        return opened.read()


def _fail(problems: Sequence[str]) -> int:
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 2


Answer = tuple[Found, Tie | None, Limit | None, tuple[Move, ...], Reason | None]


def planned(asked: Asked) -> Answer:
    """Return the best plans, what ties with and limits the first, what would help, why not."""
    shapes = in_order(asked.job)
    found = fastest(asked.job, asked.count, shapes)
    best = found.best[0] if found.best else None
    why = why_not(asked.job, asked.why, best) if asked.why else None
    if best is None:
        return found, None, None, (), why
    ties = whole(tie(asked.job, best, shapes))
    return found, ties, limit(best), whole(moves(asked.job, best)), why


def document(asked: Asked, answer: Answer) -> dict[str, Any]:
    """Return the answer as plain data, in SI units."""
    found, ties, limits, changes, why = answer
    told: dict[str, Any] = {
        "plans": [_plan(asked, one) for one in found.best],
        "shapes": found.shapes,
        "shapes_searched": found.seen,
        "plans_timed": found.timed,
    }
    if ties and limits:
        told["tied"] = {"plans": ties.tied, "simplest": _plan(asked, ties.simplest)}
        told["limit"] = asdict(limits)
        told["moves"] = [
            {"change": MOVES[one.key], "gain": one.gain, "per_gpu": one.per_gpu} for one in changes
        ]
    if why:
        told["why"] = {"verdict": why.verdict, "reason": words(reason(why))}
    return told


def _plan(asked: Asked, one: Candidate) -> dict[str, Any]:
    job = asked.job
    low, high, _ = step_range(run_of(job, one.plan, one.training), one.step)
    rate = _tokens(job) / one.step
    run = {"days": asked.tokens / rate / DAY} if asked.tokens else {}
    price = job.cluster.price_per_hour * job.world_size
    cost = {"cost": price * asked.tokens / rate} if asked.tokens and price else {}
    return {
        "name": name(one.plan, one.training),
        "step_time": one.step,
        "step_time_low": low,
        "step_time_high": high,
        "tokens_per_second_per_gpu": rate / job.world_size,
        "peak_memory": one.held.total,
        "room": one.room,
        **run,
        **cost,
        "time": {field.name: getattr(one.time, field.name) for field in fields(one.time)},
        "parallelism": _parallelism(one),
        "training": _training(one),
    }


def _tokens(job: Job) -> float:
    return job.training.global_batch_size * job.training.sequence_length


def _parallelism(one: Candidate) -> Mapping[str, Any]:
    """Return the plan as a run file has it."""
    keys = asdict(one.plan)
    layout = keys.pop("stage_layers")
    return keys | ({"pipeline_layout": list(layout)} if layout else {})


def _training(one: Candidate) -> Mapping[str, Any]:
    """Return what a plan chooses of the training, as a run file has it."""
    keys = ("framework", "precision", "micro_batch_size", "global_batch_size", "recompute")
    return {key: getattr(one.training, key) for key in (*keys, "schedule")}


def _lines(asked: Asked, answer: Answer) -> Iterator[str]:
    found, ties, limits, changes, why = answer
    if not found.best:
        yield "No plan fits."
    for place, one in enumerate(found.best, start=1):
        low, high, _ = step_range(run_of(asked.job, one.plan, one.training), one.step)
        yield (
            f"{place:3}  {show(one.step, SECONDS)} ({show(low, SECONDS)} to {show(high, SECONDS)})"
            f"  {show(one.held.total, BYTES)}  {name(one.plan, one.training)}"
        )
    if ties and limits:
        yield ""
        yield words(tied(ties))
        yield f"The simplest of them: {name(ties.simplest.plan, ties.simplest.training)}."
        yield words(limited(limits))
        yield from (f"  {MOVES[m.key]}: {words(gained(m.gain, m.per_gpu))}" for m in changes)
        yield from ties.spread.beyond
        yield f"Not searched: micro-batches above {asked.job.largest_micro_batch} sequences."
        yield from _run(asked, found.best[0])
    if why and asked.why:
        yield ""
        yield f"Why not {name(asked.why.plan, asked.why.training)}?"
        yield words(reason(why))


def _run(asked: Asked, best: Candidate) -> Iterator[str]:
    told = _plan(asked, best)
    if "days" in told:
        cost = f", {show(told['cost'], MONEY)}" if "cost" in told else ""
        yield f"The whole run: {show(told['days'] * DAY, SECONDS)}{cost}."
