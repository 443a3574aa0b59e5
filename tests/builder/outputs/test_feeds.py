"""Lists of the pages for programs, and pages as Markdown."""

import xml.etree.ElementTree as xml

from builder.outputs import feeds
from builder.outputs.feeds import page_markdown

BASE = "https://example.org/w/"


def test_the_feed_names_dated_pages_newest_first(finished):
    built = finished.build(base_url=BASE)
    feed = xml.fromstring(built.output["feed.xml"])
    atom = "{http://www.w3.org/2005/Atom}"
    dates = [entry.findtext(f"{atom}updated") for entry in feed.iter(f"{atom}entry")]
    assert dates
    assert dates == sorted(dates, reverse=True)
    assert all(one.text.startswith(BASE) for one in feed.iter(f"{atom}id"))


def test_a_site_without_an_address_has_no_feed(finished):
    assert "feed.xml" not in finished.build().output


def test_llms_txt_links_pages_that_exist(finished):
    built = finished.build(base_url=BASE)
    text = built.output["llms.txt"].decode()
    links = [part.partition(")")[0] for part in text.split(f"]({BASE}")[1:]]
    assert links
    assert {*links} <= {*built.output}


def test_a_page_as_markdown_keeps_sentences_numbers_and_code():
    html = """<body><a>Skip</a><article><h1>Ring</h1>
      <p>With <input type="text" value="8"> GPUs it takes
      <a class="number" href="receipts/#receipt-c-t">490 ms</a>, and not <em>more</em>.</p>
      <section class="calculator"><p>left <b>out</b></p></section><button>Play</button>
      <pre>a = 1\n  b = 2</pre><table><tr><th>n</th></tr><tr><td>2 &amp; 3</td></tr></table>
      <select><option>tree</option><option selected>ring</option></select></article></body>"""
    text = page_markdown(html, "https://example.org/w/ring/")
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
    lines = page_markdown(html, BASE).splitlines()
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
    text = page_markdown(html, "https://example.org/w/ring/")
    assert "[trees](https://example.org/w/tree/#why) (A 2020), `NCCL_ALGO`." in text
    assert "[trees](../tree/#why)" in page_markdown(html, "guides/ring/")
    assert "**Rates**\n\n| n | GB/s |\n| --- | --- |\n| 8 | 40 |" in text
    assert "With x^2:\n\nK = 1/(1 + f)\n" in text


def test_a_formula_below_a_heading_of_its_title_has_that_title_once():
    formula = '<div class="view formula"><p class="view-title">{}</p><p>{} = 1</p></div>'
    html = "<article><h3>Ring</h3>" + formula.format("Ring", "T") + "<p>Ring</p>"
    text = page_markdown(
        html + "<h3>Tree</h3>" + formula.format("A tree", "U") + "</article>", BASE
    )
    assert "### Ring\n\nT = 1\n\nRing\n" in text
    assert "### Tree\n\nA tree\n\nU = 1\n" in text


def test_code_keeps_its_blanks_behind_a_colored_word_too_and_what_follows_it_does_not():
    html = """<article><pre><code><span>if</span>  a:\n\n    b</code></pre>
      <p>So  it\nis, with <code>a</code>.</p></article>"""
    code, behind = page_markdown(html, BASE).split("\n```\n")[:2]
    assert code == "```\nif  a:\n\n    b"
    assert behind.strip().startswith("So it is, with `a`.")


def test_what_is_no_page_has_no_markdown():
    assert page_markdown("<p>x</p>", BASE) == ""
    assert feeds.markdown_files([], {}, BASE) == {}
