"""The order of imports, read from the source: `build.py -> builder -> engine`, upward inside it."""

import ast
import sys

from tests.each import each
from tests.layers import ROOT, imports, statements, tree_of

# From the ground up. A module imports from the layers below its own, or from its own room.
LAYERS = (
    {"core"},
    {"catalog"},
    {"run"},
    {"formulas", "collectives", "schedules"},
    {"simulate"},
    {"tiny"},
    {"calculator", "estimate", "import_run", "read_trace"},
    {"draw"},
    {"form"},
    {"estimate_file", "plan_every"},
    {"calculators", "plan_run", "print_schema", "sweep_run"},
    {"budget"},
    {"answer"},
    {"terminal"},
    {"library"},
    {"__main__"},
)
LAYER = {name: height for height, names in enumerate(LAYERS) for name in names}


def sources(*folders):
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in files if path.name != "__init__.py")


def identify(path):
    return path.relative_to(ROOT).as_posix()


ENGINE = sources("engine")
ALL = sources("engine", "builder") + [path for path in [ROOT / "build.py"] if path.exists()]


def part(path):
    """The room of a file: "draw" for engine/draw/svg.py, "answer" for engine/answer.py."""
    return path.relative_to(ROOT / "engine").with_suffix("").parts[0]


def of_engine(path):
    return {name.split(".")[1] for name in imports(path) if name.startswith("engine.")}


@each("path", ENGINE, ids=identify)
def test_every_module_of_the_engine_has_a_layer(path):
    assert part(path) in LAYER, f"{identify(path)} has no place in LAYERS"


@each("path", ENGINE, ids=identify)
def test_the_engine_imports_from_below_or_from_its_own_package(path):
    here = part(path)
    above = {name for name in of_engine(path) - {here} if LAYER[name] >= LAYER[here]}
    assert not above


def calculator_of(parts):
    """The calculator that a module under engine/calculators belongs to: its room and its name."""
    return ".".join(parts[:2])


@each("path", sources("engine/calculators"), ids=identify)
def test_no_calculator_imports_another(path):
    own = calculator_of(path.relative_to(ROOT / "engine" / "calculators").with_suffix("").parts)
    used = [name.split(".")[2:] for name in imports(path) if name.startswith("engine.calculators.")]
    assert {calculator_of(parts) for parts in used} <= {own}


@each("path", ENGINE, ids=identify)
def test_the_engine_imports_only_itself_and_the_standard_library(path):
    tops = {name.split(".")[0] for name in imports(path)}
    wheels = {"ruamel"} if path.name == "yaml_text.py" else set()  # `packages` of site.toml
    assert tops <= sys.stdlib_module_names | {"engine"} | wheels


@each("path", [path for path in ENGINE if part(path) != "library"], ids=identify)
def test_the_engine_reads_no_clock_no_chance_no_environment_and_no_disk(path):
    effects = {"time", "datetime", "random", "secrets", "uuid", "os", "pathlib", "io", "socket"}
    assert not effects & {name.split(".")[0] for name in imports(path)}


@each("path", ENGINE, ids=identify)
def test_the_engine_brings_no_large_module_to_a_reader(path):
    large = {"statistics", "fractions", "decimal", "inspect", "typing_extensions"}
    assert not large & {name.split(".")[0] for name in imports(path)}


@each("path", sources("builder"), ids=identify)
def test_the_builder_does_not_import_the_command_that_runs_it(path):
    assert "build" not in {name.split(".")[0] for name in imports(path)}


@each("path", ALL, ids=identify)
def test_nothing_is_imported_relatively(path):
    body = tree_of(path).body
    froms = [node for node in statements(body) if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 0 for node in froms)


@each("path", ALL, ids=identify)
def test_no_module_hides_the_standard_library_module_site(path):
    assert not path.stem.startswith("site")


def test_no_folder_hides_the_package_build():
    assert not (ROOT / "build").exists()


@each("path", sorted((ROOT / "engine").rglob("__init__.py")), ids=identify)
def test_packages_of_the_engine_export_nothing(path):
    assert [type(node) for node in tree_of(path).body] == [ast.Expr]
