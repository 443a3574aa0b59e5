"""Settings of a launch script: the flags that its commands hand to a trainer, and launch facts."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.run.importers.dialect import LAUNCH_VARIABLES
from engine.run.importers.import_report import Setting
from engine.run.importers.shell_expansion import Branch, Environment, ShellWord, text_of
from engine.run.importers.shell_records import Command
from engine.run.importers.shell_script import run_script
from engine.run.importers.shell_words import Bit, expansion_at, shell_tokens
from engine.run.importers.unknown_keys import IDLE

# Commands that start no training; their flags are their own.
_TOOLS = frozenset(
    word
    for line in (
        "echo printf cat mkdir ls cp mv rm ln touch chmod cd pwd exit return set shift unset trap",
        "pip pip3 conda mamba apt apt-get yum wget curl git tar unzip sed awk grep tail head tee",
        "sleep kill pkill killall nvidia-smi rocm-smi module source . date hostname which ps wait",
        "huggingface-cli hf aws gsutil gcloud rsync scp jq cut tr wc sort find xargs ulimit test [",
        "scontrol squeue scancel alias type command hash read",
    )
    for word in line.split()
)
# What runs another command: its own flags come before it.
_WRAPPERS = frozenset(
    ("docker", "podman", "singularity", "apptainer", "ray", "uv", "nsys", "ncu", "env", "numactl",
     "time", "nohup", "ssh", "kubectl", "sudo", "timeout", "stdbuf", "pdsh", "poetry")
)  # fmt: skip
_SLURM = ("srun", "sbatch", "salloc", "mpirun", "mpiexec")
LAUNCHERS = ("torchrun", "deepspeed", "accelerate", *_SLURM)
_PROGRAMS = (*LAUNCHERS, "python", "python3", "bash", "sh")
_SHORT = {"-N": "--nodes", "-n": "--ntasks", "-np": "--np", "-G": "--gpus", "-C": "--constraint"}
_LONGEST_LIST = 64
_SBATCH = re.compile(r"^[ \t]*#SBATCH[ \t]+([^\n]{1,300})$", re.MULTILINE)
_ENDS = (";", "&&", "||", "|", "&")


def script_flags(text: str, first_line: int = 1) -> list[Setting]:
    """Return every `--flag value` that a script hands on, and what its variables say of nodes.

    A flag without a value is `True`, the value of one with several words is the list of them.
    A flag in a branch that nothing decides carries the condition.
    """
    settings = list(_slurm(text, first_line))
    script = run_script(text, first_line, _slurm_variables(settings))
    parts = [part for command in script.commands for part in started(command)]
    commands = [_flags(words) for words in parts]
    hydra = any(_is_overridden(words) for words in parts)
    flags = [flag for command_flags in _training(commands, trains=hydra) for flag in command_flags]
    idle = _flags(_unused(script.environment))
    if flags and idle:
        names = {flag.key for flag in flags}
        idle = [_conditional(flag, IDLE) for flag in idle if flag.key not in names]
    idle += _flags(_unused(script.environment, exported=True))
    settings += [*_decided(flags, script.environment.counts), *idle]
    named = {setting.key.replace("-", "_") for setting in settings}
    return [*_variables(script.environment, named), *settings]


def _is_overridden(words: Sequence[ShellWord]) -> bool:
    """Return whether a program that trains is started with `key=value` and no flags."""
    programs = {_program(words, index, "") for index in range(len(words))} - {"", *LAUNCHERS}
    overrides = sum(
        re.match(r"[+]{0,2}[a-z_]+(?:[.][a-z_0-9]+)+=", word.text) is not None for word in words
    )
    return overrides > 1 and bool(programs) and not any(map(trains_nothing, programs))


def _training(commands: Sequence[list[Setting]], *, trains: bool) -> Iterator[list[Setting]]:
    """Yield the flags of the commands that train; of all commands where none is seen to."""
    others = [any(trains_nothing(flag.program) for flag in flags) for flags in commands]
    trains |= any(flags and not other for flags, other in zip(commands, others, strict=True))
    for flags, other in zip(commands, others, strict=True):
        if not (trains and other):
            yield flags


def resolve_variables(text: str) -> str:
    """Return a script with its variables replaced by their last values."""
    environment = run_script(text).environment
    return "\n".join(_resolve_line(line, environment) for line in text.splitlines())


def _resolve_line(line: str, environment: Environment) -> str:
    """Return a line with its variables and sums replaced; a command's output stays unknown."""
    line = line[:40_000]
    resolved, offset = [], 0
    while (start := line.find("$", offset)) >= 0:
        resolved.append(line[offset:start])
        offset = start
        expansion = expansion_at(line, start)
        if expansion is None and line[start + 1 : start + 2] in ("{", "("):
            break  # a bracket without its other one
        kind, inside, length = expansion or ("command", "$", 1)
        offset = start + length
        if kind == "command" or (kind == "variable" and _is_parameter(inside)):
            resolved.append(line[start:offset])
            continue
        value = text_of(environment.expanded(Bit(kind, inside, 0)))
        # Arguments that a variable holds are read where they are assigned.
        resolved.append("" if value.lstrip().startswith("--") else value)
    return "".join(resolved) + line[offset:]


