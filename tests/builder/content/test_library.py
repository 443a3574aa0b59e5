import pytest

from builder.content.bibliography import Reference
from builder.content.library import (
    Library,
    Reader,
    Term,
    line_of_table,
    parse_library,
    term_problems,
)
from builder.core.problem import Problem
from tests.each import each

GOOD = '[ring]\ntitle = "Rings"\nyear = 2005\nurl = "https://x.org/"\n'
SOURCES = "content/references.toml"
GLOSSARY = "content/glossary.toml"
READERS = "content/readers.toml"
KEYS = "authors, year, title, where, url, isbn, used_for, checked, label"


def problems(references="", glossary="", readers="", measured=""):
    return parse_library(references, glossary, readers, measured)[1]


def of_source(lines):
    """Return what is said of a source that is right but for these lines."""
    text = GOOD + lines
    found = problems(text)
    assert {(one.path, one.line) for one in found} <= {(SOURCES, 1)}
    return [one.message for one in found]


def test_empty_files_give_an_empty_library():
    empty = Library(references={}, terms={}, readers=(), measured=None)
    assert parse_library("", "") == (empty, [])
    assert parse_library("", "", "", "") == (empty, [])


def test_all_four_files_are_read():
    glossary = '\n[Ring]\ntext = "A circle."\nalso = ["Rings", "LOOP"]\nsee = "ring"\n'
    readers = '[one]\ntitle = "One"\ntext = "For one."\n[two]\ntitle = "Two"\ntext = "For two."\n'
    library, wrong = parse_library(GOOD, glossary, readers, '{"places": {}}')
    term = Term(name="Ring", text="A circle.", see="ring", line=2, asked=("Rings", "LOOP"))
    assert wrong == []
    assert library == Library(
        references={
            "ring": Reference(
                key="ring",
                label="Rings 2005",
                authors="",
                year="2005",
                title="Rings",
                where="",
                url="https://x.org/",
                isbn="",
                used_for="",
            )
        },
        terms={"ring": term, "rings": term, "loop": term},
        readers=(
            Reader(key="one", title="One", text="For one."),
            Reader(key="two", title="Two", text="For two."),
        ),
        measured={"places": {}},
    )


def test_a_term_needs_no_page_and_no_other_name():
    library, wrong = parse_library("", '[a]\ntext = "b"\n')
    assert (library.terms, wrong) == ({"a": Term(name="a", text="b", see="", line=1)}, [])


@each(
    "lines",
    [
        "",
        'authors = "A. One"',
        'authors = ["A. One", "B. Two"]',
        "authors = []",
        'where = "Here"\nused_for = "This."\nlabel = "L"\nisbn = "1"',
        "checked = true",
        "checked = false",
    ],
)
def test_a_source_that_is_right_is_not_complained_of(lines):
    assert of_source(lines) == []


@each(
    ("lines", "message"),
    [
        ("where = 1", "'ring' has the where 1; it has to be a text"),
        ("label = true", "'ring' has the label True; it has to be a text"),
        ("checked = 1", "'ring' has the checked 1; it has to be true or false"),
        ("authors = 1", "'ring' has the authors 1; it has to be a text or a list of texts"),
        ("authors = [1]", "'ring' has the authors [1]; it has to be a text or a list of texts"),
        (
            'authors = ["a", 1]',
            "'ring' has the authors ['a', 1]; it has to be a text or a list of texts",
        ),
        ('where = ["a"]', "'ring' has the where ['a']; it has to be a text"),
        ("from = 1", f"'ring' has an unknown key 'from'; there are {KEYS}"),
    ],
)
def test_a_source_that_is_wrong_is_told_what_it_has_to_be(lines, message):
    assert of_source(lines) == [message]


@each(
    ("year", "fits"),
    [
        ("2005", True),
        ("-300", True),
        ('"2005"', True),
        ('"since 2005, now"', True),
        ('"n.d."', True),
        ('"n. d."', True),
        ('"n.  d."', False),
        ('"205"', False),
        ('"20051"', False),
        ('"12005"', False),
        ('"soon"', False),
        ('""', False),
        ("2005.5", False),
    ],
)
def test_a_year_is_a_number_or_a_text_with_a_year_in_it(year, fits):
    found = problems(f'[a]\ntitle = "T"\nisbn = "1"\nyear = {year}\n')
    value = year.replace('"', "'")
    told = "a year, a text with a year in it, or 'n.d.' where none is known"
    message = f"'a' has the year {value}; it has to be {told}"
    assert found == ([] if fits else [Problem(SOURCES, 1, message)])


def test_what_is_wrong_is_told_in_one_order_and_keeps_a_source_out():
    text = '# first\n[a]\nurl = "http://x.org"\nzoo = 1\nbar = 2\nwhere = 3\n'
    library, found = parse_library(text, "")
    assert library.references == {}
    assert found == [
        Problem(SOURCES, 2, message)
        for message in (
            "'a' has no title",
            "'a' has no year",
            "'a' has the where 3; it has to be a text",
            f"'a' has an unknown key 'bar'; there are {KEYS}",
            f"'a' has an unknown key 'zoo'; there are {KEYS}",
            "'a' has the url 'http://x.org'; external links begin with https://",
        )
    ]


