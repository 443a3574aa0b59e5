import tomllib

import pytest

from builder.cli import cite_command, commands
from builder.content import library

BIB = r"""
@article{Dao:2022,
  author = {Dao, Tri and Fu, Daniel Y. and R{\'e}, Christopher},
  title = {{FlashAttention}: Fast and
           Memory-Efficient "Exact" Attention},
  journal = {NeurIPS}, volume = 35, pages = {16344--16359}, year = 2022,
  doi = {10.48550/arXiv.2205.14135}
}
@misc{torch, title = {PyTorch}, author = {PyTorch}, year = {2026}, url = {https://pytorch.org/}}
"""
OLD = '[hockney1994]\ntitle = "The communication challenge"\nyear = 1994\nurl = "https://e.org/"\n'


@pytest.fixture
def root(tmp_path):
    (tmp_path / "content").mkdir()
    (tmp_path / library.REFERENCES).write_text(OLD, "utf-8")
    return tmp_path


def bib(root, text):
    (root / "all.bib").write_text(text, "utf-8")
    return str(root / "all.bib")


def test_a_file_of_bibtex_goes_into_the_bibliography(root):
    assert cite_command.add_sources(root, bib(root, BIB)) == ["dao_2022", "torch"]
    text = (root / library.REFERENCES).read_text("utf-8")
    assert text.startswith(OLD)
    assert tomllib.loads(text)["dao_2022"] == {
        "authors": ["Tri Dao", "Daniel Y. Fu", "Christopher Ré"],
        "year": 2022,
        "title": 'FlashAttention: Fast and Memory-Efficient "Exact" Attention',
        "where": "NeurIPS 35, 16344-16359",
        "url": "https://doi.org/10.48550/arXiv.2205.14135",
    }
    found, problems = library.parse_library(text, "")
    assert (problems, found.references["dao_2022"].label) == ([], "Dao et al. 2022")


def test_a_date_gives_the_year(root):
    entry = "@online{X, title={T}, date={2021-06-01}, url={https://e.org}, author={A B}}"
    (key,) = cite_command.add_sources(root, bib(root, entry))
    text = (root / library.REFERENCES).read_text("utf-8")
    assert tomllib.loads(text)[key]["year"] == 2021


def test_one_name_and_others_are_cited_like_any_three_authors():
    entry = '[k]\nauthors = ["A. Dubey", "and others"]\nyear = 2024\ntitle = "T"\nwhere = "W"\n'
    found, _ = library.parse_library(entry + 'url = "https://example.org"\n', "")
    assert found.references["k"].label == "Dubey et al. 2024"


def test_a_doi_is_asked_for_its_bibtex(root):
    asked = []
    entry = "@article{X, title={T}, year={2021}, doi={10.1/x}, author={A B}}"
    assert cite_command.add_sources(
        root,
        "https://doi.org/10.1145/99.1",
        lambda d: asked.append(d) or entry.replace("10.1/x", "10.1145/99.1"),
    ) == ["x"]
    assert asked == ["10.1145/99.1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "@misc{a, title={T}, year=2020}",
            r"^[^\n]*/all\.bib:1: 'a' has no url or isbn; nothing was added$",
        ),
        (
            "@misc{a, title={T}}\n\n@misc{b, year=2020, url={https://e.org}}",
            r"all\.bib:1: 'a' has no year and no url or isbn\n"
            r"[^\n]*/all\.bib:3: 'b' has no title; nothing was added",
        ),
        (
            "@misc{a, title={T}, year=2020, isbn=1}\n@misc{A, title={T}, year=2020, isbn=2}",
            r"all\.bib:2: 'A' would be \[@a\], as an entry before it; nothing was added",
        ),
        (
            "@misc{a, title={T}, title={T}, year=2020}\n@misc{b title={T}}\n"
            "@misc{c, year=2020, isbn=1}",
            r"all\.bib:1: Duplicate field keys on entry: 'title'\n"
            r"[^\n]*all\.bib:2: Expected comma after entry key, but found =\n"
            r"[^\n]*all\.bib:3: 'c' has no title; nothing was added",
        ),
        ("@misc{hockney1994, title={T}, year=1, url={https://e.org}}", "has 'hockney1994' already"),
        ("@misc{a, title={T}", r"all\.bib:1: "),
        ("words", "holds no entry of BibTeX"),
    ],
)
def test_what_cannot_be_taken_is_said_and_changes_nothing(root, text, said):
    with pytest.raises(cite_command.CiteError, match=said):
        cite_command.add_sources(root, bib(root, text))
    assert (root / library.REFERENCES).read_text("utf-8") == OLD


def test_a_file_that_is_partly_known_adds_the_rest_and_says_so(root, capsys):
    file = bib(root, BIB + "@misc{hockney1994, title={T}, year=1, url={https://e.org}}")
    assert commands.main(["cite", file, "--project", str(root)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"{library.REFERENCES} has 'hockney1994' already; it stays as it is"
    assert [line.split(":")[0] for line in told[1:]] == ["added dao_2022", "added torch"]
    text = (root / library.REFERENCES).read_text("utf-8")
    assert text.startswith(OLD)
    assert list(tomllib.loads(text)) == ["hockney1994", "dao_2022", "torch"]


def test_a_printed_book_has_an_isbn(root):
    book = "@book{K, title={T}, author={A B}, year=1997, publisher={P}, isbn={0-201-89683-4}}"
    assert cite_command.add_sources(root, bib(root, book)) == ["k"]
    text = (root / library.REFERENCES).read_text("utf-8")
    found, problems = library.parse_library(text, "")
    one = found.references["k"]
    assert (problems, one.isbn, one.url) == ([], "0-201-89683-4", "")


def test_nothing_is_said_beside_the_one_message(root, capfd):
    with pytest.raises(
        cite_command.CiteError, match=r"all\.bib:1: Unexpected block start: .@misc."
    ):
        cite_command.add_sources(
            root, bib(root, "@misc{a, title={T}, year={20\n@misc{b, title={T}}")
        )
    assert capfd.readouterr() == ("", "")


def test_the_verb_says_what_is_neither_a_file_nor_a_doi(capsys):
    assert commands.main(["cite", "nothing.bib"]) == 1
    assert capsys.readouterr().out == "'nothing.bib' is no file and no DOI, which begins with 10.\n"
