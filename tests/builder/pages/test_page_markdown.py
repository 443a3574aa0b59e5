"""A finished page becomes Markdown: its words and numbers, without what only a browser shows."""

import pytest

from builder.core import html_tree
from builder.core.html_tree import Element
from builder.pages.page_markdown import formula_line, page_markdown

ADDRESS = "https://a.org/guides/ring/"


def markdown(html, address):
    return page_markdown(html_tree.parse(html), address)


def text(html, address=ADDRESS):
    whole = markdown(f"<article>{html}</article>", address)
    end = f"\n\nInteractive figures: {address}\n"
    assert whole.endswith(end)
    return whole.removesuffix(end)


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("a \n\t b", "a b"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<h1>a</h1>\n<p>b</p>\n<h2>c</h2>\n<h3>d</h3>", "# a\n\nb\n\n## c\n\n### d"),
        ("a<ul><li>b</li><li>c</li></ul>", "a\n\n- b\n- c"),
        ("a<ol>\n<li>b</li>\n<li>c</li>\n</ol>", "a\n\n- b\n- c"),
        ("<ul><li><p>a</p><p>b</p></li><li> <p>c</p></li></ul>", "- a\n\nb\n- c"),
        ("a<blockquote>b</blockquote>", "a\n\n> b"),
        ("a <strong>b</strong> <em>c</em> <code>d</code>", "a **b** *c* `d`"),
        ("<dl><dt>a</dt><dd>b</dd><dt>c</dt><dd>d</dd></dl>", "**a**\nb\n\n**c**\nd"),
        ("a<figure>b</figure>c", "a\n\nbc"),
        ("a<div>b</div>c", "a\n\nb\n\nc"),
        ("a<details><summary>b</summary>c</details>d", "a\n\n**b**\n\ncd"),
        ("a <span>b</span><br>c<hr>", "a bc"),
        ("<p>a</p><p> <strong>b</strong></p>", "a\n\n**b**"),
        ("a<p> </p><p></p><p>b</p>", "a\n\nb"),
        ("a &amp; &#60;b&#62; &lt", "a & <b> <"),
        ("", ""),
    ],
)
def test_elements_become_signs_of_markdown(html, said):
    assert text(html) == said


def test_a_listing_keeps_its_blanks_and_its_lines():
    html = "a<pre><code>b  = <i>1</i>  \n\n  c  =  <i>2</i>\n</code></pre><p>d  <code>e</code></p>"
    assert text(html) == "a\n\n```\nb  = 1\n\n  c  =  2\n\n```\n\nd `e`"


def test_a_table_has_a_line_below_its_last_row_of_heads():
    head = "<tr><th>a</th></tr><tr><th><b>c</b></th><th>d</th></tr>"
    rows = "<tr><th>1</th><td>2</td></tr><tr><td>3</td><td><em>4</em></td></tr>"
    html = f"x<table><caption>T</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"
    assert text(html) == ("x\n\n**T**\n\n| a |\n| c | d |\n| --- | --- |\n| 1 | 2 |\n| 3 | *4* |")


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ('href="../zero/"', "[b](https://a.org/guides/zero/)"),
        ('href="/"', "[b](https://a.org/)"),
        ('href="https://b.org/c"', "[b](https://b.org/c)"),
        ('href="../zero/#c"', "[b](https://a.org/guides/zero/#c)"),
        ('class="numbers" href="c/"', "[b](https://a.org/guides/ring/c/)"),
        ('href="#c"', "b"),
        ('href=""', "b"),
        ("", "b"),
        ('class="live number" href="c/"', "b"),
    ],
)
def test_a_link_has_its_whole_address_unless_it_stays_in_the_page(attributes, said):
    assert text(f"a <a {attributes}>b</a> c") == f"a {said} c"


def test_without_an_address_of_the_site_links_stay_as_they_are():
    html = '<a href="../zero/">a</a> <a href="#c">b</a>'
    assert text(html, "guides/ring/") == "[a](../zero/) b"


def test_a_link_without_words_is_left_out():
    assert text('a<a href="../b/"></a><a href="../c/">\n <img src="d"> </a>.') == "a."


