import re
from dataclasses import replace

import pytest

from engine.calculator import load
from engine.core.equation import Equation
from engine.core.numbers import Display
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SECONDS
from engine.core.views import (
    Advice,
    Badge,
    CalculatorLink,
    Challenge,
    Citation,
    Condition,
    Frame,
    Published,
    Receipt,
    Remedy,
    Scene,
    Shape,
    Table,
    Value,
)
from engine.draw.fragments import (
    advice_fragment,
    badge_fragment,
    challenge_fragment,
    table_fragment,
)
from engine.draw.reply_extras import BASES, receipt_fragment
from engine.draw.scene import scene_svg

PLAIN, BINARY = Display(), Display(binary=True)
NASTY = '<b title="x">&'
ESCAPED = "&lt;b title=&quot;x&quot;&gt;&amp;"
LAB = load("gradient_sync")
EQUATION = Equation(
    name="size",
    tex=r"\v{S} = \v{P}",
    symbols={"S": ("S", "buffer"), "P": ("P", "parameters & more")},
    sources=("li2020",),
)
RECEIPT = Receipt(
    equation=EQUATION,
    symbols={"S": (14e9, BYTES), "P": (8, COUNT)},
    inputs={"P": "parameters"},
    assumptions=("One gradient each.",),
    sources=("hockney1994", "li2020"),
)
VALUE = Value(label="Gradient", value=14e9, quantity=BYTES, receipt=RECEIPT)


def receipt(view=VALUE, display=PLAIN, **values):
    return receipt_fragment(LAB, "gradient_size", view, {**LAB.defaults, **values}, display)


def remedy(key, after, **changes):
    return Remedy(key=key, label=key, change={"port": 1e11}, after=after, **changes)


def advice(*remedies):
    return advice_fragment(
        Advice(title="", verdict=NASTY, figure="", now=1.0, quantity=SECONDS, remedies=remedies),
        PLAIN,
    )


def challenge(*met):
    return challenge_fragment(
        Challenge(
            title="",
            goal="Hide it.",
            conditions=tuple(Condition(text="c", met=m) for m in met),
            hints=("first", "second"),
            start={},
            solution={},
        ),
        PLAIN,
    )


@pytest.mark.parametrize(
    "fragment",
    [
        badge_fragment(Badge(text=NASTY, sentence=NASTY), PLAIN),
        table_fragment(
            Table(title=NASTY, columns=(NASTY,), rows=((NASTY,),), caption=NASTY), PLAIN
        ),
        advice(replace(remedy("port", 0.5), label=NASTY, side_effect=NASTY)),
        receipt(replace(VALUE, label=NASTY)),
        receipt(replace(VALUE, receipt=replace(RECEIPT, assumptions=(NASTY,)))),
    ],
    ids=["badge", "table", "advice", "label", "assumption"],
)
def test_markup_in_words_is_escaped(fragment):
    assert ESCAPED in fragment
    assert NASTY not in fragment


def test_a_badge_wears_its_color():
    fragment = badge_fragment(Badge(text="Link", sentence="s", color="communication"), PLAIN)
    assert fragment.startswith('<strong class="badge c-communication">Link</strong>')


def test_the_first_cell_of_a_row_is_its_heading():
    fragment = table_fragment(Table(title="", columns=("a", "b"), rows=(("x", "y"),)), PLAIN)
    assert '<tr><th scope="row" class="short">x</th><td>y</td></tr>' in fragment


def test_a_long_heading_of_a_row_gets_room():
    fragment = table_fragment(Table(title="", columns=("a",), rows=(("x" * 40,),)), PLAIN)
    assert '<th scope="row" class="long">' in fragment


def test_a_long_name_of_a_setting_may_break_behind_its_underscores():
    table = Table(title="", columns=("a", "b"), rows=(("stage3_max_live_parameters", "sub_group"),))
    text = table_fragment(table, Display())
    assert ">stage3_<wbr>max_<wbr>live_<wbr>parameters</th>" in text
    assert ">sub_group</td>" in text


def test_a_long_name_without_signs_may_break_before_its_capitals():
    names = ("PortRcvRemotePhysicalErrors", "PyTorch")
    text = table_fragment(Table(title="", columns=("a", "b"), rows=(names,)), PLAIN)
    assert ">Port<wbr>Rcv<wbr>Remote<wbr>Physical<wbr>Errors</th>" in text
    assert ">PyTorch</td>" in text


def test_a_path_may_break_behind_its_signs_and_nowhere_inside_of_a_word():
    cell = "NVIDIA/Megatron-LM, megatron/core/README.md at 0.12345678901234567"
    table = Table(title="", columns=("a", "b"), rows=(("x", cell),))
    assert "megatron/<wbr>core/<wbr>README.<wbr>md at 0.12345678901234567" in table_fragment(
        table, PLAIN
    )


