"""Settings of NeMo 2: a recipe with its parameters, what is assigned to it, and overrides.

Nothing is executed: of Python, calls and assignments are read; a name stands for a constant if the
text gives it one alone, a parameter for its default.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.run.importers.import_report import Setting, TextError
from engine.run.importers.shell import resolve_variables
from engine.run.importers.yaml_text import parse_scalar

_LONGEST = 200_000
_ROOTS = ("trainer", "data", "model", "optim", "peft", "log", "resume", "tokenizer")
_REPLACED = ("trainer", "model")  # whose functions set what memory depends on
_SPARED = ("Config", "Partial")  # nemo_run's, whose first argument is the class
# Classes whose keywords are settings, by the path that a recipe has them under.
_CLASSES = (
    (r"MegatronStrategy$", "trainer.strategy"),
    (r"Trainer$", "trainer"),
    (r"\w*DataModule$", "data"),
    (r"DistributedDataParallelConfig$", "trainer.strategy.ddp"),
    (r"OptimizerConfig$", "optim.config"),
    (r"MegatronCommOverlapCallback$", "trainer.comm_overlap"),
    (r"MegatronMixedPrecision$", "trainer.plugins"),
    (r"LoRA$", "peft"),
    (r"\w+Config(?:Mini|\d\w*)?$", "model.config"),
)
_NO_MODEL = re.compile(r"(Run|Restore|Logger|Slurm|Executor|Checkpoint|Tokenizer|Sequence|Packed)")
_RECIPE = re.compile(r"(?:^|\.)(\w+)\.(pretrain|finetune)_recipe$")
_FACTORY = re.compile(
    r"\bnemo\s+llm\s+(pretrain|finetune)\b[^\n]*?--factory[ =][\"']?(\w+)(?:\(([^)\n]{0,300})\))?"
)
_OVERRIDE = re.compile(
    r"(?:^|(?<=[\s\"']))((?:trainer|data|model|optim|peft|log|resume)(?:\.[A-Za-z_]\w*)*)\s?="
    r"(?!=)(\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|\[[^\]\n]{0,300}\]|[^\s\\\"']{1,300})"
)
ARGUMENTS = "args"  # what scripts call what argparse returns
# What a text may have once, by the key that says it is there.
_ALONE = {
    "recipe": "recipes",
    "model.config": "models",
    "trainer.class": "trainers",
    "trainer.strategy.class": "strategies",
    "data.class": "data modules",
}
# Functions that take a recipe and leave it as it is.
_KEEPS = re.compile(
    r"run|add|print|pprint|main|str|repr|build|dryrun|deepcopy|len|Partial|partial|"
)
Names = Mapping[str, object]
# Parameters of NeMo's set_primary_perf_configs behind the recipe and the task, in order, with the
# paths that it assigns (8cfedd72, scripts/performance/helpers.py:424).
PERFORMANCE = "set_primary_perf_configs"
_S = "trainer.strategy."
_PERFORMANCE: Mapping[str, str] = {
    "num_nodes": "trainer.num_nodes",
    "num_gpus_per_node": "trainer.devices",
    "mbs": "data.micro_batch_size",
    "gbs": "data.global_batch_size",
    "max_steps": "trainer.max_steps",
    "tp_size": f"{_S}tensor_model_parallel_size",
    "pp_size": f"{_S}pipeline_model_parallel_size",
    "cp_size": f"{_S}context_parallel_size",
    "vp_size": f"{_S}virtual_pipeline_model_parallel_size",
    "ep_size": f"{_S}expert_model_parallel_size",
    "etp_size": f"{_S}expert_tensor_parallel_size",
    "enable_cuda_graphs": "model.config.enable_cuda_graph",
    "use_mcore_fsdp": "trainer.strategy.fsdp",
    "activation_offload_layers": "model.config.cpu_offloading_num_layers",
    "recompute_modules": "model.config.recompute_modules",
    "recompute_layers": "model.config.recompute_num_layers",
    "compute_dtype": "trainer.plugins",
}


# Values of these parameters that leave a recipe as it is.
_OFF: Names = {
    "vp_size": 1,
    "recompute_layers": 0,
    "activation_offload_layers": 0,
    "use_mcore_fsdp": False,
}


def read_command(text: str, first_line: int) -> list[Setting]:
    """Return the factory of `nemo llm pretrain --factory NAME` and its overrides."""
    settings: list[Setting] = []
    joined = resolve_variables(re.sub(r"\\\n", "  ", text))
    if match := _FACTORY.search(joined):
        line = first_line + text[: max(0, text.find(match[2]))].count("\n")
        settings.append(Setting(key="recipe", value=f"{match[2]}.{match[1]}_recipe", line=line))
        for pair in (match[3] or "").split(","):
            name, equal, value = pair.partition("=")
            if equal:
                key = f"recipe.{name.strip()}"
                scalar = parse_scalar(value.strip().strip("\"'"))
                settings.append(Setting(key=key, value=scalar, line=line))
    for number, line_text in enumerate(resolve_variables(text).splitlines(), first_line):
        code = re.sub(r"(^|\s)#.*$", " ", line_text[:40_000])
        settings += [
            Setting(key=match[1], value=parse_scalar(match[2].strip("\"'")), line=number)
            for match in _OVERRIDE.finditer(code)
        ]
    return settings


def read_nemo2_python(text: str, first_line: int) -> list[Setting]:
    """Return the settings of a Python text.

    Raises:
        TextError: no Python, or several recipes.
    """
    tree = _parse(text, first_line)
    nodes = list(ast.walk(tree))
    names = _constants(nodes)
    scopes = _scopes(nodes, names)
    branches = _open_branches(nodes, first_line)
    recipes = _recipes(nodes)
    settings = [
        replace(read, condition=branches.get(id(node), ""))
        for node in nodes
        for read in _settings(node, scopes.get(id(node), names), first_line, recipes)
    ]
    for path, kind in _ALONE.items():
        lines = [read.line for read in settings if read.key == path]
        if len(lines) > 1:
            raise TextError(
                f"line {first_line}: {len(lines)} {kind}, in lines "
                f"{', '.join(str(line) for line in sorted(lines)[:8])}; paste the text with one of "
                "them alone"
            )
    used = re.findall(rf"=[ \t]*({ARGUMENTS}\.\w+)", text)
    if any(name in names for name in used):
        settings.append(Setting(key=ARGUMENTS, value="their defaults", line=first_line))
    return sorted(settings, key=lambda setting: setting.line)


def _parse(text: str, first_line: int) -> ast.Module:
    if len(text) > _LONGEST or re.search(r"[-+~]{100}|[(\[{]{60}", text):
        raise TextError(f"line {first_line}: too long or too deeply nested to be read as Python")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        line = first_line + (error.lineno or 1) - 1
        raise TextError(f"line {line}, column {error.offset or 1}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise TextError(f"line {first_line}: this cannot be read as Python") from None


def _constants(nodes: list[ast.AST]) -> dict[str, object]:
    """Return names with one constant: assigned, or an argument of the command line."""
    values_by_name: dict[str, list[object]] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and ".recipes." in f"{node.module}.":
            for imported in node.names:
                recipe = f"{(node.module or '').rpartition('.')[2]}.{imported.name}"
                values_by_name.setdefault(f"import {imported.asname or imported.name}", []).append(
                    recipe
                )
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values_by_name.setdefault(node.targets[0].id, []).append(_value(node.value, {}))
        for name, default in _argument(node):
            values_by_name.setdefault(name, []).append(default)
    return _sole(values_by_name)


def _sole(values_by_name: Mapping[str, list[object]]) -> dict[str, object]:
    return {
        name: values[0]
        for name, values in values_by_name.items()
        if all(value == values[0] for value in values) and not str(values[0]).startswith("$")
    }


def _parameters(
    function: ast.FunctionDef, calls: list[ast.Call], names: Names
) -> dict[str, object]:
    """Return a function's parameters: what every call here hands it, or its defaults."""
    named = [argument.arg for argument in function.args.args]
    defaults = function.args.defaults
    unsaid = dict(zip(named[len(named) - len(defaults) :], defaults, strict=True))
    called: dict[str, list[object]] = {}
    for call in calls:
        handed = dict(zip(named, call.args, strict=False))
        handed |= {word.arg: word.value for word in call.keywords if word.arg is not None}
        for name, value in (unsaid | handed).items():
            called.setdefault(name, []).append(_value(value, names))
    return _sole(called or {name: [_value(value, names)] for name, value in unsaid.items()})


