"""Every mistake an author can make is named with its file and line."""

import tomllib

import pytest

from builder.core import error_locations
from builder.core.problem import lines_containing

SECOND = "content/guides/second.md"
SPEED = "tiny_calculators/speed.py"


def test_an_unknown_front_matter_key(live):
    live.edit(SECOND, "minutes = 3", "minutes = 3\ntitel = 1")
    assert live.problems()[0].startswith(
        f"{SECOND}:10: unknown front-matter key 'titel'; there are title, question, summary"
    )


def test_a_front_matter_key_whose_line_is_not_found_is_named_on_the_first(live):
    live.edit(SECOND, "minutes = 3", "minutes = 3\nby.whom = 1")
    assert live.problems()[0].startswith(f"{SECOND}:1: unknown front-matter key 'by'")


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("tiny_calculators/helper.py", "tiny_calculators/helper.py:2: SyntaxError: invalid syntax"),
        ("elsewhere/x.py", f"{SPEED}:1: SyntaxError: invalid syntax, in line 2 of x.py"),
    ],
)
def test_python_that_cannot_be_read_is_named_where_it_stands_in_the_calculators(live, broken, told):
    error = SyntaxError("invalid syntax", (str(live.root / broken), 2, 5, "y = = 2"))
    found = error_locations.calculator_problem("speed", SPEED, error)
    assert str(found) == told


def test_braces_that_hold_more_than_attributes_stay_in_a_heading(live):
    live.append(SECOND, "## Sets {#a} and {#b}")
    assert "Sets {#a} and {#b}" in live.page("guides/second/index.html")


def test_two_articles_at_one_address(live):
    (live.root / "content/guides/second").mkdir()
    text = (live.root / SECOND).read_text("utf-8").replace("order = 2", "order = 3")
    (live.root / "content/guides/second/index.md").write_text(text, "utf-8")
    told = f"{SECOND}:1: has the address of content/guides/second/index.md: guides/second/"
    assert told in live.problems()


def test_a_missing_front_matter_key(live):
    live.edit(SECOND, 'question = "And then?"\n', "")
    assert f"{SECOND}:1: front-matter key 'question' is missing" in live.problems()


def test_a_front_matter_value_of_the_wrong_kind(live):
    live.edit(SECOND, "order = 2", 'order = "2"')
    message = "front-matter key 'order' is '2'; it has to be a whole number"
    assert f"{SECOND}:6: {message}" in live.problems()


def test_what_is_wrong_in_front_matter_and_in_texts_comes_in_one_round(live):
    live.edit(SECOND, "minutes = 3", "minuts = 3")
    line = live.append(SECOND, "It takes [[speed.tme]].")
    other = live.append("content/guides/first.md", "See [this](none.md).")
    told = [problem.partition(": ")[0] for problem in live.problems()]
    assert told == [
        f"content/guides/first.md:{other}",
        f"{SECOND}:1",  # 'minutes' is missing
        f"{SECOND}:9",  # 'minuts' is unknown
        f"{SECOND}:{line}",
    ]


def test_front_matter_that_is_no_toml(live):
    live.edit(SECOND, "order = 2", "order = ")
    assert live.problems()[0].startswith(f"{SECOND}:6: front matter: Invalid value")


def test_no_front_matter(live):
    (live.root / SECOND).write_text("Words.\n")
    assert live.problems()[-1].startswith(f"{SECOND}:1: an article begins with TOML front matter")


def test_an_unknown_calculator(live):
    line = live.append(SECOND, "[[spead]]")
    assert live.problems() == [f"{SECOND}:{line}: no calculator 'spead'; there are speed"]


def test_an_unknown_output(live):
    line = live.append(SECOND, "Takes [[speed.tyme]].")
    assert live.problems() == [
        f"{SECOND}:{line}: speed has no input or output 'tyme'; its inputs are size, bandwidth; "
        "its outputs are time, total, regime, curve"
    ]


def test_a_chart_in_a_sentence(live):
    line = live.append(SECOND, "See [[speed.curve]].")
    assert live.problems() == [
        f"{SECOND}:{line}: 'speed.curve' (lines) cannot stand in a sentence; "
        "give it a paragraph of its own"
    ]


def test_a_value_of_a_placement_goes_on_behind_a_second_equals_sign(live):
    line = live.append(SECOND, "Takes [[speed.time size=1=2]].")
    assert live.problems()[0].startswith(f"{SECOND}:{line}: speed.size: '1=2' is in an unknown")


def test_a_placement_that_cannot_be_read(live):
    line = live.append(SECOND, "See [[speed time]].")
    assert live.problems()[0].startswith(f"{SECOND}:{line}: '[[speed time]]' is no placement")


def test_a_fixed_value_outside_the_range(live):
    line = live.append(SECOND, "Takes [[speed.time size=1]].")
    assert live.problems() == [
        f"{SECOND}:{line}: speed.size: '1' is outside the range 1 MB to 1,000 MB; "
        "without a unit it is 0.000001 MB: write size=1MB"
    ]


