"""The content folder is read: articles, pictures, and what articles share."""

import pytest

from builder.content import library
from builder.content.content_folder import read_content
from builder.core import folders
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.problem import Problem
from builder.core.project import Project

SOURCE = '[hockney1994]\nauthors = ["Roger W. Hockney"]\nyear = 1994\ntitle = "T"\nurl = "{}"\n'


def article(title, more=""):
    return f'+++\ntitle = "{title}"\nsummary = "S"\n{more}+++\nText.\n'


@pytest.fixture
def site(tmp_path):
    project = Project(name="Tiny", engine="tiny", summary="A few pages.")

    def put(**contents):
        for name, held in contents.items():
            path = tmp_path / "content" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(held if isinstance(held, bytes) else held.encode())
        return folders.project_folders(project, tmp_path)

    return put


def titles(texts):
    return [one.title for one in texts.articles]


def test_articles_are_read_in_the_order_of_their_files(site):
    places = site(**{"tools/b.md": article("B"), "index.md": article("Home"), "a.md": article("A")})
    texts = read_content(places, drafts=False)
    assert [(one.source, one.title) for one in texts.articles] == [
        ("content/a.md", "A"),
        ("content/index.md", "Home"),
        ("content/tools/b.md", "B"),
    ]
    assert texts.problems == ()


def test_other_files_are_no_articles(site):
    texts = read_content(site(**{"a.txt": "no", "b.svg": "<svg/>", "c.mdx": "no"}), drafts=True)
    assert titles(texts) == ["Tiny"]
    assert texts.problems == ()


@pytest.mark.parametrize(
    ("drafts", "found"), [(True, ["Draft", "Home", "Other"]), (False, ["Home", "Other"])]
)
def test_drafts_are_read_where_they_are_asked_for(site, drafts, found):
    places = site(
        **{
            "a.md": article("Draft", "draft = true\n"),
            "index.md": article("Home"),
            "z.md": article("Other"),
        }
    )
    assert titles(read_content(places, drafts=drafts)) == found


def test_a_folder_without_a_home_page_gets_one_in_front(site):
    texts = read_content(site(**{"a.md": article("A")}), drafts=False)
    home, other = texts.articles
    assert other.title == "A"
    assert (home.source, home.slug, home.url, home.kind) == (
        "content/index.md",
        "index",
        "",
        "home",
    )
    assert (home.title, home.summary, home.text, home.body) == ("Tiny", "A few pages.", "", "")


def test_a_project_without_content_has_a_home_page_alone(site):
    texts = read_content(site(), drafts=False)
    assert titles(texts) == ["Tiny"]
    assert (texts.images, texts.problems) == ({}, ())
    assert (texts.library.references, texts.library.terms) == ({}, {})


def test_an_article_that_cannot_be_used_is_left_out_and_named(site):
    places = site(
        **{"a.md": "no", "b.md": b"\xef\xbb\xbf", "c.md": article("C"), "index.md": article("Home")}
    )
    texts = read_content(places, drafts=False)
    assert titles(texts) == ["C", "Home"]
    message = "an article begins with TOML front matter between two lines '+++'"
    assert texts.problems == (
        Problem("content/a.md", 1, message),
        Problem("content/b.md", 1, "begins with a byte-order mark; save it without"),
    )


def test_names_drawings_articles_shared_files_and_what_they_hold_are_named_in_this_order(site):
    places = site(
        **{
            "a b.md": "no",
            "c.svg": "<svg><set/></svg>",
            "glossary.toml": b"\xef\xbb\xbf",
            "references.toml": SOURCE.format("http://e.org/"),
        }
    )
    assert [(one.path, one.line) for one in read_content(places, drafts=False).problems] == [
        ("content/a b.md", 1),
        ("content/c.svg", 1),
        ("content/a b.md", 1),
        ("content/glossary.toml", 1),
        ("content/references.toml", 1),
    ]
    assert [
        one.message.partition(";")[0] for one in read_content(places, drafts=False).problems
    ] == [
        "'a b.md' is no address",
        "the tag <set> is not allowed in a drawing",
        "an article begins with TOML front matter between two lines '+++'",
        "begins with a byte-order mark",
        "'hockney1994' has the url 'http://e.org/'",
    ]


def test_what_articles_share_is_read_from_its_four_files(site):
    shelf = {
        "references.toml": SOURCE.format("https://e.org/"),
        "glossary.toml": '[GPU]\ntext = "A processor."\n',
        "readers.toml": '[new]\ntitle = "New"\ntext = "You are new."\n',
        "measured.json": '{"a": 1}',
    }
    texts = read_content(site(**shelf), drafts=False)
    assert texts.problems == ()
    assert list(texts.library.references) == ["hockney1994"]
    assert texts.library.terms["gpu"].text == "A processor."
    assert [one.key for one in texts.library.readers] == ["new"]
    assert texts.library.measured == {"a": 1}
    assert texts.library_digest == digest([*shelf.values()])
    assert [f"content/{name}" for name in shelf] == [*library.FILES]


@pytest.mark.parametrize("suffix", ["svg", "png", "jpg", "jpeg", "webp", "avif", "gif", "PNG"])
def test_pictures_are_read_as_they_are(site, suffix):
    held = b"<svg/>"
    texts = read_content(site(**{f"images/a.{suffix}": held, "images/a.txt": b"no"}), drafts=False)
    assert texts.images == {f"content/images/a.{suffix}": held}


def test_an_article_that_did_not_change_is_not_parsed_again(site):
    memo = BuildCache()
    places = site(**{"a.md": article("A"), "index.md": article("Home")})
    read_content(places, drafts=False, build_cache=memo)
    assert memo.computed == ["article content/a.md", "article content/index.md"]
    after = memo.for_next_build()
    assert titles(
        read_content(site(**{"a.md": article("B")}), drafts=False, build_cache=after)
    ) == [
        "B",
        "Home",
    ]
    assert after.computed == ["article content/a.md"]