def _scopes(nodes: list[ast.AST], names: Names) -> dict[int, Names]:
    """Return the names that hold in functions, by node; parameters before what is outside."""
    scopes: dict[int, Names] = {}
    calls: dict[str, list[ast.Call]] = {}
    for node in nodes:
        if isinstance(node, ast.Call):
            calls.setdefault(_dotted(node.func), []).append(node)
    for function in nodes:
        if isinstance(function, ast.FunctionDef):
            hidden = {argument.arg for argument in function.args.args}
            outside = {name: value for name, value in names.items() if name not in hidden}
            inside = outside | _parameters(function, calls.get(function.name, []), names)
            scopes |= {id(inner): inside for inner in ast.walk(function)}
    return scopes


def _argument(node: ast.AST) -> Iterator[tuple[str, object]]:
    """Yield the default of a command-line argument, as the name that argparse gives it."""
    if not (isinstance(node, ast.Call) and _dotted(node.func).endswith(".add_argument")):
        return
    flags = [_value(flag, {}) for flag in node.args]
    default = [_value(word.value, {}) for word in node.keywords if word.arg == "default"]
    for flag in flags:
        if default and isinstance(flag, str) and flag.startswith("--"):
            yield f"{ARGUMENTS}.{flag[2:].replace('-', '_')}", default[0]