def test_what_is_typed_into_a_field_of_text_is_told():
    fields = '<input type="text" value="5 GB"><input value="6"><input type="range" value="7">'
    assert text(f"a {fields}<input type='text'>.") == "a 5 GB."
    assert text(f"a<div hidden>{fields}</div>b") == "ab"


@pytest.mark.parametrize("tag", ["svg", "script", "style", "template", "nav", "form", "label"])
def test_what_is_no_text_is_left_out(tag):
    assert text(f"a<{tag}>b</{tag}>c") == "ac"


LEFT_OUT = (
    "calculator fields controls actions figure-actions headerlink error hint also data share guess "
    "contents plot breadcrumb"
)


@pytest.mark.parametrize("name", LEFT_OUT.split())
def test_what_is_of_a_figure_or_of_the_page_is_left_out(name):
    assert text(f'a<div class="b {name}">c</div>d') == "ad"
    whole = f"my{name}".replace("-", "")
    assert text(f'a<span class="{whole} {whole}s">c</span>d') == "acd"


@pytest.mark.parametrize(
    "html",
    [
        "<dialog>b</dialog>",
        "<span hidden>b</span>",
        "<div popover>b</div>",
        "<button>b</button>",
        '<button class="terms">b</button>',
        "<option>b</option>",
        '<div class="plot"><p>b<div>c</div><br><input>d</p>e</div>',
        "<nav><math><mi>b</mi></math></nav>",
        "<nav><svg>b</svg>c</nav>",
    ],
)
def test_what_is_left_out_is_left_out_with_all_that_it_holds(html):
    assert text(f"a{html}z") == "az"


def test_words_of_a_term_and_of_the_chosen_option_stay():
    assert text('a <button class="a term">b</button>') == "a b"
    assert text("a <select><option>b</option><option selected>c</option></select>") == "a c"


FORMULA = "<mi>b</mi><mo>=</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"


def test_a_formula_stands_in_its_sentence_or_on_a_line_of_its_own():
    assert text(f"a <math>{FORMULA} c <b>d</b>") == "a b = 1/2 c d"
    assert text(f'a <math display="inline">{FORMULA}, <math>{FORMULA}.') == "a b = 1/2, b = 1/2."
    assert text(f'a<math display="block">{FORMULA}c') == "a\n\nb = 1/2\n\nc"


def test_a_title_below_a_heading_of_the_same_words_is_said_once():
    assert text("<h3>A b</h3><p>A b</p><p>c</p>") == "### A b\n\nc"
    assert text("<h3>A b</h3><p>A bc</p>") == "### A b\n\nA bc"
    assert text("<p>A b</p><p>A b</p>") == "A b\n\nA b"


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("<body>a<main>b<article>c\nd</article>e</main>f</body>", "c d"),
        ('<body>a<main\nclass="x">b</main>f</body>', "b"),
        ('<body class="x">a</body>', "a"),
        ("<article>a</article><article>b</article>", "a"),
    ],
)
def test_a_page_is_its_article_or_its_main_part_or_its_body(html, said):
    assert markdown(html, "x") == f"{said}\n\nInteractive figures: x\n"


@pytest.mark.parametrize("html", ["", "<p>a</p>", "<articles>a</articles>"])
def test_what_is_no_page_has_no_text(html):
    assert markdown(html, ADDRESS) == ""


def test_a_quotation_keeps_its_words_and_each_of_its_lines_its_sign():
    quote = "<p>x</p><blockquote>\n<p>a <em>b</em></p>\n<p>c</p>\n</blockquote>\n<p>y</p>"
    assert text(quote) == "x\n\n> a *b*\n>\n> c\n\ny"


def element(tag, *inside):
    nodes = [
        html_tree.escape_text(one) if isinstance(one, str) else element(*one) for one in inside
    ]
    return Element(tag, children=nodes)


def line(*inside):
    return formula_line(element("math", *inside))


def n(text):
    return ("mn", text)


def x(text):
    return ("mi", text)


def o(text):
    return ("mo", text)


@pytest.mark.parametrize("sign", "=+−-⋅·×≤≥≈<>∈→")
def test_a_sign_between_two_terms_stands_between_blanks(sign):
    assert line(x("a"), o(sign), x("b")) == f"a {sign} b"