def test_words_in_a_cell_may_break():
    fragment = table_fragment(Table(title="", columns=("a", "b"), rows=(("x", "y " * 8),)), PLAIN)
    assert '<td class="words">' in fragment


def test_a_long_link_in_a_cell_may_break():
    cell = CalculatorLink(
        "Llama 3 8B, 256 H100, half the network, 32,768 tokens", "planner", "planner.a=b"
    )
    table = table_fragment(Table(title="", columns=("", "Job"), rows=(("1", cell),)), PLAIN)
    assert '<td class="long"><a ' in table


def test_a_number_with_its_unit_stays_on_one_line():
    fragment = table_fragment(
        Table(title="", columns=("a", "b"), rows=(("x", "1,024 tokens a GPU"),)), PLAIN
    )
    assert "<td>1,024 tokens a GPU</td>" in fragment


def test_a_link_that_keeps_the_readers_inputs_names_what_it_sets():
    cell = CalculatorLink("gap", "ruler", "ruler.event=gap", keeps=True)
    fragment = table_fragment(Table(title="", columns=("a",), rows=((cell,),)), PLAIN)
    assert '<a href="?ruler.event=gap#ruler" data-set="ruler.event=gap">gap</a>' in fragment


def test_a_table_is_written_in_the_readers_units():
    table = Table(title="", columns=("a",), rows=((say("{s}", s=(14e9, BYTES)),),))
    assert "13.0\u00a0GiB" in table_fragment(table, BINARY)


def test_a_cell_that_cites_links_to_the_reference_list():
    table = Table(title="", columns=("a", "b"), rows=(("x", Citation(("li2020", "hockney1994"))),))
    assert (
        '<td><a data-cite="li2020" href="#ref-li2020">li2020</a>, '
        '<a data-cite="hockney1994" href="#ref-hockney1994">hockney1994</a></td>'
    ) in table_fragment(table, PLAIN)


def rows_of(*cells):
    columns = ("claim", "printed", "right", "why")[: len(cells)]
    return table_fragment(Table(title="", columns=columns, rows=(cells,)), PLAIN)


def test_a_wide_table_of_sentences_names_the_column_in_every_cell():
    sentence = "longer than what fits on one line of a narrow column"
    fragment = rows_of("a", "1 GB", sentence, sentence)
    assert '<td role="cell">1\N{NO-BREAK SPACE}GB</td>' in fragment
    assert f'<td role="cell" class="long">{sentence}</td>' in fragment
    assert "--2:'printed';--3:'right';--4:'why'\">" in fragment
    assert 'class="stack"' not in rows_of("a", sentence, sentence)
    assert "printed'" not in rows_of("a", "1 GB", "2 GB", sentence)


def test_the_name_of_a_column_is_a_string_of_a_style_whatever_it_holds():
    names = ("a", "model's <b>", 'a "b" \\', "", *"cdef")
    found = table_fragment(Table(title="", columns=names, rows=(("14.0 GB",) * 8,)), PLAIN)
    assert r"""--2:'model\'s &lt;b&gt;';--3:'a \22 b\22  \\';--5:'c'""" in found


def stacked(*cells, columns=None):
    names = columns or tuple(f"n{i}" for i in range(len(cells)))
    found = table_fragment(Table(title="", columns=names, rows=(cells,)), PLAIN)
    return re.findall(r'<table class="([\w ]+)"', found)


def test_up_to_four_short_columns_of_numbers_stay_a_table_on_a_phone():
    assert stacked("7B", "14.0 GB", "490 ms", "12.5 %") == []
    assert stacked("7B", *("14.0 GB",) * 5) == ["stack few"]
    assert stacked("a setting", "1e9", "a sentence of more than one line on a phone") == []
    assert stacked("a setting", "1,000,000,000", "a sentence " * 4, "3 s") == ["stack few"]
    assert stacked("7B", "8", columns=("model", "internationalization " * 2)) == []


def test_a_row_that_a_number_names_says_of_what():
    row = ("2", *("14.0 GB",) * 6)
    columns = ("Line", *"abcdef")
    found = table_fragment(Table(title="", columns=columns, rows=(row,)), PLAIN)
    assert '<th role="rowheader" data-label="Line" class="short">2</th>' in found
    rows = (("GPipe", *row[1:]), ("1F1B (shown)", *row[1:]))
    found = table_fragment(Table(title="", columns=columns, rows=rows), PLAIN)
    assert 'data-label="Line"' not in found


def test_the_names_of_stacked_cells_get_the_room_of_the_longest():
    columns = ("", "what it means here", *"abcdef")
    found = table_fragment(Table(title="", columns=columns, rows=(("14.0 GB",) * 8,)), PLAIN)
    assert f'style="--name:{len("what it means here")};' in found


def test_a_cell_that_tells_much_gets_more_room():
    assert '<td class="long longer">' in rows_of("a", "b " * 80)
    assert '<td class="long">' in rows_of("a", "b " * 40)


