"""Launch facts of a text: nodes, processes on each, processes in all, whoever starts them.

torchrun, DeepSpeed's and accelerate's launchers, Slurm, MPI, Ray as RL frameworks ask it, and
variables of these names. What the launcher of the processes says goes before what the scheduler
says, and that before a variable. WORLD_SIZE counts processes for torch.distributed and nodes for
many schedulers of clusters, so it counts only where nothing else does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.run.importers.dialect import words
from engine.run.importers.import_report import RunDraft, Setting, positive_number, shorten

_Kind = Literal["nodes", "per_node", "total"]


@dataclass(frozen=True, slots=True)
class _Fact:
    kind: _Kind
    rank: int
    number: int
    line: int
    key: str
    program: str = ""


# name -> (what it counts, rank: a lower one goes first).
_COUNTS: Mapping[str, tuple[_Kind, int]] = {
    "nnodes": ("nodes", 0),
    "num_nodes": ("nodes", 0),
    "num_machines": ("nodes", 0),
    "actor_num_nodes": ("nodes", 0),
    "nodes": ("nodes", 1),
    "NNODES": ("nodes", 2),
    "NUM_NODES": ("nodes", 2),
    "NUM_MACHINES": ("nodes", 2),
    "nproc_per_node": ("per_node", 0),
    "num_gpus": ("per_node", 0),
    "num_gpus_per_node": ("per_node", 0),
    "actor_num_gpus_per_node": ("per_node", 0),
    "gpus_per_node": ("per_node", 1),
    "gres": ("per_node", 1),
    "ntasks_per_node": ("per_node", 2),
    "tasks_per_node": ("per_node", 2),
    "NPROC_PER_NODE": ("per_node", 3),
    "GPUS_PER_NODE": ("per_node", 3),
    "NUM_GPUS_PER_NODE": ("per_node", 3),
    "NGPU": ("per_node", 3),
    "NGPUS": ("per_node", 3),
    "NUM_GPUS": ("per_node", 3),
    "CUDA_VISIBLE_DEVICES": ("per_node", 4),
    "num_processes": ("total", 0),
    "np": ("total", 0),
    "ntasks": ("total", 1),
    "gpus": ("total", 1),
    "WORLD_SIZE": ("total", 2),
}
# Flags that count so for these launchers alone; another program may mean anything by them.
_OF_LAUNCHERS: Mapping[str, frozenset[str]] = {
    "gpus": frozenset(("srun", "sbatch", "salloc")),
    "ntasks": frozenset(("srun", "sbatch", "salloc", "mpirun", "mpiexec")),
    "nodes": frozenset(("srun", "sbatch", "salloc")),
    "np": frozenset(("mpirun", "mpiexec", "srun")),
    "num_processes": frozenset(("accelerate",)),
    "num_gpus": frozenset(("deepspeed",)),
}
# Words that name a GPU, as Slurm's administrators and clouds write them.
_GPU = re.compile(
    r"(?<![a-z0-9])(gb[23]00|[abhv][1-9]00|gh200|h20|l40s?|l4|a40|a30|a10g?|a6000|t4|p100|"
    r"rtx\w{2,12}|mi\d{3}[xa]?)(?![0-9])"
)
_MACHINES = ("gres", "gpus_per_node", "gpus", "constraint", "gpu_type")
# Flags of launchers that say where processes run and talk, not how many there are.
_QUIET = words(
    """node_rank machine_rank master_addr master_port master_ip main_process_ip main_process_port
    rdzv_id rdzv_backend rdzv_endpoint rdzv_conf standalone max_restarts role tee log_dir
    redirects local_addr local_rank hostfile launcher ssh_port force_multi module no_python
    job_name partition account time output error exclusive mem mem_per_cpu cpus_per_task qos
    container_image container_mounts container_workdir mpi label kill_on_bad_exit
    unbuffered cpu_bind ntasks_per_core wait export hint distribution mail_type mail_user
    dependency array chdir open_mode signal requeue comment reservation exclude nodelist wckey
    allow_run_as_root bind_to map_by mca use_env config_file same_network enable_each_rank_log
    no_requeue ntasks_per_gpu segment network threads_per_core cpus_per_gpu working_dir address
    runtime_env_json no_wait overlap export_env container_name no_container_mount_home"""
)
_WHERE = "where processes run and talk to each other, not how many there are"


def take_launch(settings: Sequence[Setting], draft: RunDraft) -> list[Setting]:
    """Note the launch facts among settings of a script; return the other settings."""
    return [setting for setting in settings if not _take(setting, draft)]


def _take(setting: Setting, draft: RunDraft) -> bool:
    """Note a setting if it is a launch fact that holds for certain; return whether it is."""
    name = _name(setting.key)
    if setting.program:
        draft.notes.setdefault("programs", {})[setting.program] = setting.line
    counts = name in _COUNTS and _is_of_launcher(setting, name)
    if setting.condition and (counts or name == "include"):
        return False
    named = _note_machines(setting, name, draft)
    if counts:
        _note(setting, name, draft)
    elif name == "include":
        _note_included(setting, draft)
    elif name in _QUIET or (name == "constraint" and not named):
        draft.report(setting, "without effect", _WHERE)
    else:
        return named
    return True


def _note_machines(setting: Setting, name: str, draft: RunDraft) -> bool:
    """Note GPUs that a flag asks for by name; return whether it does."""
    word = _GPU.search(str(setting.value).lower()) if name in _MACHINES else None
    if word:
        draft.notes.setdefault("GPUs asked for", []).append((word[1], setting))
    return word is not None


def _is_of_launcher(setting: Setting, name: str) -> bool:
    """Return whether a flag counts processes: a launcher's, or of a text that names no program."""
    launchers = _OF_LAUNCHERS.get(name)
    return launchers is None or not setting.program or setting.program in launchers


