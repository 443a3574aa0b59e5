"""Settings of a Python script that trains with Hugging Face's Trainer; nothing is executed."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping

from engine.run.importers.import_report import Setting, TextError

_ARGUMENTS = re.compile(
    r"^(Seq2Seq)?TrainingArguments$|^(SFT|DPO|ORPO|CPO|KTO|GRPO|PPO|RLOO|Reward|OnlineDPO|GKD|XPO|"
    r"NashMD|PRM|BCO)Config$"
)
_LORA = {"r": "lora_r", "target_modules": "lora_target_modules", "lora_alpha": "lora_alpha",
         "lora_dropout": "lora_dropout", "use_dora": "use_dora"}  # fmt: skip
_QUANTIZED = {name: name for name in ("load_in_4bit", "load_in_8bit")}
_LOADED = {name: name for name in ("torch_dtype", "dtype", "attn_implementation")}
_LOADED |= {**_QUANTIZED, "max_seq_length": "max_seq_length", "model_name": "model_name_or_path"}
_HANDED = {name: name for name in ("max_seq_length", "packing", "max_length")}
_HANDED |= {"model": "model_name_or_path"}
_LONGEST = 200_000
Constants = Mapping[str, object]


def read_trainer_python(text: str, first_line: int = 1) -> list[Setting]:
    """Return the keywords of the arguments' class, of adapters, of loading and of the trainer.

    Raises:
        TextError: no Python, or two sets of arguments.
    """
    tree = _parse(text, first_line)
    nodes = list(ast.walk(tree))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    constants = _constants(nodes)
    arguments = [call for call in calls if _ARGUMENTS.match(_name(call))]
    if len(arguments) > 1:
        lines = ", ".join(str(first_line + call.lineno - 1) for call in arguments[:8])
        raise TextError(
            f"line {first_line}: {len(arguments)} sets of training arguments (lines {lines}); "
            "paste one of them alone"
        )
    settings: list[Setting] = []
    for call in calls:
        settings += _settings_of(call, constants, first_line)
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


def _settings_of(call: ast.Call, constants: Constants, first: int) -> Iterator[Setting]:
    name = _name(call)
    line = first + call.lineno - 1
    if _ARGUMENTS.match(name):
        yield Setting(key="class", value=name, line=line)
        yield from _keywords(call, constants, first)
    elif name == "LoraConfig":
        yield Setting(key="use_peft", value=True, line=line)
        yield from _renamed(call, constants, first, _LORA)
    elif name == "BitsAndBytesConfig":
        yield from _renamed(call, constants, first, _QUANTIZED)
    elif name == "from_pretrained" and "Model" in _owner(call):
        if call.args:
            model = _value(call.args[0], constants)
            yield Setting(key="model_name_or_path", value=model, line=line)
        yield from _renamed(call, constants, first, _LOADED)
    elif name.endswith("Trainer"):
        yield from _renamed(call, constants, first, _HANDED)


def _renamed(
    call: ast.Call, constants: Constants, first: int, names: Mapping[str, str]
) -> Iterator[Setting]:
    """Yield the keywords of a call that are known, by the names that arguments have."""
    for setting in _keywords(call, constants, first):
        if setting.key in names and not (setting.key == "model" and "/" not in str(setting.value)):
            yield Setting(key=names[setting.key], value=setting.value, line=setting.line)


def _keywords(call: ast.Call, constants: Constants, first: int) -> Iterator[Setting]:
    for word in call.keywords:
        if word.arg is None:
            continue
        line = first + word.value.lineno - 1
        if isinstance(word.value, ast.Dict):
            for key, value in zip(word.value.keys, word.value.values, strict=True):
                if isinstance(key, ast.Constant):
                    inner = f"{word.arg}.{str(key.value)[:80]}"
                    yield Setting(key=inner, value=_value(value, constants), line=line)
        else:
            yield Setting(key=word.arg, value=_value(word.value, constants), line=line)


def _constants(nodes: list[ast.AST]) -> dict[str, object]:
    """Return the names that are assigned one constant, once."""
    constants: dict[str, object] = {}
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if not isinstance(target, ast.Name):
                continue
            if target.id in seen:
                constants.pop(target.id, None)  # assigned twice: not known which
            elif isinstance(node.value, ast.Constant):
                constants[target.id] = node.value.value
            seen.add(target.id)
    return constants


def _value(node: ast.expr, constants: Constants) -> object:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return constants.get(node.id, f"${node.id}")
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(element, constants) for element in node.elts[:256]]
    if isinstance(node, ast.Attribute):
        return _dotted(node)
    return "$expression"


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    head = node.id if isinstance(node, ast.Name) else "$expression"
    return ".".join(reversed([*parts, head]))


def _name(call: ast.Call) -> str:
    return _dotted(call.func).rpartition(".")[2]


def _owner(call: ast.Call) -> str:
    return _dotted(call.func).rpartition(".")[0]