def _recipes(nodes: list[ast.AST]) -> frozenset[str]:
    """Return the names that a recipe is assigned to."""
    return frozenset(
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and _dotted(node.value.func).endswith("_recipe")
    ) | {"recipe"}


def _settings(
    node: ast.AST, names: Names, first: int, recipes: frozenset[str]
) -> Iterator[Setting]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value, names, first, recipes)
    elif isinstance(node, ast.Call):
        yield from _called(node, names, first)
        yield from _changed(node, names, first, recipes)


def _changed(
    node: ast.Call, names: Names, first: int, recipes: frozenset[str]
) -> Iterator[Setting]:
    """Yield what a function that takes a recipe does to it, or that it may change it."""
    last, line = _dotted(node.func).rpartition(".")[2], first + node.lineno - 1
    handed = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
    handed += [word.value.id for word in node.keywords if isinstance(word.value, ast.Name)]
    if last == PERFORMANCE:
        yield from _performance(node, names, first)
    elif recipes & set(handed) and not _KEEPS.fullmatch(last) and last not in _SPARED:
        yield Setting(key="recipe.changed", value=f"{last}()", line=line)


def _performance(node: ast.Call, names: Names, first: int) -> Iterator[Setting]:
    """Yield what NeMo's function for the usual choices of performance assigns."""
    order = list(_PERFORMANCE)[: list(_PERFORMANCE).index("enable_cuda_graphs")]
    nodes = dict(zip(order, node.args[2:], strict=False))
    nodes |= {word.arg: word.value for word in node.keywords if word.arg is not None}
    line = first + node.lineno - 1
    arguments = {name: _value(value, names) for name, value in nodes.items()}
    kind, blocks = arguments.pop("compute_dtype", None), arguments.get("fp8_recipe")
    if kind is not None:
        word = f"bf16_with_fp8_{blocks}_mixed()" if kind == "fp8" else f"{kind}_mixed"
        yield Setting(key="trainer.plugins", value=word, line=line)
    tensor = arguments.get("tp_size")
    if isinstance(tensor, int):
        yield Setting(key=f"{_S}sequence_parallel", value=tensor > 1, line=line)
    if arguments.get("recompute_layers") not in (None, 0):
        yield Setting(key="model.config.recompute_granularity", value="full", line=line)
        yield Setting(key="model.config.recompute_method", value="block", line=line)
    elif arguments.get("recompute_modules"):
        yield Setting(key="model.config.recompute_granularity", value="selective", line=line)
    for name, value in arguments.items():
        unset = value is None or (name in _OFF and value == _OFF[name])
        if name in _PERFORMANCE and not unset:
            yield Setting(key=_PERFORMANCE[name], value=value, line=line)