def test_a_number_without_a_unit_is_told_in_the_unit_of_its_field(live):
    line = live.append(SECOND, "Takes [[speed.time size=5e10]].")
    assert live.problems() == [
        f"{SECOND}:{line}: speed.size: '5e10' is outside the range 1 MB to 1,000 MB; "
        "without a unit it is 50,000 MB"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[[speed.size bandwidth=1]]",
            "'speed.size' (input) is no computed number, so 'bandwidth=1'",
        ),
        (
            "[[speed.size|also]]",
            "'speed.size' (input) is no computed number, so '|also' says nothing",
        ),
        (
            "[[speed.regime size=2e6]]",
            "'speed.regime' (badge) is no computed number, so 'size=2e6'",
        ),
    ],
)
def test_settings_of_what_is_not_computed(live, text, said):
    line = live.append(SECOND, f"Takes {text}.")
    (found,) = live.problems()
    assert found.startswith(f"{SECOND}:{line}: {said}")


def test_a_chart_in_a_sentence_is_named_there_and_not_where_it_stands_alone(live):
    live.append(SECOND, "[[speed.curve]]")
    line = live.append(SECOND, "See [[speed.curve]].")
    live.append(SECOND, "[[speed.curve]]")
    (found,) = live.problems()
    assert found.startswith(f"{SECOND}:{line}: 'speed.curve' (lines) cannot stand in a sentence")


def test_a_fixed_value_of_an_unknown_input(live):
    line = live.append(SECOND, "Takes [[speed.time sise=1]].")
    assert live.problems() == [
        f"{SECOND}:{line}: speed has no input 'sise'; there are size, bandwidth"
    ]


def test_the_other_unit_system_of_what_is_no_size(live):
    line = live.append(SECOND, "Takes [[speed.time|also]].")
    assert live.problems() == [
        f"{SECOND}:{line}: 'speed.time' is no size in bytes; '|also' shows GiB beside GB"
    ]


def test_a_calculator_that_no_page_shows(live):
    live.edit("content/index.md", "guides/first.md", "guides/second.md")
    live.edit(SECOND, "[the start](first.md)", "the start")
    live.edit(SECOND, 'requires = ["first"]\n', "")
    (live.root / "content/guides/first.md").unlink()
    assert live.problems() == [f"{SPEED}:1: calculator 'speed' is placed on no page"]


def test_a_receipt_that_cites_an_unknown_source(live):
    live.edit("content/references.toml", "[hockney1994]", "[hockney]")
    live.edit("content/guides/first.md", " [@hockney1994]", "")
    message = "output 'time' cites 'hockney1994', not in content/references.toml"
    assert f"{SPEED}:1: {message}" in live.problems()


def test_an_equation_that_is_not_declared(live):
    live.edit("tiny_calculators/speed.py", "EQUATIONS = (TIME,)", "EQUATIONS = ()")
    message = "output 'time' shows the equation 'move_time', not in EQUATIONS"
    assert live.problems() == [f"{SPEED}:1: {message}"]


def test_an_equation_with_an_undeclared_symbol(live):
    live.edit("tiny_calculators/speed.py", r"\frac{\v{S}}", r"\v{x} \frac{\v{S}}")
    message = r"equation 'move_time' uses \v{x}, not among its symbols"
    assert live.problems() == [f"{SPEED}:1: {message}"]


def test_a_link_to_an_article_that_is_not_there(live):
    line = live.append(SECOND, "See [it](third.md).")
    message = "link to 'third.md': there is no article content/guides/third.md"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_a_link_to_an_anchor_that_is_not_there(live):
    line = live.append(SECOND, "See [it](first.md#nowhere).")
    assert live.problems()[0].startswith(
        f"{SECOND}:{line}: link to 'first.md#nowhere': "
        "guides/first/index.html has no anchor 'nowhere'; there are "
    )


def test_an_empty_link_to_what_has_no_title(live):
    line = live.append(SECOND, "See [](#nowhere).")
    message = "link to '#nowhere': no title is at 'nowhere'; there are the-end"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_an_external_link_without_https(live):
    line = live.append(SECOND, "See [it](http://example.org/).")
    message = "external link 'http://example.org/' has to begin with https://"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_an_id_that_stands_twice(live):
    line = live.append(SECOND, '<p id="twin">a</p><p id="twin">b</p>')
    assert live.problems() == [f"{SECOND}:{line}: the id 'twin' stands 2 times on the page"]


def test_an_image_without_alt_text(live):
    line = live.append(SECOND, "![](../images/dot.svg)")
    assert live.problems() == [
        f"{SECOND}:{line}: image '../images/dot.svg' has no alt text; "
        "write ![what it shows](../images/dot.svg)"
    ]


def test_an_image_that_is_not_there(live):
    line = live.append(SECOND, "![A dot.](../images/dott.svg)")
    message = "image '../images/dott.svg': there is no file content/images/dott.svg"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_a_citation_that_is_not_in_the_bibliography(live):
    line = live.append(SECOND, "So it is [@nobody1999].")
    message = "citation '@nobody1999' is not in content/references.toml"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_a_reference_without_a_year(live):
    live.edit("content/references.toml", "year = 2000\n", "")
    assert live.problems() == ["content/references.toml:7: 'unused2000' has no year"]