def _is_parameter(inside: str) -> bool:
    """Return whether it is an argument of the script itself, which the text does not say."""
    return re.match(r"[A-Za-z_#!]", inside) is None


# Commands


def started(command: Command) -> Iterator[Sequence[ShellWord]]:
    """Yield what a command starts: its words, and those of a command in quotes."""
    words = list(command.words)
    first = _basename(words[0].text)
    if first in ("eval", "exec"):
        words = words[1:]
    elif first in _WRAPPERS:
        program_index = next((at for at, word in enumerate(words) if _is_program(word)), len(words))
        words = words[program_index:]
    if not words or _basename(words[0].text) in _TOOLS or _is_tool(words):
        return
    plain = [word for word in words if not _is_command(word.text)]
    if plain:
        yield plain
    for word in words:
        if _is_command(word.text):
            for part in _commands(word.inner()):
                yield from started(Command(tuple(part), word.line))


def _commands(words: Sequence[ShellWord]) -> Iterator[list[ShellWord]]:
    """Yield the commands of a text in quotes."""
    part: list[ShellWord] = []
    for word in words:
        end = word.text in _ENDS or word.text.endswith(";")
        if not end or word.text not in _ENDS:
            part.append(ShellWord(word.text.rstrip(";"), word.line, word.branches))
        if end and part:
            yield part
            part = []
    if part:
        yield part


def _is_tool(words: Sequence[ShellWord]) -> bool:
    texts = [word.text for word in words[:4]]
    modules = (["-m", "pip"], ["-m", "venv"], ["-m", "ensurepip"])
    return _basename(texts[0]).startswith("python") and texts[1:3] in modules


def _basename(text: str) -> str:
    return text.rpartition("/")[2]


def _is_program(word: ShellWord) -> bool:
    return _basename(word.text) in _PROGRAMS


def _is_command(text: str) -> bool:
    """Return whether a word is a whole command, as behind `bash -c`."""
    parts = text.split()
    return len(parts) > 1 and any(_basename(part) in _PROGRAMS for part in parts)


def _unused(environment: Environment, *, exported: bool = False) -> list[ShellWord]:
    """Return the words of variables that hold flags and that nothing expands here."""
    words: list[ShellWord] = []
    mine = {name for name in environment.values if (name in environment.exported) is exported}
    names = sorted(mine - environment.used, key=lambda name: environment.lines.get(name, 0))
    for name in names:
        if "--" in text_of(environment.values[name]):
            words += environment.words_of(name)
    return words


# Flags


def _flags(words: Sequence[ShellWord]) -> list[Setting]:
    """Return the flags of a command with their values."""
    flags: list[Setting] = []
    index, program = 0, ""
    while index < len(words):
        word = words[index]
        program = _program(words, index, program)
        index += 1
        key, _, value = word.text.partition("=")
        if program in _SLURM and (short := re.match(r"(-N|-np|-n|-G|-C)(\d*)$", key)):
            key, value = _SHORT[short[1]], short[2] or value
        elif re.fullmatch(r"\$[A-Za-z_]\w*", word.text):
            flags.append(Setting(key=word.text, value="", line=word.line))
            continue
        elif not key.startswith("--") or len(key) < 3:
            continue
        values = [value] if value else []
        while not value and index < len(words) and _is_value(words[index].text):
            if values and words[index].text.startswith("$"):
                break  # what an unknown variable holds behind a value are further arguments
            values.append(words[index].text)
            index += 1
        condition = _condition(word.branches)
        flags.append(
            Setting(
                key=key,
                value=_join_values(values),
                line=word.line,
                condition=condition,
                branches=tuple((branch.identifier, branch.number) for branch in word.branches),
                program=program,
            )
        )
    return flags


def _condition(branches: Sequence[Branch]) -> str:
    return "; ".join(dict.fromkeys(branch.condition for branch in branches))


def _conditional(flag: Setting, condition: str) -> Setting:
    return replace(flag, condition=condition, branches=())


_OVERRIDE = re.compile(r"[+]{0,2}[a-z_]+(?:[.][a-z_0-9]+)+=")
_SUBCOMMANDS = ("swift", "megatron", "trl", "llamafactory-cli", "vllm", "axolotl", "litgpt")
# Programs that train nothing, by a word of their names.
_OTHER_WORK = re.compile(
    r"(?<![a-z])(?:eval|evals|evaluate|evaluation|infer|inference|generate|generation|export|"
    r"convert|converter|merge|preprocess|tokenize|quantize|ptq|serve|server|deploy|predict|"
    r"chat|demo|download|upload|conversion)(?![a-z])"
)


