"""Rows of "One change, one place" in CONTRIBUTING.md, done in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from builder.cli import new_files
from tests.layers import ROOT

ROWS = [line for line in (ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()
        if line.startswith("| ")]  # fmt: skip
NAMED = re.compile(
    r"`(?:python -m (tests[\w.]+)[^`]*|([\w./-]+(?:\.(?:py|js|toml|tsv|md|html)|/)))`"
)
LEFT_OUT = shutil.ignore_patterns(".*", "site", "node_modules", "__pycache__")
FOLDERS = ("engine", "builder", "content", "tests", "theme")
FILES = ("build.py", "pyproject.toml", "site.toml", "packages.lock.json")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    for name in FILES:
        shutil.copy2(ROOT / name, folder / name)
    return folder


def stamps(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


@pytest.fixture
def copy(whole):
    """The copy, which is afterwards as it was."""
    before = stamps(whole)
    yield whole
    for path, stamp in stamps(whole).items():
        if path not in before:
            path.unlink()
        elif before[path] != stamp:
            shutil.copy2(ROOT / path.relative_to(whole), path)


def run(copy, *words):
    command = [sys.executable, *words]
    variables = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        command, cwd=copy, env=variables, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def attempt(copy, *tests):
    return run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


def check(copy, *tests):
    status, said = attempt(copy, *tests)
    assert status == 0, said


def insert(path, before, text):
    whole = path.read_text("utf-8")
    assert before in whole
    path.write_text(whole.replace(before, text + before, 1), "utf-8")


def missing(row):
    """Yield what a row names and nobody finds: from the root, or beside what it named before."""
    folders = [ROOT]
    for module, name in NAMED.findall(row):
        path = name or module.replace(".", "/")
        if re.search("[A-Z]{3}", path) or path.startswith("/"):
            continue  # a name to be chosen, an address
        found = [folder / path for folder in folders if (folder / path).exists()]
        if module:
            found += [one for one in (ROOT / path, ROOT / f"{path}.py") if one.exists()]
        if not found:
            yield path
        folders += [one if one.is_dir() else one.parent for one in found]


def test_every_file_and_folder_that_a_row_names_is_there():
    changes = ROWS[: next(at for at, row in enumerate(ROWS) if row.startswith("| term"))]
    assert len(changes) > 35
    assert [(path, row[:40]) for row in changes for path in missing(row)] == []
    assert [*missing("| a | `engine/core/no_such.py`, `python -m tests.no_such --new` |")] == [
        "engine/core/no_such.py",
        "tests/no_such",
    ]


APPROVED = "tests/engine/calculators/test_approved.py"


def test_a_new_calculator_is_green_at_once_and_a_changed_number_names_what_approves_it(copy):
    status, said = run(copy, "build.py", "new", "calculator", "moving_bytes/chain_lab")
    assert status == 0, said
    assert "approved its numbers" in said
    own = "tests/engine/calculators/moving_bytes/test_chain_lab.py"
    check(copy, own, APPROVED, "-k", "chain_lab or no_longer")
    path = copy / "engine/calculators/moving_bytes/chain_lab.py"
    text = path.read_text("utf-8")
    changed = re.sub(r"(\] = )\d+\.0", r"\g<1>3.0", text)
    assert changed != text
    path.write_text(changed, "utf-8")
    status, said = attempt(copy, APPROVED, "-k", "chain_lab")
    assert status == 1
    assert re.search(r"chain_lab, defaults, \w+: [\d.e-]+ -> [\d.e-]+", said)
    assert "If every change is meant: python -m tests.engine.calculators.approved chain_lab" in said


def test_a_new_guide_is_one_file(live):
    (path,) = new_files.make_files(live.root, "guide", "two-cables", "engine")
    text = path.read_text("utf-8").replace("draft = true\n", "")
    path.write_text(f"{text}\nIt takes [[speed.time]].\n", "utf-8")
    built = live.build()
    assert built.problems == ()
    page = built.output["guides/two-cables/index.html"].decode()
    assert 'href="receipts/#receipt-speed-time">2.00 ms</a>' in page
    path.write_text(f"{text}\nIt takes [[speed.tme]].\n", "utf-8")
    line = len(text.splitlines()) + 2
    assert live.problems()[0].startswith(f"content/guides/two-cables.md:{line}: ")


@pytest.mark.left_to_all("the tests of its tables; a new calculator is made in a copy here")
def test_a_gpu_is_a_row_in_three_tables(copy):
    catalog = copy / "engine/catalog"
    row = '"H200-NVL": _hopper("H200 NVL", 139.72 * GiB, 4.8 * TB, 450 * GB, "nvidia_h200"),\n    '
    insert(catalog / "accelerators.py", '"H200-SXM": _hopper(', row)
    tests = [f"tests/engine/catalog/test_{name}.py" for name in ("constants", "hardware")]
    status, said = attempt(copy, *tests)
    assert status == 1
    assert "add a row to ACHIEVED in engine/catalog/constants.py" in said
    assert "add a row to DEVICE_MEMORY in engine/catalog/device_memory.py" in said
    insert(catalog / "constants.py", '"H200 SXM": _HOPPER', '"H200 NVL": _HOPPER,\n    ')
    evidence = re.search(
        r'    "H200-SXM": .*?\),\n', (catalog / "device_memory.py").read_text("utf-8"), re.DOTALL
    )[0]
    insert(
        catalog / "device_memory.py",
        evidence.lstrip(),
        evidence.replace("H200-SXM", "H200-NVL").lstrip() + "    ",
    )
    check(copy, *tests, "tests/engine/run/test_run_file.py")


@pytest.mark.left_to_all("the tests of its tables; a new calculator is made in a copy here")
def test_a_model_is_a_row_and_its_file(copy):
    row = (
        'RecentRow(key="toy-1b", name="Toy 1B", shape=(18, 2048, 32, 8, 8192, 64000), '
        'others={}, layers={}, where="toy-org/Toy-1B", total=1.36e9),\n    '
    )
    insert(copy / "engine/catalog/recent_rows.py", 'RecentRow(key="qwen3.5-0.8b"', row)
    tests = "tests/engine/catalog/test_recent_models.py"
    status, said = attempt(copy, tests)
    assert status == 1
    assert "'toy-1b' of engine/catalog/recent_rows.py: add the keys of its config.json" in said
    keys = {
        "model_type": "llama",
        "num_hidden_layers": 18,
        "hidden_size": 2048,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 8192,
        "vocab_size": 64000,
        "tie_word_embeddings": False,
    }
    files = copy / "tests/engine/catalog/recent_files.py"
    insert(files, '"qwen3.5-0.8b": ', f'"toy-1b": {keys},\n    ')
    check(copy, tests, "tests/engine/run/test_schema.py")


@pytest.mark.parametrize(
    ("room", "original", "name"),
    [
        ("collectives", "ring_all_reduce", "chain_all_reduce"),
        ("schedules", "gpipe", "all_forward_first"),
    ],
)
def test_a_collective_and_a_schedule_are_one_file(copy, room, original, name):
    text = (copy / f"engine/{room}/{original}.py").read_text("utf-8")
    changed = re.sub(r'^TITLE = ".*"', 'TITLE = "Another name"', text, flags=re.MULTILINE)
    assert changed != text
    (copy / f"engine/{room}/{name}.py").write_text(changed, "utf-8")
    check(copy, f"tests/engine/{room}", "-k", f"{name} or titles")


READ_TABLE = """
from engine.calculator import load, make
calculator = load("published_runs")
calculator.compute(make(calculator, {}))
"""


def told(copy):
    status, said = run(copy, "-c", READ_TABLE)
    assert status == 1
    return said.strip().splitlines()[-1]


@pytest.mark.left_to_all("the tests of its tables; a new calculator is made in a copy here")
def test_a_published_run_names_what_its_row_needs_one_by_one(copy):
    table = copy / "engine/catalog/published_table.tsv"
    lines = table.read_text("utf-8").splitlines()
    columns = lines[0].split("\t")
    (line,) = [one for one in lines if one.startswith("titan-")][:1]
    row = dict(zip(columns, line.split("\t"), strict=True))
    row |= {"row_id": "mine-1", "source_file": "mine.csv", "gpu": "DGX-H100"}
    table.write_text("\n".join([*lines, "\t".join(row.values())]) + "\n", "utf-8")
    place = f"engine/catalog/published_table.tsv:{len(lines) + 1}: row 'mine-1'"
    assert f"{place}: source_file 'mine.csv' has no entry in SETTINGS" in told(copy)
    settings = copy / "engine/run/published_settings.py"
    insert(settings, '"torchtitan.csv": ', '"mine.csv": _titan,\n    ')
    assert f"{place}: source_file 'mine.csv' has no names in SOURCES" in told(copy)
    sources = copy / "engine/catalog/published_runs_sources.py"
    insert(sources, '"torchtitan.csv": ', '"mine.csv": ("torchtitan", "Mine"),\n    ')
    assert re.search(
        r"row 'mine-1' has no line in engine/catalog/\w+\.tsv yet: "
        r"python -m tests\.validation\.\w+( --new)? writes it$",
        told(copy),
    )
    status, said = run(copy, "-m", "tests.validation.ranks", "--new", "--workers", "1")
    assert status == 0, said
    assert len(re.findall(r"^\d+ of \d+ ", said, re.MULTILINE)) == 1  # no other run was ranked
    assert re.search(r"^mine-1\t\d+\t", (copy / PLANNED).read_text("utf-8"), re.MULTILINE)


PLANNED = "engine/catalog/planned_table.tsv"
READER = '''"""Importer of toytrain's YAML."""

