"""The formula sheet and the hardware table say what the engine says, and leave nothing out."""

import inspect

import pytest

from engine.calculator import load, make
from engine.calculators.reference.formula_sheet import calculator as formula_sheet
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hardware import LINKS, MEASURED
from engine.catalog.more_nodes import EVERY_NODE
from engine.catalog.nodes import NODES
from engine.core import registry
from engine.core.equation import Equation
from engine.core.numbers import Display
from engine.core.text import render_text
from engine.core.units import GB
from engine.core.views import Bars, Citation, Table, cell_text
from engine.formulas.communication import ring_all_reduce_time, ring_bytes_sent
from engine.formulas.gpt import gpt_parameters
from engine.formulas.overlap import compute_time
from engine.run.ladder import bandwidth_ladder
from tests.each import each
from tests.engine.equation_reader import statements

SHEET, HARDWARE = load("formula_sheet"), load("hardware_table")
JOBS = [{}, *SHEET.presets.values(), {"num_nodes": 3, "zero_stage": 3, "gradient_type": "fp32"}]
BY_EQUATION = each("name", [e.name for e in formula_sheet.EQUATIONS])
TABLES = {"accelerators": ACCELERATORS, "wires": ACCELERATORS, "links": LINKS, "nodes": EVERY_NODE}
TABLES |= {"measured": MEASURED}
BY_TABLE = each("name", TABLES)


def sheet(**values):
    return SHEET.compute(make(SHEET, values))


def hardware(**values):
    return HARDWARE.compute(make(HARDWARE, values))


def public_equations():
    modules = [
        registry.module("engine.formulas", n) for n in registry.module_names("engine.formulas")
    ]
    return [thing for m in modules for thing in vars(m).values() if isinstance(thing, Equation)]


def statements_of(view):
    values = {key: value for key, (value, _) in view.symbols.items()}
    return statements(view.equation.tex, values)


def test_no_two_equations_share_a_name():
    found = [equation.name for equation in public_equations()]
    assert len(found) == len(set(found))


def test_every_public_equation_is_on_the_sheet_exactly_once():
    listed = [e.name for equations in formula_sheet.groups().values() for e in equations]
    assert sorted(listed) == sorted(e.name for e in public_equations())


def test_every_example_belongs_to_an_equation():
    assert set(formula_sheet.EXAMPLES) <= {e.name for e in public_equations()}


@BY_EQUATION
def test_an_example_fills_every_symbol_of_its_equation(name):
    view = sheet()[name]
    assert set(view.symbols) == set(view.equation.symbols)


@BY_EQUATION
def test_an_example_links_to_inputs_that_there_are(name):
    example = formula_sheet.EXAMPLES[name]
    assert set(example.inputs.values()) <= set(SHEET.fields)


@BY_EQUATION
@each("job", JOBS, ids=range(len(JOBS)))
def test_the_printed_equation_gives_the_number_that_the_function_returned(name, job):
    view = sheet(**job)[name]
    for symbol, value in statements_of(view):
        assert view.symbols[symbol][0] == pytest.approx(value, rel=1e-9), symbol


@BY_EQUATION
def test_the_function_of_an_example_says_what_it_returns(name):
    assert inspect.getdoc(formula_sheet.EXAMPLES[name].function).startswith("Return ")


def test_the_ring_on_the_sheet_is_the_function():
    x = make(SHEET, {})
    n, size = x.gpus_per_node * x.num_nodes, 2 * x.parameters
    expected = ring_all_reduce_time(size, n, x.port, x.latency)
    assert sheet()["ring_all_reduce_time"].symbols["T"][0] == expected


def test_bytes_on_the_sheet_follow_the_type_of_the_gradients():
    view = sheet(gradient_type="fp32", num_nodes=2)["ring_bytes_sent"]
    assert view.symbols["V"][0] == ring_bytes_sent(28e9, 16)


