"""What can be found on the pages of lists, entry by entry."""

from builder.content.article import Article
from builder.content.bibliography import Reference
from builder.content.library import Library
from builder.outputs.search_documents import SearchEntry, page_entries
from tests.each import each


def article(slug):
    return Article(
        source=f"content/reference/{slug}.md",
        slug=slug,
        url=f"reference/{slug}/",
        kind="page",
        title=slug,
        summary="",
        text="",
        body="",
    )


def source(key, **given):
    told = {"authors": "A. One", "year": "2005", "where": "A Journal", "used_for": ""}
    return Reference(key=key, label="", title=f"On <{key}>", url="", isbn="", **{**told, **given})


EMPTY = Library(references={}, terms={})
SECTIONS = (
    '<article><h3 id="time_of">Time &amp; size<a class="headerlink" href="#">#</a></h3>'
    '<div class="view formula"><div><math><mn data-slot="T">3.5 ms</mn></math></div></div>'
    "<p>How  long\nit <b>takes</b>.</p><script>no()</script>"
    '<h3 id="bare">Bare</h3><p>a &lt; b ·</p><math>M</math><h2 id="x">Next</h2><p>not its</p>'
    '<h3 id="last">Last</h3><p>end</p></article><p>outside</p>'
)


def found(slug, html, library=EMPTY):
    return list(page_entries(article(slug), html, library))


def test_a_formula_is_found_with_its_value_and_meaning():
    url = "reference/formulas/"
    assert found("formulas", SECTIONS) == [
        SearchEntry(
            name="time_of",
            kind="Formula",
            html="<h1>Time &amp; size</h1><p>With the inputs of the sheet: 3.5 ms. "
            "How long it takes.</p>",
            url=f"{url}#time_of",
        ),
        SearchEntry(
            name="bare", kind="Formula", html="<h1>Bare</h1><p>a &lt; b</p>", url=f"{url}#bare"
        ),
        SearchEntry(name="last", kind="Formula", html="<h1>Last</h1><p>end</p>", url=f"{url}#last"),
    ]


def test_a_question_is_found_with_its_answer():
    html = '<h3 id="why">Why?<button>x</button></h3><p>So.</p><template>t</template></article>'
    assert found("questions", html) == [
        SearchEntry(
            name="why",
            kind="Question",
            html="<h1>Why?</h1><p>So.</p>",
            url="reference/questions/#why",
        )
    ]


def test_a_claim_is_found_with_what_is_right():
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("They say", "Printed", "Right", "Verdict")
    )
    html = (
        f'<table class="stack wide"><tr>{head}<th scope="col">Why</th></tr>'
        '<tr role="row"><th scope="row">A &amp; B</th><td>1.</td><td>2</td>'
        "<td><b>wrong</b></td><td>x &lt; y.</td></tr>"
        '<tr role="row"><td>C</td><td>3</td><td>3</td><td>right</td><td>so</td></tr></table>'
        '<table class="other"><tr role="row"><td>no</td></tr></table>'
    )
    assert found("claims", html) == [
        SearchEntry(
            name="0",
            kind="Claim",
            html="<h1>A &amp; B</h1><p>Printed: 1. Right: 2. Verdict: wrong. Why: x &lt; y.</p>",
            url="reference/claims/#claims_checked",
        ),
        SearchEntry(
            name="1",
            kind="Claim",
            html="<h1>C</h1><p>Printed: 3. Right: 3. Verdict: right. Why: so.</p>",
            url="reference/claims/#claims_checked",
        ),
    ]


def test_a_source_is_found_by_its_title_which_weighs_little():
    one, two = source("a"), source("b", used_for="The & of it.")
    library = Library(references={"a": one, "b": two}, terms={})
    assert found("bibliography", "", library) == [
        SearchEntry(
            name="a",
            kind="Source",
            html='<h1 data-pagefind-weight="2">On &lt;a&gt;</h1><p>A. One (2005). A Journal.</p>',
            url="reference/bibliography/#ref-a",
        ),
        SearchEntry(
            name="b",
            kind="Source",
            html='<h1 data-pagefind-weight="2">On &lt;b&gt;</h1>'
            "<p>A. One (2005). A Journal. The &amp; of it.</p>",
            url="reference/bibliography/#ref-b",
        ),
    ]


@each("slug", ["glossary", "formula", ""])
def test_a_page_of_no_list_has_no_entries(slug):
    assert found(slug, SECTIONS, Library(references={"a": source("a")}, terms={})) == []