from engine.run.importers.dialect import Piece, Reader
from engine.run.importers.import_report import RunDraft
from engine.run.importers.key_table import KeyTable, read_key
from engine.run.importers.yaml_text import read_yaml

TABLE = KeyTable(
    counts={"toy_gpus": "parallelism.world_size", "toy_batch": "training.global_batch_size"}
)


def _read(piece: Piece, draft: RunDraft) -> None:
    draft.values["model"] = "llama-3-8b"
    draft.values["sequence_length"] = 8192
    for setting in read_yaml(piece.text, piece.line):
        read_key(setting, TABLE, draft)


READER = Reader(read=_read)
'''
SIGNS = """def _read_toytrain() -> Reader:
    from engine.run.importers.toytrain import READER

    return READER


TOYTRAIN = Dialect(
    name="toytrain YAML",
    reader=_read_toytrain,
    software="toytrain",
    signs=(yaml_keys("toy_gpus", "toy_batch", "toy_layers", "toy_name"),),
)


"""


@pytest.mark.left_to_all("the tests of its tables; a new calculator is made in a copy here")
def test_a_reader_is_a_file_a_line_and_a_text_with_its_meaning(copy):
    importers = copy / "engine/run/importers"
    (importers / "toytrain.py").write_text(READER, "utf-8")
    insert(importers / "file_dialects.py", "def _read_config_json", SIGNS)
    insert(importers / "dialects.py", "    TORCHTITAN_TOML,\n)", "    TOYTRAIN,\n")
    insert(importers / "dialects.py", "    CONFIG_JSON,\n    TORCHTITAN", "    TOYTRAIN,\n")
    tests = "tests/engine/run/importers/test_formats.py"
    status, said = attempt(copy, tests)
    assert status == 1
    assert "{'toytrain YAML'}: add a text to tests/engine/run/importers/format_texts.py" in said
    text = (
        '"toytrain": ("mine", "toy_gpus: 64\\ntoy_batch: 512\\n", '
        '{"parallelism.world_size": 64, "training.global_batch_size": 512}),\n    '
    )
    insert(importers_tests(copy) / "format_texts.py", '"LLaMA-Factory full": (', text)
    check(copy, tests)
    status, said = run(copy, "-m", "tests.engine.run.importers.fuzz", "60")
    assert status == 0, said


def importers_tests(copy):
    return copy / "tests/engine/run/importers"
