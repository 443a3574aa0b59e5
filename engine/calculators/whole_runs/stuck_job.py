"""Stuck job: seven runs that hang, what four tools show of each, and whether a diagnosis fits."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Annotated

from engine.core.inputs import Choice, Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, Count, GpuTime, Seconds
from engine.core.views import (
    Axis,
    Badge,
    Cell,
    Challenge,
    Citation,
    Code,
    Condition,
    Lane,
    Span,
    Table,
    Timeline,
)
from engine.simulate.job.stuck_cases import CASES, CAUSES, RANKS, simulate_case
from engine.simulate.job.stuck_job import (
    COMPUTE,
    SYNCHRONIZE,
    WORLD,
    GroupState,
    JobOutcome,
    Work,
)

TITLE = "Stuck job"
QUESTION = "Which rank, which collective, and why?"
HEADLINE = "waiting"
SOURCES = ("pytorch_process_group", "nccl_ras")
_OPEN = {"none": "I do not know yet", **CAUSES}
_RANKS = {"none": "no rank", **{str(rank): f"rank {rank}" for rank in range(RANKS)}}
_WAIT = Unit(" s", 1.0, {"min": 60.0, "h": 3600.0}, quantity=SECONDS)
_SHOWN: Seconds = 1.6  # of the waiting, after the last rank has begun to wait
_JOB = (
    "Eight ranks under data parallelism with two buckets of 25 MiB per step; a simulation, whose "
    "program and lines are made up.",
    "A watchdog counts from the moment at which its rank issued the collective.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    run: Annotated[
        str, Choice(label="Run", cites=False, options={key: f"run {key}" for key in CASES})
    ] = "1"
    diagnosis: Annotated[str, Choice(label="Cause", options=_OPEN)] = "none"
    culprit: Annotated[str, Choice(label="Rank at fault", options=_RANKS)] = "none"
    timeout: Annotated[
        float,
        Number(
            label="Timeout",
            unit=_WAIT,
            low=10.0,
            high=7200.0,
            scale="log",
            help="Of collectives: init_process_group(timeout=...). 10 minutes is PyTorch's default "
            "with NCCL.",
        ),
    ] = 600.0
    num_gpus: Annotated[
        int,
        Number(
            label="GPUs of the real job",
            low=8,
            high=131_072,
            whole=True,
            scale="log",
            help="Eight are simulated; the wait is the same.",
        ),
    ] = 1024


def _output(label: str, meaning: str, *, note: str = "", color: str = "ink") -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=(meaning, *_JOB),
        sources=SOURCES,
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The run with its evidence."""

    outcome: JobOutcome
    waiting: Annotated[
        Count, _output("Ranks that wait in a collective", "When the watchdog fires, or at the end.")
    ]
    silent: Annotated[
        Count,
        _output(
            "Ranks of which the watchdog says nothing",
            "They have no collective outstanding, or no process.",
        ),
    ]
    fired: Annotated[
        Seconds, _output("The watchdog fires after", "Since the start; the first one of all ranks.")
    ]
    idle: Annotated[
        Seconds, _output("Standing still", "From the last completed collective to the watchdog.")
    ]
    lost: Annotated[
        GpuTime,
        _output(
            "Lost until the watchdog fires",
            "The time that the job stands still, on all GPUs of the real job.",
            color="communication",
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the run, and what is lost until its watchdog fires."""
    outcome = simulate_case(inputs.run, inputs.timeout)
    waits = [rank for rank in range(RANKS) if _open_group(outcome, rank)]
    hangs = outcome.fired < inf
    idle = outcome.fired - outcome.stalled if hangs else 0.0
    return Result(
        outcome=outcome,
        waiting=len(waits),
        silent=RANKS - len(waits),
        fired=outcome.end,
        idle=idle,
        lost=idle * inputs.num_gpus,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    outcome = result.outcome
    return {
        "timeline": partial(_timeline, outcome),
        "verdict": _verdict(present, inputs, result),
        **present.values("waiting", "silent", "idle", "lost"),
        "watchdog": partial(_watchdog, inputs, outcome),
        "recorder": partial(_recorder, outcome),
        "ras": partial(_ras, outcome),
        "causes": _causes,
        "challenge": partial(_challenge, inputs),
    }


def _open_group(outcome: JobOutcome, rank: Count) -> GroupState | None:
    """Return the group in which a living rank waits."""
    if rank in outcome.dead:
        return None
    return next((state for state in outcome.groups(rank) if state.waiting), None)


def _timeline(outcome: JobOutcome) -> Timeline:
    waits = [span.start for spans in outcome.hosts for span in spans if span.end == inf]
    last = max(waits, default=outcome.stalled) + _SHOWN
    high = min(last, outcome.end)
    return Timeline(
        title="What each rank's GPU does",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        lanes=tuple(Lane(key=f"{rank}", label=f"rank {rank}") for rank in range(RANKS)),
        spans=tuple(_spans(outcome, high)),
        caption="Orange: the rank waits in a collective. Grey: its GPU does nothing.",
    )


def _spans(outcome: JobOutcome, high: Seconds) -> Iterator[Span]:
    for rank, hosts in enumerate(outcome.hosts):
        for number, span in enumerate(hosts):
            start, end = span.start, min(span.end, high)
            kind = span.operation.kind
            if kind not in (COMPUTE, SYNCHRONIZE) or end - start < 1e-9:
                continue
            waits = kind == SYNCHRONIZE
            works = [work for work in outcome.works[rank] if work.end > start >= work.issued]
            name = f"{works[0].operation.name} {works[0].sequence}" if waits and works else ""
            yield Span(
                key=f"{rank}.{number}",
                lane=f"{rank}",
                start=start,
                end=end,
                label=name.lower().replace("allreduce", "all-reduce") if waits else "computes",
                color="communication" if waits else "compute",
                exposed=waits,
            )


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    case, outcome = CASES[inputs.run], result.outcome
    if outcome.fired == inf:
        words = "With this timeout, the watchdog does not fire: the run goes on after {fired}."
        return Badge(text="It goes on", sentence=present.say(words), color="compute")
    if inputs.diagnosis == "none":
        words = "{waiting} of 8 ranks wait in a collective. What are the others doing, and why?"
        if not result.silent:
            words = "All 8 ranks wait in a collective. Which one, and why does it not end?"
        return Badge(text="Unsolved", sentence=present.say(words))
    if inputs.diagnosis != case.cause:
        return Badge(
            text="Not this cause", sentence=f"It would look different: {_LOOKS[inputs.diagnosis]}"
        )
    named = frozenset() if inputs.culprit == "none" else frozenset({int(inputs.culprit)})
    if named != case.ranks:
        words = "The cause is right. The rank is not: compare what the ranks wait for."
        return Badge(text="Half of it", sentence=words, color="communication")
    return Badge(text="Right", sentence=case.repair, color="compute")


def _watchdog(inputs: Inputs, outcome: JobOutcome) -> Code:
    timeout = f"{inputs.timeout * 1000:.0f}"
    alike: dict[str, list[Count]] = {}
    for rank in range(RANKS) if outcome.fired < inf else ():
        state = _open_group(outcome, rank)
        if state and state.waiting:
            alike.setdefault(_watchdog_lines(state, state.waiting, timeout), []).append(rank)
    parts = [
        words.replace("RANK", f"{ranks[0]}")
        + (f"\n(and the same of ranks {', '.join(map(str, ranks[1:]))})" if ranks[1:] else "")
        for words, ranks in alike.items()
    ]
    return Code(
        title="The log: two lines per rank whose watchdog fires",
        language="text",
        text="\n\n".join(parts) or "(no watchdog fires)",
    )


def _watchdog_lines(state: GroupState, work: Work, timeout: str) -> str:
    call = work.operation
    return (
        "[rankRANK]: [Rank RANK] Watchdog caught collective operation timeout: "
        f"WorkNCCL(SeqNum={work.sequence}, OpType={call.name}, NumelIn={call.elements}, "
        f"NumelOut={call.elements}, Timeout(ms)={timeout}) ran for {timeout} milliseconds before "
        "timing out.\n"
        f"[rankRANK]: [PG GUID {_group_number(state)}({state.group}) Rank RANK] failure detected "
        f"by watchdog at work sequence id: {work.sequence} PG status: last enqueued work: "
        f"{state.issued}, last completed work: {state.completed}"
    )


def _group_number(state: GroupState) -> Count:
    return 0 if state.group == WORLD else 1


def _recorder(outcome: JobOutcome) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for rank in range(RANKS):
        if rank in outcome.dead:
            rows.append((f"{rank}", "no dump", "", "", "", "", "no such process"))
        else:
            rows += [_recorder_row(outcome, rank, state) for state in outcome.groups(rank)]
    return Table(
        title="Flight Recorder and py-spy, rank by rank",
        columns=("Rank", "Group", "Issued", "Completed", "Waits in", "Elements", "Python is in"),
        rows=tuple(rows),
    )


def _recorder_row(outcome: JobOutcome, rank: Count, state: GroupState) -> tuple[Cell, ...]:
    call = state.waiting.operation if state.waiting else None
    return (
        f"{rank}",
        state.group,
        f"{state.issued}",
        f"{state.completed}",
        f"{state.completed + 1} {call.name}" if call else "none",
        f"{call.elements:,}" if call else "",
        outcome.frame(rank),
    )


def _ras(outcome: JobOutcome) -> Code:
    works = [
        work for rank_works in outcome.works for work in rank_works if work.issued <= outcome.end
    ]
    groups = dict.fromkeys(work.operation.group for work in works)
    head, body = [], []
    for number, group in enumerate(groups):
        problems = list(_ras_problems(outcome, group))
        errors = [words for words in ("INCOMPLETE", "MISMATCH")
                  if any(problem.startswith(words) for problem in problems)]  # fmt: skip
        present = RANKS - len(outcome.dead)
        head.append(f"{number:>6}{1:>10}{1:>10}{present:>10}{8:>10}{8:>10}{'RUNNING':>10}  "
                    f"{','.join(errors) or 'OK'}")  # fmt: skip
        body += [
            f"#{number}-0 ({0xCF264AF53EDBE986 + number:016x}) {problem}" for problem in problems
        ]
    text = (
        " Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
        "     #  in group  per comm  per node  per comm  in group\n" + "\n".join(head)
    )
    return Code(
        title="ncclras, asked a minute into the wait",
        language="text",
        text="\n\n".join([text, *body]),
    )


def _ras_problems(outcome: JobOutcome, group: str) -> Iterator[str]:
    """Yield what RAS prints below the table of a communicator."""
    dead = sorted(outcome.dead)
    if dead:
        yield (
            f"INCOMPLETE\n  Missing communicator data from {len(dead)} rank"
            f"{'s' if len(dead) > 1 else ''}\n  The missing rank: {dead[0]}"
        )
    for name in ("Broadcast", "AllReduce"):
        counts = {
            rank: sum(
                (work.operation.group, work.operation.name) == (group, name.upper())
                for work in outcome.works[rank]
                if work.issued <= outcome.end
            )
            for rank in range(RANKS)
            if rank not in outcome.dead
        }
        values = Counter(counts.values()).most_common()
        if len(values) > 1:
            head = f"MISMATCH\n  Communicator ranks have different {name} operation counts"
            yield "\n".join([head, *(_ras_line(counts, value) for value, _ in values)])


def _ras_line(counts: dict[Count, Count], value: Count) -> str:
    ranks = [rank for rank, count in counts.items() if count == value]
    progress = f"launched up to operation {value}" if value else "not launched any operations"
    if len(ranks) > 1:
        return f"  {len(ranks)} ranks have {progress}"
    return (
        f"  Rank {ranks[0]} has {progress} -- GPU {ranks[0]} managed by process "
        f"{483072 + ranks[0]} on node 172.16.64.210"
    )


_LOOKS = {
    "uneven": "one rank has left the loop and waits in another collective of the same number, "
    "usually one of evaluation, with another size.",
    "order": "ranks that wait in the same number name another type, or ranks wait in two groups "
    "for each other.",
    "dead": "one rank has no process, no dump and no line of the watchdog.",
    "host": "one rank has issued fewer collectives, has none outstanding, and its Python thread "
    "is in a loader or a file.",
    "network": "all ranks have issued the same, and all wait in the same collective.",
}
_CAUSES = {
    "uneven": ("last lines with another size", "a rank with another size", "different counts",
               "one rank past the loop", "drop_last, the same steps on each rank, Join"),
    "order": ("the same number, two types", "two types, or two groups", "different counts by type",
              "one rank in another branch", "no collective under if rank == 0"),
    "dead": ("nothing of one rank", "one dump is missing", "INCOMPLETE, later DEAD",
             "no process", "dmesg: out of memory, Xid; restart without the node"),
    "host": ("nothing of one rank", "one rank issued fewer", "different counts",
             "next(loader), torch.save, a lock", "df -h, /dev/shm, fewer files; a longer timeout"),
    "network": ("the same line of all", "all the same", "OK, and no progress",
                "all in the same line", "NCCL_DEBUG=INFO, nccl-tests, port counters"),
}  # fmt: skip


def _causes() -> Table:
    rows: list[tuple[Cell, ...]] = [
        (CAUSES[key], *words, Citation(("pytorch_process_group", "nccl_ras")))
        for key, words in _CAUSES.items()
    ]
    return Table(
        title="Five causes, and what each tool shows of them",
        columns=("Cause", "Watchdog", "Flight Recorder", "RAS", "Stack", "Fix", "Source"),
        rows=tuple(rows),
    )


def _challenge(inputs: Inputs) -> Challenge:
    case = CASES["6"]
    return Challenge(
        title="Challenge: two groups",
        goal="In run 6, all eight ranks are alive and all wait in a collective, and no collective "
        "has the wrong size. Name the cause and the rank.",
        conditions=(
            Condition(text="run 6", met=inputs.run == "6"),
            Condition(text="the right cause", met=inputs.diagnosis == case.cause),
            Condition(text="the right rank", met=inputs.culprit in {str(r) for r in case.ranks}),
        ),
        hints=(
            "Look at the column of the group.",
            "Seven ranks wait for the eighth in one group. For whom does the eighth wait?",
        ),
        start={"run": "6"},
        solution={"run": "6", "diagnosis": "order", "culprit": "4"},
    )