def test_computation_on_the_sheet_is_the_function():
    expected = compute_time(7e9, 8192.0, 0.4, ACCELERATORS["H100-SXM"].peak["bf16"])
    assert sheet(micro_batch_size=2)["compute_time"].symbols["Tc"][0] == expected


def test_parameters_on_the_sheet_are_those_of_the_published_gpt_3():
    view = sheet(**SHEET.presets["GPT-3 on 1,024 GPUs"])["gpt_parameters"]
    assert view.symbols["P"][0] == gpt_parameters(96, 12_288, 51_200, 2048)


def test_a_zero_stage_shares_what_it_says():
    states = sheet(zero_stage=2)["zero_memory"].symbols
    assert [states[key][0] for key in "abc"] == [1, 64, 64]


@BY_TABLE
def test_a_table_has_one_row_for_every_row_of_the_engine(name):
    assert len(hardware()[name].rows) == len(TABLES[name])


@BY_TABLE
def test_every_row_links_to_its_source(name):
    cited = [
        {k for c in row if isinstance(c, Citation) for k in c.keys} for row in hardware()[name].rows
    ]
    assert all(row.source in keys for row, keys in zip(TABLES[name].values(), cited, strict=True))


@BY_TABLE
def test_every_row_says_when_it_was_checked(name):
    view = hardware()[name]
    column = view.columns.index("Checked")
    assert [row[column] for row in view.rows] == [row.date for row in TABLES[name].values()]


@each("data_type", ["bf16", "fp16", "fp8", "fp4"])
def test_a_peak_stands_where_the_accelerator_has_the_type(data_type):
    rows = hardware(data_type=data_type)["accelerators"].rows
    has = [data_type in gpu.peak for gpu in ACCELERATORS.values()]
    assert [render_text(row[3]) != "–" for row in rows] == has


def cells(view, row, display):
    return [cell_text(cell, display) for cell in view.rows[row]]


def test_a_line_rate_follows_the_switch_for_both_directions():
    view, row = hardware()["links"], list(LINKS).index("nvlink4")
    assert cells(view, row, Display(both_ways=True))[2] == "7,200 Gb/s both ways"


def test_a_link_in_bytes_stays_one_way():
    view, row = hardware()["links"], list(LINKS).index("nvlink4")
    assert cells(view, row, Display(both_ways=True))[1] == "450 GB/s"


def test_a_capacity_follows_the_switch_for_powers_of_two():
    view, row = hardware()["accelerators"], list(ACCELERATORS).index("H100-SXM")
    assert cells(view, row, Display(binary=True))[1] == "79.1 GiB"


def test_a_measurement_stands_in_no_table_of_datasheets():
    titles = [v.title for v in hardware().values() if isinstance(v, Table) and "easured" in v.title]
    assert titles == ["Measured: all-reduce in a node, in a rack, between nodes"]


@each("node", NODES)
def test_every_node_has_all_four_rungs(node):
    assert all(rung.bandwidth > 0 for rung in bandwidth_ladder(NODES[node]))


def test_ports_are_shared_by_the_gpus_of_a_node():
    network = bandwidth_ladder(NODES["p4d"])[-1]
    assert network.bandwidth == 4 * 12.5 * GB / 8


@each("node", NODES)
def test_a_bar_is_as_long_as_the_number_beside_it_says(node):
    views = hardware(node=node)
    bars = {b.key: b.segments[0].value for b in views["times"].bars}
    assert bars == {key: views[f"{key}_time"].value for key in bars}


def test_the_gradients_of_seven_billion_parameters_take_280_ms_at_400_gigabits():
    assert hardware()["network_time"].value == pytest.approx(0.28)


def test_bars_start_at_zero():
    assert {v.axis.low for v in hardware().values() if isinstance(v, Bars)} == {0.0}


def test_every_time_of_the_ladder_cites_the_datasheet_of_its_bandwidth():
    views = hardware(node="p5")
    rungs = bandwidth_ladder(NODES["p5"])
    assert all(rung.source in views[f"{rung.key}_time"].receipt.sources for rung in rungs)