@each(
    ("where", "wrong"),
    [
        ('url = "https://x.org"', False),
        ('isbn = "1"', False),
        ('where = "Here"', True),
    ],
)
def test_a_source_has_a_url_or_an_isbn(where, wrong):
    message = "'a' has no url, and no isbn as a printed book has"
    found = problems(f'[a]\ntitle = "T"\nyear = 2005\n{where}\n')
    assert found == ([Problem(SOURCES, 1, message)] if wrong else [])


def test_one_that_is_wrong_leaves_the_others():
    library, found = parse_library(f"{GOOD}[b]\nyear = 1999\n", "")
    assert list(library.references) == ["ring"]
    assert found == [
        Problem(SOURCES, 5, "'b' has no title"),
        Problem(SOURCES, 5, "'b' has no url, and no isbn as a printed book has"),
    ]


def test_what_is_no_table_is_told_so():
    assert problems('ring = "Rings"\n') == [
        Problem(SOURCES, 1, "'ring' has to be a table [ring]"),
    ]


@each(
    ("lines", "message"),
    [
        ('see = "x"', "'a' has no text"),
        ('text = "b"\nalso = "c"', "'a' has the also 'c'; it has to be a list of texts"),
        ('text = "b"\nalso = [1]', "'a' has the also [1]; it has to be a list of texts"),
        (
            'text = "b"\nyear = 1',
            "'a' has an unknown key 'year'; there are text, also, see, asked, tools",
        ),
    ],
)
def test_a_term_that_is_wrong_is_told_so(lines, message):
    assert problems(glossary=f"[a]\n{lines}\n") == [Problem(GLOSSARY, 1, message)]


def test_a_reader_needs_a_title_and_a_text():
    assert problems(readers='[a]\nname = "x"\n') == [
        Problem(READERS, 1, "'a' has no title"),
        Problem(READERS, 1, "'a' has no text"),
        Problem(READERS, 1, "'a' has an unknown key 'name'; there are title, text, guides"),
    ]


def test_a_name_of_two_terms_is_told_at_the_second():
    text = '[Ring]\ntext = "a"\nalso = ["loop", "Ring", "RING"]\n\n[Circle]\ntext = "b"\n'
    assert problems(glossary=text) == []
    assert problems(glossary=text + 'also = ["Loop"]\n') == [
        Problem(GLOSSARY, 5, "'Loop' is a name of both 'Ring' and 'Circle'")
    ]


def test_a_term_named_as_another_is_told_too():
    text = '[Ring]\ntext = "a"\n[ring]\ntext = "b"\n[x]\ntext = "c"\nalso = ["RING"]\n'
    assert problems(glossary=text) == [
        Problem(GLOSSARY, 3, "'ring' is a name of both 'Ring' and 'ring'"),
        Problem(GLOSSARY, 5, "'RING' is a name of both 'Ring' and 'x'"),
    ]


@each(
    ("at", "path"),
    [("references", SOURCES), ("glossary", GLOSSARY), ("readers", READERS)],
)
def test_a_file_that_cannot_be_read_names_its_line(at, path):
    (found,) = problems(**{at: "[a]\n\nb = = 1\n"})
    assert (found.path, found.line) == (path, 3)
    assert "Invalid value" in found.message


def test_what_was_measured_is_kept_as_it_is_or_told_wrong():
    assert parse_library("", "", "", '{"a": [1]}')[0].measured == {"a": [1]}
    library, found = parse_library("", "", "", '{\n"a" 1}')
    assert library.measured is None
    assert found == [Problem("content/measured.json", 2, "Expecting ':' delimiter")]


def test_problems_come_file_by_file():
    glossary = '[a]\ntext = "x"\nalso = ["c"]\n[b]\ntext = "y"\nalso = ["c"]\n[d]\n'
    found = problems("[a]\n", glossary, "[a]\n", "{")
    assert [(one.path, one.line) for one in found] == [
        *[(SOURCES, 1)] * 3,
        (GLOSSARY, 7),  # no text
        (GLOSSARY, 4),  # a name of two
        *[(READERS, 1)] * 2,
        ("content/measured.json", 1),
    ]


@each(
    ("text", "line"),
    [
        ("[a b]", 1),
        ("x\n[a b]\n[a b]", 2),
        ('x\n  [ "a b" ] # more', 2),
        ("x\n['a b']", 2),
        ("x\n[a b c]", 1),
        ("x\n[c a b]", 1),
        ("x\ny = [a b]", 1),
        ("", 1),
    ],
)
def test_a_table_begins_at_the_line_of_its_head(text, line):
    assert line_of_table(text, "a b") == line


def test_a_key_is_no_pattern():
    assert line_of_table("[axb]\n[a.b]", "a.b") == 2


def test_a_term_names_a_page_that_is_there():
    def term(name, see, line):
        return Term(name=name, text="", see=see, line=line)

    one, two, three = term("one", "gone", 3), term("two", "ring", 5), term("three", "", 7)
    library = Library(references={}, terms={"one": one, "1": one, "two": two, "three": three})
    message = "'one' names the page 'gone', which is not there"
    assert term_problems(library, ["ring"]) == [Problem(GLOSSARY, 3, message)]
    assert term_problems(library, iter(["ring", "gone"])) == []


def test_a_library_has_neither_readers_nor_measures_unless_given():
    assert Library(references={}, terms={}) == Library(
        references={}, terms={}, readers=(), measured=None
    )
    with pytest.raises(TypeError):
        Library(references={})
