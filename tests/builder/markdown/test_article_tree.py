"""What is done to an article before its page: where lines end, listings, equations, sources."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from builder.core import html_tree
from builder.markdown import article_tree

NUMBER = '<a class="number" href="receipts/#receipt-c-t">3 s</a>'


def prevent_breaks(html):
    root = html_tree.parse(html)
    article_tree.bind_text(root)
    article_tree.keep_live(root)
    article_tree.break_code(root)
    return root.html()


def test_a_full_stop_stays_with_its_number() -> None:
    assert prevent_breaks(f"<p>It takes {NUMBER}.</p>") == (
        f'<p>It takes <span class="kept">{NUMBER}.</span></p>'
    )


def test_a_sign_stays_with_its_input_and_its_term() -> None:
    field = '<span class="inline-field"><input value="3"></span>'
    term = '<button class="term" popovertarget="term-flop" type="button">FLOP</button>'
    assert prevent_breaks(f"<p>{field} of {field}, ({term}).</p>") == (
        f'<p>{field} of <span class="kept">{field},</span> <span class="kept">({term}).</span></p>'
    )


def test_a_parenthesis_stays_with_what_it_opens() -> None:
    assert prevent_breaks(f"<p>So ({NUMBER} of it)</p>") == (
        f'<p>So <span class="kept">({NUMBER}</span> of it)</p>'
    )


def test_a_number_before_a_word_is_left_alone() -> None:
    assert prevent_breaks(f"<p>{NUMBER} of it</p>") == f"<p>{NUMBER} of it</p>"


def test_the_hyphens_of_a_flag_stay_with_its_first_word() -> None:
    assert prevent_breaks("<code>--overlap-param-gather</code>") == (
        '<code><span class="kept">--overlap</span>-param-gather</code>'
    )


def test_long_code_may_break_after_dots_and_underscores() -> None:
    assert prevent_breaks("<code>torch.distributed.all_gather</code>") == (
        "<code>torch.<wbr>distributed.<wbr>all_<wbr>gather</code>"
    )
    assert prevent_breaks("<code>docs/user-guide/overlap.md</code>") == (
        "<code>docs/<wbr>user-guide/<wbr>overlap.<wbr>md</code>"
    )
    assert "momentum=0.95" in prevent_breaks("<code>torch.optim.Muon(momentum=0.95)</code>")


def test_a_unit_stays_with_its_number() -> None:
    assert prevent_breaks("<p>8 % of 400 Gb/s in 3 steps</p><code>8 %</code>") == (
        '<p>8\u00a0% of <span class="kept">400\u00a0Gb/s</span> in 3 steps</p><code>8 %</code>'
    )
    script = '<script type="application/json">["3 s"]</script>'
    assert prevent_breaks(script) == script
    assert prevent_breaks('<a title="8 %">from 3 s</a>') == '<a title="8 %">from 3\u00a0s</a>'


def test_units_of_several_words_stay_with_their_number() -> None:
    assert prevent_breaks("<p>12 GPU h</p>") == "<p>12\N{NO-BREAK SPACE}GPU\N{NO-BREAK SPACE}h</p>"
    rate = '<span class="kept">300\N{NO-BREAK SPACE}tokens/s/GPU</span>'
    assert prevent_breaks("<p>300 tokens/s/GPU</p>") == f"<p>{rate}</p>"


def test_a_sign_stays_with_what_follows() -> None:
    assert (
        prevent_breaks("<p>so x = 8 × 2 → 16</p>") == "<p>so x\u00a0=\u00a08 ×\u00a02 →\u00a016</p>"
    )
    assert prevent_breaks(f"<p>a ≈ {NUMBER}</p>") == f"<p>a\u00a0≈\u00a0{NUMBER}</p>"


def test_a_short_equation_stays_whole() -> None:
    assert prevent_breaks("<p>with e = 2 or T = e = 8, long = 3</p>") == (
        "<p>with e\u00a0=\u00a02 or T\u00a0=\u00a0e =\u00a08, long =\u00a03</p>"
    )


def test_a_name_with_a_sign_and_a_date_stay_whole() -> None:
    assert prevent_breaks("<p>ZeRO++, ZeRO-2 of 2026-11-21, but all-to-all</p>") == (
        '<p><span class="kept">ZeRO++</span>, <span class="kept">ZeRO-2</span> of '
        '<span class="kept">2026-11-21</span>, but all-to-all</p>'
    )
    field = '<textarea rows="2">ZeRO++ takes 8 %</textarea>'
    assert prevent_breaks(field) == field


def test_a_difference_stays_on_one_line() -> None:
    assert (
        prevent_breaks("<p>2(<em>n</em> − 1) steps</p>")
        == "<p>2(<em>n</em>\u00a0−\u00a01) steps</p>"
    )


def test_what_an_answer_replaces_is_left_as_the_engine_made_it() -> None:
    told = "<div data-fragment><div>8 %</div><p>3 s</p></div>"
    assert prevent_breaks(f"<p>9 %</p>{told}<div>4 s</div>") == (
        f"<p>9\u00a0%</p>{told}<div>4\u00a0s</div>"
    )


def test_the_words_of_a_drawing_are_left_alone() -> None:
    drawing = "<svg><svg><text>8 %</text></svg><text>ZeRO-2 in 3 s</text></svg>"
    assert prevent_breaks(f"{drawing}<p>9 %</p>") == f"{drawing}<p>9\u00a0%</p>"


def test_short_code_has_no_places_to_break() -> None:
    assert prevent_breaks("<code>all_gather</code>") == "<code>all_gather</code>"


def test_a_listing_keeps_its_lines() -> None:
    listing = (
        "<pre><span></span><code># Collective test starting: all_reduce_perf 3169.2</code></pre>"
    )
    assert prevent_breaks(listing) == listing


def test_code_of_24_letters_stays_whole_and_one_of_25_may_break() -> None:
    whole = f"<code>a.{'b' * 22}</code>"
    assert prevent_breaks(whole) == whole
    assert prevent_breaks(f"<code>a.{'b' * 23}</code>") == f"<code>a.<wbr>{'b' * 23}</code>"


ROOT = Path(__file__).resolve().parents[3]
LISTING = '<div class="language-python highlight"><pre><span></span><code>{}</code></pre></div>'


@pytest.mark.parametrize(
    ("length", "wide"), [(article_tree.LINE_LENGTH, False), (article_tree.LINE_LENGTH + 1, True)]
)
def test_a_listing_with_a_long_line_is_wide(length, wide):
    line = '<span class="k">x</span>' + "&lt;" + "y" * (length - 2)
    assert (
        "highlight wide" in changed(article_tree.style_listings, LISTING.format(f"a\n{line}\nb\n"))
    ) == wide


def test_every_listing_is_reached_by_the_keyboard():
    html = changed(article_tree.style_listings, LISTING.format("a") + "<pre>b</pre>")
    assert html.count('<pre tabindex="0">') == html.count("<pre") == 2


def test_only_tokens_that_the_theme_sets_apart_are_marked():
    sheet = (ROOT / "theme" / "styles" / "58-prose.css").read_text("utf-8")
    groups = re.findall(r"\.highlight :is\(([^)]+)\)", sheet)
    assert {
        name for group in groups for name in re.findall(r"\.(\w+)", group)
    } == article_tree.STYLED_TOKENS
    marked = '<span class="k">for</span> <span class="n">x</span>'
    assert '<span class="k">for</span> x' in changed(
        article_tree.style_listings, LISTING.format(marked)
    )


def changed(change, html, *given):
    root = html_tree.parse(html)
    change(root, *given)
    return root.html()


def test_a_formula_leaves_a_mark():
    html = (
        '<p>so <span class="arithmatex">\\(a &lt; b\\)</span> it</p>'
        '<div class="arithmatex">\\[\nc\n\\]</div>'
    )
    root = html_tree.parse(html)
    assert article_tree.extract_formulas(root) == [("a < b", False), ("c", True)]
    marks = re.findall("⟦math=[^⟧]*⟧", root.html())
    assert root.html() == f'<p>so {marks[0]} it</p><div class="formula">{marks[1]}</div>'


def test_an_equation_and_a_symbol_leave_marks():
    html = (
        """<div data-equation="v" data-symbols='{"n": "3 &lt; 4"}'></div><i data-tex="v.n"></i>"""
    )
    assert changed(article_tree.mark_equations, html) == (
        '<div data-equation="v">⟦equation=v {"n": "3 &lt; 4"}⟧</div><i data-tex="v.n">'
        "⟦symbol=v.n⟧</i>"
    )
    assert changed(article_tree.mark_equations, '<div data-equation="v">x</div>').count("⟦") == 0


REFERENCES = {"ring": SimpleNamespace(label="A & B 2020")}


def test_a_source_is_named_where_its_key_stands():
    html = '<a data-cite="{0}" href="#ref-{0}">{1}</a>'.format
    label = changed(article_tree.label_citations, html("ring", "ring"), REFERENCES)
    assert label == html("ring", "A &amp; B 2020")
    for other in (html("ring", "source"), html("tree", "tree")):
        assert changed(article_tree.label_citations, other, REFERENCES) == other


def test_a_receipt_leads_from_the_page_it_stands_on():
    html = '<p><a data-cite="ring" href="#ref-ring">ring</a><i data-equation="v"></i></p>'
    receipt = article_tree.make_receipt(html, REFERENCES)
    assert '<a data-cite="ring" href="../#ref-ring">A &amp; B 2020</a>' in receipt.html
    assert receipt.equations == receipt.shown == ("v",)


DRAWING = '<svg class="chart-svg" aria-label="x"><svg></svg></svg>'


def test_an_article_says_what_others_ask_of_it():
    html = (
        "<p>After this guide you can</p>\n<ul>\n<li>say <em>why</em>;</li><li>do ⟦x=y⟧it.</li></ul>"
        '<section data-calculator="lab" data-of="lab"><input data-of="lab" inputmode="decimal">'
        '<select data-of="lab" name="gpu" data-more></select></section>'
        '<a class="number" href="receipts/#receipt-ring-time">1 s</a>'
        '<a class="number fixed" href="receipts/#receipt-fixed-2">1 s</a>'
        f'<figure data-of="zero" data-output="out">{DRAWING}</figure>'
        '<i data-equation="v"></i><i data-tex="v.n"></i>'
    )
    assert article_tree.read_facts(html_tree.parse(html)) == article_tree.ArticleFacts(
        whole=("lab",),
        live=("lab", "ring", "fixed", "zero"),
        inputs=("lab",),
        choices=(("lab", "gpu"),),
        drawn=(("zero", "out"),),
        drawings=(DRAWING,),
        equations=("v", "v.n"),
        outcomes=("say why", "do it"),
    )
