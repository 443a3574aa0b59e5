"""Files are found, read and named as authors see them."""

from dataclasses import replace

from builder import folders, reading
from builder.folders import digest, digest_of_files, files, write_whole
from builder.project import Project

PROJECT = Project(name="Lines", engine="lines")


def put(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_hidden_files_and_byte_code_are_left_out(tmp_path):
    put(tmp_path, "b.md", "a/c.md", ".d.md", ".e/f.md", "__pycache__/g.md", "h.txt")
    assert [path.name for path in files(tmp_path, "*.md")] == ["c.md", "b.md"]
    assert [path.name for path in files(tmp_path)] == ["c.md", "b.md", "h.txt"]
    assert files(tmp_path / "nowhere") == []


def test_a_digest_depends_on_every_part_and_their_borders():
    found = {digest(parts) for parts in (["ab"], ["a", "b"], ["b", "a"], ["", "ab"], [])}
    assert len(found) == 5
    assert digest(["a"]) == digest([b"a"])
    assert len(digest([])) == 16


def test_the_digest_of_files_depends_on_names_and_contents(tmp_path):
    put(tmp_path, "a.py", "b.txt")
    before = digest_of_files(tmp_path, "*.py")
    put(tmp_path, "c.txt")
    assert digest_of_files(tmp_path, "*.py") == before
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    moved = digest_of_files(tmp_path, "*.py")
    (tmp_path / "c.py").write_text("other")
    assert len({before, moved, digest_of_files(tmp_path, "*.py")}) == 3


def test_a_file_of_the_cache_is_written_whole(tmp_path):
    write_whole(tmp_path / "new" / "x.json", b"x")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x.json"]
    assert (tmp_path / "new" / "x.json").read_bytes() == b"x"


def test_a_theme_may_lack_scripts(tmp_path):
    places = replace(folders.of(PROJECT, tmp_path), theme=tmp_path / "theme")
    assert places.scripts() == {}
    put(tmp_path, "theme/offline.js")
    assert places.scripts() == {"offline.js": "theme/offline.js"}


def test_a_text_is_read_with_one_kind_of_line_end(tmp_path):
    (tmp_path / "a.md").write_bytes("a\r\nb\rc\té\n".encode())
    assert reading.text_of(tmp_path / "a.md", "a.md") == ("a\nb\nc\té\n", [])
    assert reading.text_of(tmp_path / "b.md", "b.md") == ("", [])


def test_a_fault_is_on_its_line(tmp_path):
    for data, said in (
        (b"a\nb\xff", "a.md:2: byte 0xff is not UTF-8"),
        (b"a\n\n\x1b[0m", "a.md:3: holds the control character U+001B"),
        (b"\x0b", "a.md:1: holds the control character U+000B"),
        (b"\xef\xbb\xbfa", "a.md:1: begins with a byte-order mark; save it without"),
    ):
        (tmp_path / "a.md").write_bytes(data)
        text, problems = reading.text_of(tmp_path / "a.md", "a.md")
        assert (text, [str(one) for one in problems]) == ("", [said])


def test_names_that_are_no_address(tmp_path):
    sound = ("a.md", "b/c-d_e.1.svg", "b/F.csv")
    put(tmp_path / "content", *sound, "b/g h.md", "i.Markdown", "j.MD", "-k.md")
    there = folders.files(tmp_path / "content")
    wrong = reading.wrong_names(folders.of(PROJECT, tmp_path), there)
    found = [str(one).partition(": ")[::2] for one in wrong]
    assert found == [
        ("content/-k.md:1", "'-k.md' is no address; use letters, digits, '-', '_' and '.'"),
        ("content/b/g h.md:1", "'g h.md' is no address; use letters, digits, '-', '_' and '.'"),
        ("content/i.Markdown:1", "is not read; call it i.md"),
        ("content/j.MD:1", "is not read; call it j.md"),
    ]