def test_a_reference_that_is_nowhere(live):
    live.edit("content/references.toml", 'url = "https://', 'where = "https://')
    message = "has no url, and no isbn as a printed book has"
    (found,) = live.problems()
    assert found.startswith("content/references.toml:")
    assert found.endswith(message)


def test_a_printed_book_is_cited_without_a_link(live):
    address = tomllib.loads((live.root / "content/references.toml").read_text("utf-8"))
    live.edit(
        "content/references.toml",
        f'url = "{address["hockney1994"]["url"]}"',
        'isbn = "0-201-89683-4"',
    )
    page = live.page("guides/first/index.html")
    entry = page[page.index('<li id="ref-hockney1994"') :].partition("</ol>")[0]
    assert "<a " not in entry
    assert "ISBN 0-201-89683-4." in entry


def test_a_term_that_is_not_defined(live):
    line = live.append(SECOND, "A ??spurious term?? here.")
    message = "term 'spurious term' is not defined in content/glossary.toml"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_a_formula_that_cannot_be_typeset(live):
    line = live.append(SECOND, r"It is $\foo$.")
    assert live.problems() == [rf"{SECOND}:{line}: TeX: Unsupported function name: \foo"]


def test_an_equation_that_cannot_be_typeset(live):
    live.edit("tiny_calculators/speed.py", r"\frac{\v{S}}", r"\foo\frac{\v{S}}")
    message = r"equation 'move_time': TeX: Unsupported function name: \foo"
    assert live.problems() == [f"{SPEED}:1: {message}"]


def test_a_heading_that_skips_a_level(live):
    line = live.append(SECOND, "#### Deep")
    message = "heading of level 4 after one of level 2; skip none"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_a_second_title(live):
    line = live.append(SECOND, "# Title")
    message = "the title is in the front matter; headings begin with ##"
    assert live.problems() == [f"{SECOND}:{line}: {message}"]


def test_a_guide_that_requires_an_unknown_one(live):
    live.edit(SECOND, '["first"]', '["zeroth"]')
    assert live.problems() == [
        f"{SECOND}:7: requires names the guide 'zeroth', which does not exist; "
        "there are first, second; 'planned' lists future ones"
    ]


def test_a_planned_guide_that_exists(live):
    live.edit("content/guides/first.md", 'planned = ["later"]', 'planned = ["later", "second"]')
    message = "the guide 'second' exists; take it out of 'planned'"
    assert live.problems() == [f"content/guides/first.md:1: {message}"]


def test_a_prediction_whose_answer_was_given_away(live):
    live.edit("content/guides/first.md", "is slow", "takes 2.00 ms")
    message = "the answer '2.00 ms' stands before the question that asks for it"
    assert live.problems() == [f"content/guides/first.md:15: {message}"]


def test_a_longer_number_does_not_give_away_the_one_inside_it(live):
    live.edit("content/guides/first.md", "is slow", "takes 12.00 ms")
    assert live.problems() == []


def test_a_prediction_whose_range_lacks_the_truth(live):
    live.edit("content/guides/first.md", "low: 0.0001", "low: 0.1")
    message = "the true value 0.002 is outside the range 0.1 to 1"
    assert live.problems() == [f"content/guides/first.md:15: {message}"]


def test_a_prediction_without_an_end_of_its_slider(live):
    live.edit("content/guides/first.md", "    low: 0.0001\n", "")
    message = "low of the slider is missing, such as low: 1"
    assert live.problems() == [f"content/guides/first.md:15: {message}"]


def test_a_prediction_of_other_inputs_is_held_against_those(live):
    # 4 ms, where the defaults give 2.
    before = "predict | speed.time\n    low: 0.0001"
    live.edit("content/guides/first.md", before, "predict | speed.time size=2e8\n    low: 0.003")
    assert live.problems() == []


def test_a_block_with_an_unknown_option(live):
    live.edit("content/guides/first.md", "low: 0.0001", "lower: 0.0001")
    message = "this block is unknown or its options are wrong"
    assert f"content/guides/first.md:15: {message}" in live.problems()


def test_a_mistake_that_stands_twice_is_named_twice(live):
    first = live.append(SECOND, "[[spead]]")
    second = live.append(SECOND, "[[spead]]")
    lines = [problem.split(":")[1] for problem in live.problems()]
    assert lines == [str(first), str(second)]


def test_all_problems_are_gathered(live):
    live.append(SECOND, "[[spead]]")
    live.append(SECOND, "So it is [@nobody1999].")
    live.edit("content/guides/first.md", "$a+b$", r"$\foo$")
    assert len(live.problems()) == 3


def test_code_is_not_searched_for_mistakes():
    assert lines_containing("`[[x]]`\n\n```\n[[x]]\n```\n\n[[x]]\n", "[[x]]") == [7]


def test_a_term_whose_guide_is_not_there(live):
    live.edit("content/glossary.toml", 'see = "second"', 'see = "third"')
    message = "'bus bandwidth' names the page 'third', which is not there"
    assert live.problems() == [f"content/glossary.toml:1: {message}"]