@pytest.mark.parametrize("sign", "(),!∑")
def test_any_other_sign_stands_without_blanks(sign):
    assert line(x("a"), o(sign), x("b")) == f"a{sign}b"


def test_the_same_sign_in_words_stands_as_it_is():
    assert line(("mtext", "a=b")) == "a=b"


@pytest.mark.parametrize(
    ("above", "below", "said"),
    [
        (n("1"), n("2"), "1/2"),
        (n("4,096"), n("2.5"), "4,096/2.5"),
        (("mtext", "10 %"), ("mtext", "2.00 GB/s"), "10 %/2.00 GB/s"),
        (n("50%"), n("3×"), "50%/3×"),
        (x("x"), ("msub", x("N"), x("p")), "x/N_p"),
        (("msub", x("N"), ("mtext", "max")), x("y"), "N_max/y"),
        (x("xy"), x("z"), "(xy)/z"),
        (("mtext", "2 a b"), x("z"), "(2 a b)/z"),
        (("mrow", x("a"), o("+"), x("b")), ("mrow", x("c"), o("-"), n("1")), "(a + b)/(c - 1)"),
        (("mfrac", n("1"), n("2")), n("3"), "(1/2)/3"),
        (n("3"), ("mfrac", n("1"), n("2")), "3/(1/2)"),
    ],
)
def test_a_part_of_a_fraction_stands_in_parentheses_unless_it_is_one_thing(above, below, said):
    assert line(("mfrac", above, below)) == said


def test_what_follows_a_fraction_is_not_below_it():
    assert line(("mfrac", n("1"), n("2")), x("x")) == "1/2 x"
    assert line(("mfrac", n("1"), n("2")), o("="), x("x")) == "1/2 = x"
    assert line(o("("), ("mfrac", n("1"), n("2")), o(")"), x("x")) == "(1/2)x"


@pytest.mark.parametrize(
    ("tag", "sign"), [("msub", "_"), ("munder", "_"), ("msup", "^"), ("mover", "^")]
)
def test_a_mark_stands_behind_its_sign(tag, sign):
    assert line((tag, x("a"), x("b"))) == f"a{sign}b"


@pytest.mark.parametrize("tag", ["msubsup", "munderover"])
def test_of_two_marks_the_lower_comes_first(tag):
    assert line((tag, x("a"), x("b"), x("c"))) == "a_b^c"


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        (n("12"), "12"),
        (("mtext", "max"), "max"),
        (n("1.5"), "1.5"),
        (("mrow", x("i"), o("="), n("1")), "(i = 1)"),
        (("mfrac", n("1"), n("2")), "(1/2)"),
        (("mtext", " max "), "max"),
    ],
)
def test_a_mark_stands_in_parentheses_unless_it_is_a_word_or_a_number(mark, said):
    assert line(("msup", x("a"), mark)) == f"a^{said}"
    assert line(("msubsup", x("a"), mark, x("n"))) == f"a_{said}^n"
    assert line(("msubsup", x("a"), x("n"), mark)) == f"a_n^{said}"


@pytest.mark.parametrize("tag", ["mfrac", "msub", "munder", "msup", "mover"])
def test_of_what_has_two_parts_one_and_three_are_words(tag):
    assert line((tag, x("a"))) == "a"
    assert line((tag, x("a"), x("b"), x("c"))) == "abc"


@pytest.mark.parametrize("tag", ["msubsup", "munderover"])
def test_of_what_has_three_parts_two_and_four_are_words(tag):
    assert line((tag, x("a"), x("b"))) == "ab"
    assert line((tag, x("a"), x("b"), x("c"), x("d"))) == "abcd"


def test_a_root_stands_over_all_that_it_holds():
    assert line(("msqrt", x("a"), o("+"), x("b"))) == "√(a + b)"
    assert line(("msqrt", o("-"), x("b"))) == "√(- b)"


def test_rows_of_a_table_follow_each_other():
    rows = [("mtr", ("mtd", x("a"), o("="))), ("mtr", ("mtd", x("b")))]
    assert line(("mtable", *rows)) == "a =; b"


def test_blanks_between_elements_are_none_and_those_in_words_are_one():
    assert line(" ", x("a"), "\n", x("b")) == "ab"
    assert line(("mtext", "of \n a  GPU")) == "of a GPU"