def is_launch_flag(key: str) -> bool:
    """Return whether a flag belongs to a launcher."""
    return _name(key) in _COUNTS or _name(key) in _QUIET or _name(key) == "include"


def _name(key: str) -> str:
    return key.removeprefix("--").replace("-", "_")


def _note(setting: Setting, name: str, draft: RunDraft) -> None:
    number = _READ.get(name, _plain)(setting.value)
    if number is None and name in ("gres", "CUDA_VISIBLE_DEVICES", "gpus"):
        draft.report(setting, "not known", "no count of GPUs")
    elif number is None:
        reason = f"{shorten(setting.value)} is no whole number"
        draft.report(setting, "not known", reason)
        draft.warnings.append(
            f"{shorten(setting.key)} (line {setting.line}) is {shorten(setting.value)}, which the "
            "text does not say"
        )
    else:
        kind, rank = _COUNTS[name]
        fact = _Fact(kind, rank, number, setting.line, shorten(setting.key), setting.program)
        _facts(draft).append(fact)
        draft.report(setting, "understood", _MEANINGS[kind])


_MEANINGS = {
    "nodes": "how many nodes are launched",
    "per_node": "how many processes are launched on a node",
    "total": "how many processes are launched in all",
}


def _facts(draft: RunDraft) -> list[_Fact]:
    facts: list[_Fact] = draft.notes.setdefault("launch", [])
    return facts


def _plain(value: Any) -> int | None:  # noqa: ANN401
    return positive_number(str(value).partition(":")[0])


def _listed(value: Any) -> int | None:  # noqa: ANN401
    """Return how many devices a list such as 0,1,2,3 names."""
    text = str(",".join(map(str, value)) if isinstance(value, list) else value)
    return len(text.split(",")) if re.fullmatch(r"\d{1,3}(,\d{1,3})*", text) else None


def _resources(value: Any) -> int | None:  # noqa: ANN401
    """Return the GPUs in `gpu:8` or `gpu:h100:8`."""
    match = re.fullmatch(r"gpu(?::[\w.-]+)??:(\d{1,4})(?:\(.*\))?", str(value))
    return int(match[1]) if match and int(match[1]) else None


def _typed(value: Any) -> int | None:  # noqa: ANN401
    """Return the count in `8` or `h100:8`."""
    return positive_number(str(value).rpartition(":")[2])


_READ: Mapping[str, Callable[[Any], int | None]] = {
    "CUDA_VISIBLE_DEVICES": _listed,
    "gres": _resources,
    "gpus_per_node": _typed,
    "gpus": _typed,
    "nodes": lambda value: positive_number(str(value).partition("-")[0]),
}


def _note_included(setting: Setting, draft: RunDraft) -> None:
    """Note DeepSpeed's `--include host1:0,1@host2:0,1`."""
    hosts = str(setting.value).split("@")
    counts = {_listed(host.partition(":")[2]) for host in hosts}
    count = counts.pop() if len(counts) == 1 else None
    if count is None:
        draft.report_not_modeled(setting, "hosts with unlike or unsaid numbers of GPUs")
        return
    _facts(draft).append(_Fact("nodes", 0, len(hosts), setting.line, "--include"))
    _facts(draft).append(_Fact("per_node", 0, count, setting.line, "--include"))
    draft.report(setting, "understood", "nodes and processes on each")


