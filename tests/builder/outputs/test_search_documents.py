"""The documents of the search: pages, calculators, terms, and what pages of lists list."""

from types import SimpleNamespace

from builder.content.article import Article
from builder.content.library import Library, Term
from builder.content.navigation import PageLink
from builder.outputs.search_documents import asked_words, search_documents
from tests.each import each

HEAD = '<!doctype html><html lang="en">'
EMPTY = Library(references={}, terms={})


def article(slug, kind="guide"):
    return Article(
        source="",
        slug=slug,
        url=f"{slug}/" if slug else "",
        kind=kind,
        title="",
        summary="",
        text="",
        body="",
    )


def term(name, text="It is."):
    return Term(name=name, text=text, see="", line=1)


def tool(title, url):
    return PageLink(slug="", url=url, kind="tool", title=title, question="", summary="", minutes=0)


def calculator(outputs, labels=("Size", "Link <1>")):
    return SimpleNamespace(
        name="lab",
        title="Lab & more",
        question="How <long>?",
        fields=[SimpleNamespace(label=label) for label in labels],
        outputs=outputs,
    )


def document(kind, url, text):
    return (
        f'{HEAD}<body><main data-pagefind-meta="kind:{kind}" data-pagefind-filter="kind:{kind}">'
        f'<i data-pagefind-meta="place:{url}"></i>{text}</main></body></html>'
    )


def found(articles=(), pages=None, tools=(), calculators=None, library=EMPTY, language="en"):
    return search_documents(articles, pages or {}, tools, calculators or {}, library, language)


def outputs_of(view):
    """Return what is told of a calculator's one output."""
    one = found(tools=[tool("Lab & more", "t/")], calculators={"lab": calculator({"out": view})})
    return one["_/lab/index.html"].partition("Size, Link &lt;1&gt;.</p>")[2].partition("</main>")[0]


def test_nothing_gives_no_documents():
    assert found() == {}


@each(
    ("kind", "told"),
    [
        ("guide", "Guide"),
        ("tool", "Tool"),
        ("tab", "Guide"),
        ("page", "Reference"),
        ("path", "Path"),
        ("shelf", "Reference"),
        ("embed", "Page"),
    ],
)
def test_a_page_says_its_kind_and_its_place(kind, told):
    pages = {"a/index.html": "<article>Text</article>"}
    expected = document(told, "a/", "<article>Text</article>")
    assert found([article("a", kind)], pages) == {"a/index.html": expected}


def test_the_home_page_and_what_is_no_page_are_not_found():
    pages = {"index.html": "<div></div>", "x/index.html": "<div></div>"}
    assert found([article("", "home"), article("a")], pages) == {}


def test_what_a_page_of_lists_lists_is_found_beside_it():
    pages = {"questions/index.html": '<article><h3 id="why">Why?</h3><p>So.</p></article>'}
    made = found([article("questions", "page")], pages)
    assert list(made) == ["questions/index.html", "_/question-why/index.html"]
    expected = document("Question", "questions/#why", "<h1>Why?</h1><p>So.</p>")
    assert made["_/question-why/index.html"] == expected


def test_a_calculator_is_found_where_it_stands_with_its_inputs_and_outputs():
    view = {"label": "Time <t>", "text": "3 ms", "note": "at most"}
    made = found(tools=[tool("Lab & more", "t/")], calculators={"lab": calculator({"out": view})})
    text = (
        "<h1>Lab &amp; more</h1><p>How &lt;long&gt;?</p><p>Inputs: Size, Link &lt;1&gt;.</p>"
        '<h2 id="lab-out">Time &lt;t&gt;</h2><p>3 ms at most</p>'
    )
    assert made == {"_/lab/index.html": document("Calculator", "t/", text)}


def test_a_calculator_on_no_page_is_not_found():
    assert found(tools=[tool("Other", "t/")], calculators={"lab": calculator({})}) == {}


@each(
    ("view", "told"),
    [
        ({}, ""),
        ({"text": "3 ms", "note": "at most"}, ""),
        ({"title": "T", "text": "3 ms"}, "T</h2><p>3 ms"),
        ({"label": "L", "title": "T", "caption": "C"}, "L</h2><p>C"),
        ({"title": "T", "text": "X", "caption": "C", "html": "H"}, "T</h2><p>X"),
        ({"title": "T", "caption": "C", "html": "H"}, "T</h2><p>C"),
        ({"title": "T", "html": "<b>a</b>\n <i>b</i> "}, "T</h2><p>a b"),
        ({"title": "T", "html": None}, "T</h2><p>"),
        ({"title": "T", "note": "a > b"}, "T</h2><p> a &gt; b"),
        ({"title": "T", "text": "X", "note": ""}, "T</h2><p>X"),
    ],
)
def test_an_output_is_told_by_its_title_and_what_it_says(view, told):
    assert outputs_of(view) == (f'<h2 id="lab-out">{told}</p>' if told else "")


def test_a_term_is_found_once_on_the_page_of_the_glossary():
    ring = term("Ring <1>", "A & B")
    library = Library(references={}, terms={"ring <1>": ring, "rings": ring, "x": term("x")})
    made = found([article("a"), article("glossary", "page")], library=library)
    assert made == {
        "_/term-term-ring-1/index.html": document(
            "Term", "glossary/#term-ring-1", "<h1>Ring &lt;1&gt;</h1><p>A &amp; B</p>"
        ),
        "_/term-term-x/index.html": document("Term", "glossary/#term-x", "<h1>x</h1><p>It is.</p>"),
    }


def test_terms_without_a_page_of_the_glossary_are_not_found():
    library = Library(references={}, terms={"x": term("x")})
    assert found([article("a")], library=library) == {}
    assert found([article("glossary")]) == {}


def test_a_document_is_in_the_language_of_its_texts():
    made = found([article("a")], {"a/index.html": ""}, language="de")["a/index.html"]
    assert made.startswith('<!doctype html><html lang="de"><body>')


def test_what_readers_type_leads_to_tools_before_guides_and_the_term():
    memory = Term(
        name="Memory", text="", see="guide", line=1, asked=("OOM", "slow"), tools=("tool",)
    )
    speed = Term(name="Speed", text="", see="guide", line=5, asked=("slow",))
    articles = [article("guide"), article("tool", "tool"), article("glossary", "page")]
    library = Library(references={}, terms={"memory": memory, "speed": speed})
    found = asked_words(articles, library)
    assert found["pages"] == [
        ["", "tool/", "Tool"],
        ["", "guide/", "Guide"],
        ["Memory", "glossary/#term-memory", "Term"],
        ["Speed", "glossary/#term-speed", "Term"],
    ]
    assert found["words"] == {
        "memory": [0, 1, 2],
        "oom": [0, 1, 2],
        "slow": [0, 1, 2, 3],
        "speed": [1, 3],
    }