def test_the_line_has_no_blank_at_its_ends_nor_two_in_a_row():
    assert line(o("="), o("+")) == "= +"
    assert line(o("("), x("a"), o("+"), o(")")) == "(a +)"


def test_the_sign_of_an_applied_function_is_left_out():
    assert line(x("f"), o("\u2061"), o("("), x("x"), o(")")) == "f(x)"


def test_a_page_as_markdown_keeps_sentences_numbers_and_code():
    html = """<body><a>Skip</a><article><h1>Ring</h1>
      <p>With <input type="text" value="8"> GPUs it takes
      <a class="number" href="receipts/#receipt-c-t">490 ms</a>, and not <em>more</em>.</p>
      <section class="calculator"><p>left <b>out</b></p></section><button>Play</button>
      <pre>a = 1\n  b = 2</pre><table><tr><th>n</th></tr><tr><td>2 &amp; 3</td></tr></table>
      <select><option>tree</option><option selected>ring</option></select></article></body>"""
    text = markdown(html, "https://example.org/w/ring/")
    assert "# Ring" in text
    assert "With 8 GPUs it takes 490 ms, and not *more*." in text
    assert "a = 1\n  b = 2" in text
    assert "| 2 & 3 |" in text
    assert "ring" in text.split("| 2 & 3 |")[1]
    assert "left" not in text
    assert "Play" not in text
    assert "Skip" not in text
    assert "tree" not in text


def test_an_item_of_a_list_that_holds_paragraphs_is_no_empty_bullet():
    html = """<body><article><ul><li>
      <p><b>One</b>, then code:</p><pre>a</pre><p>behind it</p></li>
      <li>two</li></ul></article></body>"""
    lines = markdown(html, ADDRESS).splitlines()
    assert lines[0] == "- One, then code:"
    assert [line for line in lines if line.startswith("-")] == [lines[0], "- two"]
    assert "behind it" in lines


def test_tables_links_code_and_formulas_are_markdown():
    html = """<body><article><p>See <a href="../tree/#why">trees</a>
      (<a href="#ref-a">A 2020</a>), <code>NCCL_ALGO</code>.</p>
      <table><caption>Rates</caption><thead><tr><th>n</th><th>GB/s</th></tr></thead>
      <tbody><tr><th>8</th><td>40</td></tr></tbody></table>
      <p>With <math><msup><mi>x</mi><mn>2</mn></msup></math>:</p><math display="block"><mrow>
      <mi>K</mi><mo>=</mo><mfrac><mn>1</mn><mrow><mn>1</mn><mo>+</mo><mi>f</mi></mrow></mfrac></mrow>
      </math></article></body>"""
    text = markdown(html, "https://example.org/w/ring/")
    assert "[trees](https://example.org/w/tree/#why) (A 2020), `NCCL_ALGO`." in text
    assert "[trees](../tree/#why)" in markdown(html, "guides/ring/")
    assert "**Rates**\n\n| n | GB/s |\n| --- | --- |\n| 8 | 40 |" in text
    assert "With x^2:\n\nK = 1/(1 + f)\n" in text


def test_a_formula_below_a_heading_of_its_title_has_that_title_once():
    formula = '<div class="view formula"><p class="view-title">{}</p><p>{} = 1</p></div>'
    html = "<article><h3>Ring</h3>" + formula.format("Ring", "T") + "<p>Ring</p>"
    text = markdown(html + "<h3>Tree</h3>" + formula.format("A tree", "U") + "</article>", ADDRESS)
    assert "### Ring\n\nT = 1\n\nRing\n" in text
    assert "### Tree\n\nA tree\n\nU = 1\n" in text


def test_code_keeps_its_blanks_behind_a_colored_word_too_and_what_follows_it_does_not():
    html = """<article><pre><code><span>if</span>  a:\n\n    b</code></pre>
      <p>So  it\nis, with <code>a</code>.</p></article>"""
    code, behind = markdown(html, ADDRESS).split("\n```\n")[:2]
    assert code == "```\nif  a:\n\n    b"
    assert behind.strip().startswith("So it is, with `a`.")