def _open_branches(nodes: list[ast.AST], first: int) -> dict[int, str]:
    """Return the nodes in branches and loops that nothing here decides, with their conditions."""
    conditions: dict[int, str] = {}
    for node in nodes:
        if id(node) in conditions:
            continue
        if isinstance(node, ast.If | ast.For | ast.While | ast.IfExp):
            if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
                continue
            condition = f"the branch in line {first + node.lineno - 1} is taken"
            conditions |= {id(inner): condition for inner in ast.walk(node) if inner is not node}
    return conditions


def _assigned(
    target: ast.expr, value: ast.expr, names: Names, first: int, recipes: frozenset[str]
) -> Iterator[Setting]:
    owner, _, path = _dotted(target).partition(".")
    line = first + value.lineno - 1
    if path in _REPLACED and owner in recipes and isinstance(value, ast.Call):
        name = _class_of(value).rpartition(".")[2]
        if not any(re.match(pattern, name) for pattern, _ in _CLASSES):
            yield Setting(key=path, value=f"{name or 'expression'}()", line=line)
    elif path.partition(".")[0] in _ROOTS and "." in path:
        yield from _pair(path, value, line, names)


def _pair(key: str, value: ast.expr, line: int, names: Names) -> Iterator[Setting]:
    """Yield a key with its value; a call of a class that is known is read where it stands."""
    if not isinstance(value, ast.Call):
        yield Setting(key=key, value=_value(value, names), line=line)
        return
    name = _class_of(value).rpartition(".")[2]
    known = any(re.match(pattern, name) for pattern, _ in _CLASSES)
    if key == "trainer.plugins" and not known:
        yield Setting(key=key, value=f"{name}()", line=line)
    elif not known and _dotted(value.func).rpartition(".")[2] not in _SPARED:
        yield Setting(key=key, value=f"${name or 'expression'}()", line=line)


def _called(node: ast.Call, names: Names, first: int) -> Iterator[Setting]:
    line = first + node.lineno - 1
    name = _class_of(node)
    name = str(names.get(f"import {name}", name))
    if match := _RECIPE.search(name):
        yield Setting(key="recipe", value=f"{match[1]}.{match[2]}_recipe", line=line)
        yield from _keywords(node, "recipe", names, first)
        return
    last = name.rpartition(".")[2]
    path = next((path for pattern, path in _CLASSES if re.match(pattern, last)), "")
    if path == "model.config" and (not last[:1].isupper() or _NO_MODEL.search(last)):
        return
    if path in ("model.config", "peft"):
        yield Setting(key=path, value=last, line=line)
    elif f"{path}.class" in _ALONE:
        yield Setting(key=f"{path}.class", value=last, line=line)
    if path:
        yield from _keywords(node, path, names, first)


def _class_of(node: ast.Call) -> str:
    """Return what is called, or what nemo_run or `partial` is to call."""
    name, inner = _dotted(node.func), node.args
    if name.rpartition(".")[2] in _SPARED:
        return _dotted(inner[0]) if inner else ""
    if isinstance(node.func, ast.Call):  # partial(llm.llama3_8b.pretrain_recipe)()
        return _dotted(node.func.args[0]) if node.func.args else ""
    return name


def _keywords(node: ast.Call, path: str, names: Names, first: int) -> Iterator[Setting]:
    for word in node.keywords:
        if word.arg is not None:
            line = first + word.value.lineno - 1
            yield from _pair(f"{path}.{word.arg}", word.value, line, names)


def _value(node: ast.expr, names: Names) -> object:
    """Return a constant, a list of them, a product, or `$` and what cannot be told."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id, f"${node.id}")
    if isinstance(node, ast.Attribute) and _dotted(node) in names:
        return names[_dotted(node)]
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(element, names) for element in node.elts[:256]]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _value(node.left, names), _value(node.right, names)
        if isinstance(left, int) and isinstance(right, int) and max(left, right) < 10**9:
            return left * right
    return f"${_dotted(node) or 'expression'}"


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""
