"""Styles, fonts and scripts lie under names that change with what they hold."""

import hashlib

import pytest

from builder.theme.assets import (
    fonts,
    hashed_path,
    scripts,
    sheet_classes,
    style_sheets,
    without_fonts,
)


def mark(*parts):
    """Sixteen digits of the hash of parts, each behind its length."""
    whole = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return hashlib.sha256(whole).hexdigest()[:16]


def put(root, name, data):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("main.css", "main", ".css"), ("a.b.js", "a.b", ".js"), ("with/x.css", "with/x", ".css")],
)
def test_the_hash_stands_before_the_last_suffix(name, before, after):
    assert hashed_path(name, b"text") == f"assets/{before}-{mark(b'text')}{after}"


def test_fonts_are_found_by_their_names_with_their_address_and_content(tmp_path):
    put(tmp_path, "fonts/a.woff2", b"A")
    put(tmp_path, "fonts/old/b.woff", b"B")
    put(tmp_path, "fonts/LICENSE.txt", b"C")
    put(tmp_path, "fonts/c.ttf", b"D")
    assert fonts(tmp_path) == {
        "a.woff2": (f"assets/a-{mark(b'A')}.woff2", b"A"),
        "b.woff": (f"assets/b-{mark(b'B')}.woff", b"B"),
    }


def test_a_theme_without_fonts_or_styles_has_an_empty_sheet(tmp_path):
    assert fonts(tmp_path) == {}
    assert style_sheets(tmp_path, {}) == {"main.css": ""}


def test_styles_are_joined_in_the_order_of_their_names_and_those_apart_stay_so(tmp_path):
    put(tmp_path, "styles/20-b.css", b"b {}\n")
    put(tmp_path, "styles/10-a.css", b"a {}\n")
    put(tmp_path, "styles/inner/c.css", b"c {}\n")
    put(tmp_path, "styles/with/y.css", b"y {}\n")
    put(tmp_path, "styles/with/x.css", b"x {}\n")
    put(tmp_path, "styles/notes.txt", b"no")
    made = style_sheets(tmp_path, {})
    assert made == {
        "main.css": "a {}\nb {}\nc {}\n",
        "with/x.css": "x {}\n",
        "with/y.css": "y {}\n",
    }


@pytest.mark.parametrize("form", ["url({})", 'url("{}")', "url( '{}' )"])
@pytest.mark.parametrize("address", ["a.woff2", "../fonts/a.woff2"])
def test_a_font_is_named_by_its_address_beside_the_sheet(tmp_path, form, address):
    put(tmp_path, "styles/a.css", f"b {{ c: {form.format(address)} }}".encode())
    made = style_sheets(tmp_path, {"a.woff2": ("assets/a-0123.woff2", b"A")})
    assert made == {"main.css": "b { c: url(a-0123.woff2) }"}


def test_data_in_a_sheet_stays_as_it_is(tmp_path):
    put(tmp_path, "styles/a.css", b"b { c: url(data:font/woff2;base64,AA) }")
    assert style_sheets(tmp_path, {})["main.css"] == "b { c: url(data:font/woff2;base64,AA) }"


@pytest.mark.parametrize(
    ("placed", "there"),
    [({}, "none"), ({"b.woff": ("x", b""), "a.woff": ("y", b"")}, "b.woff, a.woff")],
)
def test_a_font_that_is_not_there_is_told_those_that_are(tmp_path, placed, there):
    put(tmp_path, "styles/a.css", b"b { c: url(../fonts/c.woff) }")
    with pytest.raises(FileNotFoundError) as told:
        style_sheets(tmp_path, placed)
    assert str(told.value) == f"theme/styles names the font 'c.woff'; there are {there}"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("/* With: a b-c d_e. More. */\n", ("a", "b-c", "d_e")),
        ("/* With: a. */", ("a",)),
        ("/* With: a */", ()),
        ("\n/* With: a. */", ()),
        ("/* A sheet. */", ()),
        ("", ()),
    ],
)
def test_a_sheet_apart_names_its_classes_on_its_first_line(text, named):
    assert sheet_classes(text) == named


def test_font_faces_are_left_out():
    text = 'a {}\n@font-face {\n  src: url("x");\n}\nb {}\n@font-face{c: d}e {}'
    assert without_fonts(text) == "a {}\n\nb {}\ne {}"


def test_scripts_keep_their_rooms_in_a_folder_that_carries_the_hash():
    folder = f"assets/js-{mark(b'main.js', b'let a', b'engine/worker.js', 'é'.encode())}"
    assert scripts({"main.js": "let a", "engine/worker.js": "é"}) == (
        {f"{folder}/main.js": b"let a", f"{folder}/engine/worker.js": "é".encode()},
        f"{folder}/main.js",
        f"{folder}/engine/worker.js",
    )


def test_a_theme_may_lack_an_entry_and_a_worker():
    folder = f"assets/js-{mark(b'part.js', b'1')}"
    assert scripts({"part.js": "1"}) == ({f"{folder}/part.js": b"1"}, "", "")
    assert scripts({}) == ({}, "", "")
