"""What a page has, read from plain tags and, where one is not plain, by a parser."""

from builder.pages.html_facts import HtmlFacts, parse_facts
from tests.each import each

# A tag in capitals is not plain: the whole page is then parsed.
WAYS = ["", "<P>"]
OWN = "of its own"


def nothing(**found):
    empty = {"ids": (), "urls": (), "referenced_ids": (), "images_without_alt": (), "forbidden": ()}
    return HtmlFacts(**{**empty, **found})


@each("way", WAYS)
@each(
    ("html", "found"),
    [
        ("", {}),
        ("<p>text</p>", {}),
        ('<p id="a"><b id="b"></b><b id="a"></b></p>', {"ids": ("a", "b", "a")}),
        ('<p id=""></p>', {"ids": ("",)}),
        (
            '<a href="x/"></a><a href="y/"></a><a href="x/"></a>',
            {"urls": ("x/", "y/")},
        ),
        (
            '<div data-runtime="r" data-worker="w" data-bokeh="b" data-figures="f"></div>',
            {"urls": ("f", "b", "w", "r")},
        ),
        ('<img alt="A" src="a.png">', {"urls": ("a.png",)}),
        ('<link rel="canonical" href="https://x.org/">', {}),
        ('<link rel="icon" href="i.svg">', {"urls": ("i.svg",)}),
        ('<a rel="canonical" href="c/"></a>', {"urls": ("c/",)}),
        (
            '<label for="a"></label><i aria-describedby="b c" aria-labelledby="a d"></i>',
            {"referenced_ids": ("a", "b", "c", "d")},
        ),
        ('<i aria-controls="e"></i><i popovertarget="f"></i>', {"referenced_ids": ("e", "f")}),
        ('<img src="a.png">', {"urls": ("a.png",), "images_without_alt": ("a.png",)}),
        ('<img src="b.png" alt=" ">', {"urls": ("b.png",), "images_without_alt": ("b.png",)}),
        ("<img><img>", {"images_without_alt": ("", "")}),
        ('<i alt=""></i>', {}),
    ],
)
def test_a_page_has_what_its_tags_say(way, html, found):
    assert parse_facts(way + html) == nothing(**found)


@each("way", WAYS)
@each(
    ("html", "forbidden"),
    [
        ("<script>a</script>", ("<script", f"the page has a <script> {OWN}")),
        ('<script type="module">a</script>', ("<script", f"the page has a <script> {OWN}")),
        *(
            (f"<{name}></{name}>", (f"<{name}", f"the page has a <{name}> {OWN}"))
            for name in ("iframe", "frame", "frameset", "object", "embed", "applet", "style")
        ),
        ("<base>", ("<base", f"the page has a <base> {OWN}")),
        (
            '<p onclick="a()"></p>',
            ("onclick", "the attribute 'onclick' is a script, which the page's policy refuses"),
        ),
        ("<p on></p>", ("on", "the attribute 'on' is a script, which the page's policy refuses")),
        *(
            (f'<p {name}="x"></p>', (name, f"the attribute '{name}' is not allowed on a page"))
            for name in ("ping", "srcdoc", "formaction", "background")
        ),
        (
            '<i srcset="https://x.org/a.png"></i>',
            (
                "https://x.org/a.png",
                "'https://x.org/a.png' is not a file of the site; a page loads nothing else",
            ),
        ),
        (
            '<i srcset="//x.org/a.png"></i>',
            (
                "//x.org/a.png",
                "'//x.org/a.png' is not a file of the site; a page loads nothing else",
            ),
        ),
    ],
)
def test_what_the_policy_refuses_is_said(way, html, forbidden):
    assert parse_facts(way + html).forbidden == (forbidden,)
    assert parse_facts(way + html * 2).forbidden == (forbidden,)


@each("way", WAYS)
@each(
    "html",
    [
        '<script src="a.js"></script>',
        '<script type="application/json">{}</script>',
        '<script type="application/ld+json" src="a.js"></script>',
        '<i srcset="a.png"></i>',
        '<img alt="A" src="../a.png">',
        '<a href="https://x.org/"></a>',
        '<link href="data:,">',
        '<a href="mailto:a@x.org"></a>',
        '<meta charset="utf-8"><link href="a.css"><body>',
        '<i data-on="x"></i>',
    ],
)
def test_what_the_policy_allows_is_not_forbidden(way, html):
    assert parse_facts(way + html).forbidden == ()


@each("way", WAYS)
@each("value", ["data:,x", "blob:x"])
def test_a_link_does_not_lead_to_data(way, value):
    message = f"external link '{value}' has to begin with https://"
    assert parse_facts(f'{way}<a href="{value}"></a>').forbidden == ((value, message),)


@each("way", WAYS)
def test_a_file_of_another_site_is_refused_and_is_a_url(way):
    found = parse_facts(f'{way}<img alt="A" src="http://x.org/a.png">')
    message = "'http://x.org/a.png' is not a file of the site; a page loads nothing else"
    assert found.forbidden == (("http://x.org/a.png", message),)
    assert found.urls == ("http://x.org/a.png",)


@each("way", WAYS)
@each("name", ["meta", "link"])
def test_what_belongs_in_the_head_is_refused_behind_it(way, name):
    inside = (f"<{name}", f"the page has a <{name}> in its text")
    assert parse_facts(f'{way}<{name} charset="a"><body>').forbidden == ()
    assert parse_facts(f'{way}<body><p id="a"></p><{name} charset="a">').forbidden == (inside,)


def test_a_tag_that_is_known_says_the_same_again():
    html = '<p id="known-one"></p><a href="known/"></a><img src="known.png">'
    found = nothing(
        ids=("known-one",), urls=("known/", "known.png"), images_without_alt=("known.png",)
    )
    assert parse_facts(html) == found
    assert parse_facts(html) == found


def test_a_tag_behind_a_script_is_read():
    html = '<script src="behind.js"></script><p id="behind-it"></p>'
    assert parse_facts(html) == nothing(ids=("behind-it",), urls=("behind.js",))


def test_a_tag_within_a_script_is_text():
    assert parse_facts('<script src="a.js"><p id="within"></p></script>').ids == ()


def test_one_tag_that_is_not_plain_hides_none_of_the_others():
    assert parse_facts('<p id="plain"></p><P ID=bare></P>').ids == ("plain", "bare")


@each(
    ("comment", "forbidden"),
    [
        ("<!--fine-->", ()),
        ("<!--a<!--b-->", (("<!--", "the comment <!--a<!--b--> ends earlier for a browser"),)),
    ],
)
def test_a_comment_that_ends_early_is_refused(comment, forbidden):
    assert parse_facts(f'{comment}<p id="a"></p>') == nothing(ids=("a",), forbidden=forbidden)


def test_a_declaration_that_is_unknown_is_refused():
    assert parse_facts("<![if x]><b>a</b>").forbidden == (("<![", "the page has <![if x]>"),)