def trains_nothing(program: str) -> bool:
    """Return whether a program's name says that it evaluates, writes or serves."""
    words = re.sub(r"[_.-]|(?<=[a-z])(?=[A-Z])", " ", program).lower()
    return program not in LAUNCHERS and bool(_OTHER_WORK.search(words))


# Launchers by the name of their module, as behind `python -m`.
_MODULES = {
    "torch.distributed.launch": "torchrun",
    "torch.distributed.run": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
}


def _program(words: Sequence[ShellWord], index: int, before: str) -> str:
    """Return whose flags follow a word: of a launcher, of a script or module, or as before."""
    text = words[index].text
    if _is_program(words[index]):
        name = _basename(text)
        return name if name in LAUNCHERS else ""
    if text.endswith(".py"):
        return _basename(text)
    if index and words[index - 1].text in ("-m", "--module"):
        return _MODULES.get(text, text)
    if index == 1 and _basename(words[0].text) in _SUBCOMMANDS and not text.startswith("-"):
        return f"{_basename(words[0].text)} {text}"
    return before


def _join_values(values: Sequence[str]) -> object:
    if not values:
        return True
    return values[0] if len(values) == 1 else list(values[:_LONGEST_LIST])


def _is_value(text: str) -> bool:
    option = re.match(r"--|-[A-Za-z]", text)
    return not option and not text.endswith((".py", ".sh")) and _basename(text) not in _PROGRAMS


def _decided(flags: Sequence[Setting], counts: Mapping[int, int]) -> list[Setting]:
    """Return the flags; one that stands in every branch alike has no condition."""
    branches: dict[tuple[str, str, int], set[int]] = {}
    for flag in flags:
        if len(flag.branches) == 1:
            identifier, number = flag.branches[0]
            branches.setdefault((flag.key, str(flag.value), identifier), set()).add(number)
    certain = {
        key: False
        for key, numbers in branches.items()
        if len(numbers) >= counts.get(key[2], 1 << 30)
    }
    decided: list[Setting] = []
    for flag in flags:
        same = (flag.key, str(flag.value), flag.branches[0][0]) if len(flag.branches) == 1 else None
        if same not in certain:
            decided.append(flag)
        elif not certain[same]:
            certain[same] = True
            decided.append(_conditional(flag, ""))
    return decided


_SLURM_SETS = {
    "--nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "--ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "--ntasks": ("SLURM_NTASKS",),
    "--gpus-per-node": ("SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"),
}


def _slurm_variables(settings: Sequence[Setting]) -> dict[str, tuple[str, int]]:
    """Return the variables that Slurm sets by these options."""
    return {
        name: (str(setting.value), setting.line)
        for setting in settings
        for name in _SLURM_SETS.get(setting.key, ())
    }


def _slurm(text: str, first_line: int) -> Iterator[Setting]:
    """Yield the options of lines such as `#SBATCH --nodes=4`."""
    for match in _SBATCH.finditer(text):
        line = first_line + text.count("\n", 0, match.start())
        words = [ShellWord("srun", line)]
        words += [
            ShellWord(token.text, line) for token in shell_tokens(match[1]) if token.kind == "word"
        ]
        yield from _flags(words)


# Variables that launchers read where no flag says the same, with these flags.
_READ_UNASKED = {
    "NNODES": ("__nnodes", "__num_nodes", "__num_machines", "__nodes"),
    "NPROC_PER_NODE": ("__nproc_per_node", "__num_processes", "__num_gpus", "__gpus_per_node"),
}


def _variables(environment: Environment, flags: Collection[str]) -> Iterator[Setting]:
    """Yield node and process counts that variables of well-known names hold."""
    for name in LAUNCH_VARIABLES:
        value = text_of(environment.values.get(name, []))
        number = re.fullmatch(r"\d[\d,]*", value, re.ASCII)
        unsaid = "$" in value and not set(_READ_UNASKED.get(name, flags)) & set(flags)
        if number or (unsaid and name in _READ_UNASKED):
            yield Setting(key=name, value=value, line=environment.lines.get(name, 0))


_PRINTED = re.compile(r"^.{0,60}?\b([a-z][a-z0-9_]{2,60})\s?\.{3,}\s?(.{0,300})$")


def printed_arguments(text: str, first_line: int = 1) -> list[Setting]:
    """Return the arguments that Megatron prints at its start: `name ........ value`."""
    settings = []
    for number, line in enumerate(text.splitlines(), first_line):
        match = _PRINTED.match(line[:500])
        if match:
            value = match[2].strip()
            settings.append(
                Setting(key="--" + match[1].replace("_", "-"), value=value, line=number)
            )
    return settings
