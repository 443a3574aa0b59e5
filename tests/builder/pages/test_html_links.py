import pytest

from builder.pages.html_facts import link_problems, parse_facts


def messages(html, others=frozenset(), path="a/index.html"):
    return [message for _, _, message in link_problems({path: parse_facts(html)}, others)]


def test_a_sound_page_has_no_problem():
    assert messages('<p id="x"><a href="#x">x</a><a href="https://e.org/">e</a></p>') == []


def test_a_link_to_a_folder_means_its_index():
    pages = {"index.html": parse_facts('<a href="./b/">b</a>'), "b/index.html": parse_facts("")}
    assert list(link_problems(pages, frozenset())) == []


def test_a_missing_file_is_named():
    assert messages('<img alt="x" src="../x.png">') == [
        "link to '../x.png': there is no x.png in the output"
    ]


def test_a_file_of_the_output_is_found():
    assert messages('<img alt="x" src="../x.png">', frozenset({"x.png"})) == []


def test_a_label_needs_its_field():
    assert messages('<label for="x">x</label>') == [
        "'x' is referred to by its id, but there is none"
    ]


def test_an_image_in_html_needs_alt_text():
    found = messages('<img src="../x.png">', frozenset({"x.png"}))
    assert found == ["image '../x.png' has no alt text"]


def test_a_script_from_elsewhere_is_a_broken_link():
    assert messages('<script src="//cdn.example.org/x.js"></script>') != []


@pytest.mark.parametrize(
    "html",
    [
        "<script>x</script>",
        "<iframe></iframe>",
        "<style>p {}</style>",
        '<base href="x/">',
        '<p onclick="x">a</p>',
        '<img alt="x" src="https://e.org/x.png">',
        '<img alt="x" srcset="//e.org/x.png 2x">',
        '<a href="data:text/html,x">x</a>',
    ],
)
def test_what_the_policy_refuses_is_named(html):
    assert len(parse_facts(html).forbidden) == 1


@pytest.mark.parametrize(
    "html",
    [
        '<script type="module" src="a.js"></script>',
        '<script type="application/json">{}</script>',
        '<link rel="icon" href="data:image/svg+xml,x">',
        '<a href="https://e.org/">x</a><img alt="x" src="../x.png">',
        '<p data-on="x" role="note">a</p>',
    ],
)
def test_what_a_page_may_have_is_not(html):
    assert parse_facts(html).forbidden == ()


def test_an_id_that_stands_three_times_is_counted():
    found = messages('<p id="x"></p><p id="x"></p><p id="x"></p>')
    assert found == ["the id 'x' stands 3 times on the page"]


def test_an_anchor_of_another_page_is_looked_up_there():
    pages = {
        "index.html": parse_facts('<a href="b/#y">b</a>'),
        "b/index.html": parse_facts('<p id="x"></p>'),
    }
    assert [message for _, _, message in link_problems(pages, frozenset())] == [
        "link to 'b/#y': b/index.html has no anchor 'y'; there are x"
    ]


def test_other_schemes_are_refused():
    assert messages('<a href="ftp://e.org/">x</a>') == [
        "external link 'ftp://e.org/' has to begin with https://"
    ]


@pytest.mark.parametrize(
    "html",
    [
        '<p id="a">1 < 2</p><a href="#a">a</a>',
        "<script>if (a<b) { '<i id=\"x\">' }</script><p id=y>",
        '<title><b id="x"></title><P ID="z" onClick="x()">',
        "<script src='a.js'></script><style></style><img src=\"b.png\"><meta name='c'>",
        '<body><link href="d" rel="canonical"><meta><textarea><a href="e"></textarea>',
        '<svg viewBox="0 0 1 1"><text aria-labelledby="f g">f</text></svg><br/>',
        '<a href="g"title="h"><a href=\'i"j\' ping="k" data-l="m>n"><p ID=o onclick>',
    ],
)
def test_tags_read_one_by_one_say_what_a_parser_hears(html):
    # A page with a comment is read by the parser as a whole.
    assert parse_facts(html) == parse_facts(f"{html}<!-- a -->") == parse_facts(f"<!-- a -->{html}")