def finish_launch(draft: RunDraft, gpus_per_node: int, gpu: str = "", *, asked: int = 0) -> None:
    """Derive nodes, processes on a node and the world size from the launch facts.

    Args:
        draft: the run so far.
        gpus_per_node: where no text says how many.
        gpu: which is shown.
        asked: GPUs that are asked for beside the text, which go before it; 0: none.
    """
    _compare_machines(draft, gpu)
    _refuse_other_work(draft)
    facts: list[_Fact] = draft.notes.pop("launch", [])
    variable = next((fact for fact in facts if fact.key == "WORLD_SIZE"), None)
    facts = [fact for fact in facts if fact.key != "WORLD_SIZE"]
    noted = draft.notes.get("nodes"), draft.notes.get("per_node")
    actors = [fact for fact in facts if "actor" in fact.key]
    # What a trainer's own keys say goes before the commands that prepare its nodes.
    facts = [] if all(noted) else actors or facts
    decided = {kind: _decide(kind, facts, draft) for kind in _MEANINGS}
    nodes, per_node, total = decided["nodes"], decided["per_node"], decided["total"]
    nodes, per_node = nodes or noted[0], per_node or noted[1]
    if variable and not total:
        nodes, total = _read_variable(variable, nodes, per_node, draft)
    if per_node:
        draft.notes["per_node"] = per_node
    if nodes:
        draft.notes["nodes"] = nodes
    if total and not asked:
        _compare_total(total, draft)
    if total and "parallelism.world_size" not in draft.values:
        _compare_nodes(facts, total, gpus_per_node, draft)
        if nodes and per_node and nodes * per_node != total:
            draft.contradictions.append(
                f"{total} processes are launched in all, and {per_node} on each of {nodes} nodes"
            )
        draft.derive("parallelism.world_size", total, "processes that are launched in all")
    elif nodes and not per_node and "parallelism.world_size" not in draft.values:
        why = f"{nodes} nodes, and no text says how many processes are on each"
        draft.notes["per_node"] = gpus_per_node
        draft.assume("parallelism.world_size", nodes * gpus_per_node, why)


def _refuse_other_work(draft: RunDraft) -> None:
    """Refuse a script whose only programs evaluate, write or serve."""
    named_programs = draft.notes.get("programs", {})
    if not named_programs:
        return
    from engine.run.importers.shell import LAUNCHERS, trains_nothing  # a script has fetched it

    programs = {name: line for name, line in named_programs.items() if name not in LAUNCHERS}
    if programs and all(trains_nothing(name) for name in programs):
        name, line = next(iter(programs.items()))
        draft.contradictions.append(f"line {line}: {shorten(name)}: the text trains nothing")


def _read_variable(
    fact: _Fact, nodes: int | None, per_node: int | None, draft: RunDraft
) -> tuple[int | None, int | None]:
    """Return the nodes and the processes in all, as far as WORLD_SIZE says them."""
    number = fact.number
    if (nodes and per_node) or number in (nodes, per_node):
        if number not in (nodes, (nodes or 1) * (per_node or number)):
            draft.warnings.append(f"WORLD_SIZE (line {fact.line}) is {number}; flags say otherwise")
        return nodes, None
    if per_node and (number < per_node or number % per_node):
        reason = f"WORLD_SIZE (line {fact.line}) is {number}, with {per_node} processes on a node"
        draft.warnings.append(f"{reason}: taken for the number of nodes")
        return number, None
    if number == 1:
        draft.warnings.append(f"WORLD_SIZE (line {fact.line}) is 1 unless a cluster sets it")
        return nodes, None
    return nodes, number


def _compare_nodes(facts: Sequence[_Fact], total: int, gpus_per_node: int, draft: RunDraft) -> None:
    """Refuse processes of one node beside another program's number of nodes."""
    for fact in facts:
        foreign = fact.kind == "nodes" and fact.rank == 0 and fact.program.endswith(".py")
        if foreign and fact.number > 1 and total <= gpus_per_node:
            draft.contradictions.append(
                f"line {fact.line}: {fact.key} says {fact.number} nodes, and {total} processes are "
                "launched: no text says whether in all or on each"
            )


def _compare_machines(draft: RunDraft, gpu: str) -> None:
    """Report GPUs that a text asks for by name; warn where others are shown."""
    for word, setting in draft.notes.pop("GPUs asked for", []):
        if not gpu or gpu.lower().replace("-", "").startswith(word):
            draft.report(setting, "understood", f"asks for the {shorten(gpu)} that is shown")
        else:
            draft.report_not_modeled(setting, f"asks for {word}; {shorten(gpu)} is shown")


def _compare_total(total: int, draft: RunDraft) -> None:
    """Let accelerate's command go before its file; of other texts tell that they disagree."""
    world_size = draft.values.get("parallelism.world_size", total)
    if world_size != total and "accelerate YAML" in draft.dialects:
        del draft.values["parallelism.world_size"]
    elif world_size != total:
        draft.contradictions.append(
            f"{total} processes are launched, and a text says {world_size} GPUs"
        )


def _decide(kind: str, facts: Sequence[_Fact], draft: RunDraft) -> int | None:
    """Return the number of the first rank; numbers that contradict it are named."""
    mine = sorted((fact for fact in facts if fact.kind == kind), key=lambda fact: fact.rank)
    if not mine:
        return None
    first = mine[0]
    for other in mine[1:]:
        same_rank = other.rank == first.rank
        clash = same_rank or (kind == "nodes" and other.rank < 2)
        if clash and other.number != first.number:
            draft.contradictions.append(
                f"line {other.line}: {other.key} says {other.number}, line {first.line} says "
                f"{first.number}: {_MEANINGS[kind]}"
            )
    return first.number
