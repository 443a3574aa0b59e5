import tomllib

import pytest

from builder import cite, commands, library

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
    assert cite.add(root, bib(root, BIB)) == ["dao_2022", "torch"]
    text = (root / library.REFERENCES).read_text("utf-8")
    assert text.startswith(OLD)
    assert tomllib.loads(text)["dao_2022"] == {
        "authors": ["Tri Dao", "Daniel Y. Fu", "Christopher Ré"],
        "year": 2022,
        "title": 'FlashAttention: Fast and Memory-Efficient "Exact" Attention',
        "where": "NeurIPS 35, 16344-16359",
        "url": "https://doi.org/10.48550/arXiv.2205.14135",
    }
    found, problems = library.parse(text, "")
    assert (problems, found.references["dao_2022"].label) == ([], "Dao et al. 2022")


def test_one_name_and_others_are_cited_like_any_three_authors():
    entry = '[k]\nauthors = ["A. Dubey", "and others"]\nyear = 2024\ntitle = "T"\nwhere = "W"\n'
    found, _ = library.parse(entry + 'url = "https://example.org"\n', "")
    assert found.references["k"].label == "Dubey et al. 2024"


def test_a_doi_is_asked_for_its_bibtex(root):
    asked = []
    entry = "@article{X, title={T}, year={2021}, doi={10.1/x}, author={A B}}"
    assert cite.add(
        root,
        "https://doi.org/10.1145/99.1",
        lambda d: asked.append(d) or entry.replace("10.1/x", "10.1145/99.1"),
    ) == ["x"]
    assert asked == ["10.1145/99.1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@misc{a, title={T}, year=2020}", "'a' has no url; nothing was added"),
        ("@misc{hockney1994, title={T}, year=1, url={https://e.org}}", "has 'hockney1994' already"),
        ("@misc{a, title={T}", r"all\.bib:1: "),
        ("words", "holds no entry of BibTeX"),
    ],
)
def test_what_cannot_be_taken_is_said_and_changes_nothing(root, text, said):
    with pytest.raises(cite.CiteError, match=said):
        cite.add(root, bib(root, text))
    assert (root / library.REFERENCES).read_text("utf-8") == OLD


def test_the_verb_says_what_is_neither_a_file_nor_a_doi(capsys):
    assert commands.main(["cite", "nothing.bib"]) == 1
    assert capsys.readouterr().out == "'nothing.bib' is no file and no DOI, which begins with 10.\n"