def test_numbers_of_sentences_stay_with_their_units():
    goal = say("Below 40 % and {s}, ZeRO-2 or not.", s=(14e9, BYTES))
    fragment = challenge_fragment(
        Challenge(title="", goal=goal, conditions=(), hints=("at 8 %",), start={}, solution={}),
        PLAIN,
    )
    assert "Below 40\u00a0% and 14.0\u00a0GB" in fragment
    assert '<span class="kept">ZeRO-2</span>' in fragment
    assert "at 8\u00a0%" in fragment
    assert "over 8\u00a0% of the time" in rows_of(
        "a", "a sentence that is longer: over 8 % of the time"
    )


def test_a_table_without_rows_is_nothing():
    assert table_fragment(Table(title="t", columns=("a",), rows=()), PLAIN) == ""


def test_the_most_effective_remedy_comes_first():
    fragment = advice(remedy("weak", 0.9), remedy("strong", 0.5))
    assert re.findall(r'<li data-key="(\w+)"', fragment) == ["strong", "weak"]


@pytest.mark.parametrize(
    ("after", "change"),
    [(0.5, "\N{MINUS SIGN}50.0 %"), (1.25, "+25.0 %"), (1.0001, "±0.0 %")],
)
def test_a_remedy_says_how_much_it_changes(after, change):
    assert change in advice(remedy("port", after))


def test_a_challenge_marks_each_condition():
    assert re.findall(r'data-met="(\w+)"', challenge(True, False)) == ["yes", "no"]


@pytest.mark.parametrize(("met", "words"), [(True, "(met)"), (False, "(not yet)")])
def test_a_condition_is_marked_in_words_too(met, words):
    assert words in challenge(met)


def test_a_challenge_is_won_only_when_all_is_met():
    assert ["Solved" in challenge(*met) for met in [(True, True), (True, False)]] == [True, False]


def test_hints_are_folded_away():
    assert re.findall(r"<details><summary>(.*?)</summary>", challenge(True)) == ["Hint 1", "Hint 2"]


def test_a_receipt_shows_the_number_in_both_systems():
    assert '14.0 GB <span class="also">= 13.0 GiB</span>' in receipt()


def test_a_receipt_follows_the_readers_units():
    assert '13.0 GiB <span class="also">= 14.0 GB</span>' in receipt(display=BINARY)


def test_a_receipt_names_its_equation_and_the_text_of_its_symbols():
    symbols = '{"S":"14.0 GB","P":"8"}'
    focusable = 'tabindex="0" role="group" aria-label="Formula"'
    assert f"data-equation=\"size\" {focusable} data-symbols='{symbols}'" in receipt()


def test_a_receipt_links_a_symbol_to_its_input():
    assert '<li data-symbol="P" data-from="parameters">' in receipt()


def test_a_receipt_explains_every_symbol():
    assert re.findall(r'data-tex="([\w.]+)"', receipt()) == ["size.S", "size.P"]


def test_a_receipt_names_each_source_once():
    assert re.findall(r'data-cite="(\w+)"', receipt()) == ["li2020", "hockney1994"]


def test_a_receipt_without_equation_has_none():
    assert "data-equation" not in receipt(replace(VALUE, receipt=Receipt()))


@pytest.mark.parametrize("basis", BASES)
def test_a_receipt_says_what_it_rests_on(basis):
    view = replace(VALUE, receipt=replace(RECEIPT, basis=basis))
    assert BASES[basis] in receipt(view)


def test_a_receipt_quotes_what_others_print():
    others = Published(text="a page prints 13.0 GB", reason="It means GiB.", source="pingdo_sync")
    fragment = receipt(replace(VALUE, receipt=replace(RECEIPT, published=others)))
    assert "a page prints 13.0 GB. It means GiB." in fragment


def test_the_link_of_a_receipt_holds_what_was_changed():
    fragment = receipt(port=1e11, dtype="fp8")
    assert 'href="?gradient_sync.dtype=fp8&amp;gradient_sync.port=1e11"' in fragment


def scene(attributes, text=""):
    shape = Shape(key="a", tag="text", attributes=attributes, text=text)
    frame = Frame(caption="", shapes=(shape,))
    return scene_svg(Scene(title=NASTY, width=640, height=360.5, frames=(frame,)))


def test_a_scene_scales_to_its_container():
    assert 'viewBox="0 0 640 360.5"' in scene({})


def test_a_scene_escapes_texts_attributes_and_title():
    assert scene({"fill": NASTY}, NASTY).count(ESCAPED) == 3


@pytest.mark.parametrize("columns", [("A", "B"), ("A", "B", "C", "D", "E", "F")])
def test_a_row_without_a_name_has_no_empty_header(columns):
    rows = (("", *("some words",) * (len(columns) - 1)),)
    html = table_fragment(Table(title="T", columns=columns, rows=rows), PLAIN)
    assert "<th" not in html.partition("<tbody")[2]
