"""Pages are made with marks where the addresses of shared files will stand."""

from dataclasses import replace

from builder.pages import page_context
from builder.theme.assets import Shell, StyleSheet

SHELL = Shell(
    styles="s.css",
    style_text="p {}",
    early="e.js",
    script="m.js",
    worker="w.js",
    runtime="r.json",
    bokeh="b.js",
    fonts=("f.woff2", "g.woff2"),
    conditional_styles=(
        StyleSheet(classes=("a",), address="a.css"),
        StyleSheet(classes=("b", "c"), address="b.css"),
    ),
)
EMPTY = Shell(
    styles="", style_text="", early="", script="", worker="", runtime="", bokeh="", fonts=()
)


def test_each_address_has_a_mark_of_its_own():
    assert page_context.with_placeholders(SHELL) == Shell(
        styles="⟦asset=styles⟧",
        style_text="",
        early="⟦asset=early⟧",
        script="⟦asset=script⟧",
        worker="⟦asset=worker⟧",
        runtime="⟦asset=runtime⟧",
        bokeh="⟦asset=bokeh⟧",
        fonts=("⟦asset=font-0⟧", "⟦asset=font-1⟧"),
        conditional_styles=(
            StyleSheet(classes=("a",), address="⟦asset=sheet-0⟧"),
            StyleSheet(classes=("b", "c"), address="⟦asset=sheet-1⟧"),
        ),
    )


def test_what_has_no_address_has_no_mark():
    assert page_context.with_placeholders(EMPTY) == EMPTY
    assert page_context.with_placeholders(replace(SHELL, worker="")).worker == ""


def test_each_name_stands_for_its_address():
    archives = {"zero": ["z.bin"], "ring": ["../r.bin", "<s>.bin"]}
    assert page_context.page_urls(SHELL, "figures.json", archives) == {
        "styles": "s.css",
        "early": "e.js",
        "script": "m.js",
        "worker": "w.js",
        "runtime": "r.json",
        "bokeh": "b.js",
        "font-0": "f.woff2",
        "font-1": "g.woff2",
        "sheet-0": "a.css",
        "sheet-1": "b.css",
        "figures": "figures.json",
        "archives": (r'{"ring": ["../r.bin", "\u003cs\u003e.bin"], "zero": ["z.bin"]}'),
    }


def test_a_page_is_filled_with_the_addresses_of_its_marks():
    given = page_context.page_urls(SHELL, "figures.json", {})
    text = f"<a ⟦asset=styles⟧ ⟦asset=font-1⟧ {page_context.FIGURES} {page_context.ARCHIVES}>"
    assert page_context.fill_assets(text, given) == "<a s.css g.woff2 figures.json {}>"


def test_other_marks_stay():
    given = {"a": "A"}
    assert page_context.fill_assets("⟦math=a⟧", given) == "⟦math=a⟧"
    assert page_context.fill_assets("⟦asset=a⟧⟦asset=a", given) == "A⟦asset=a"
    assert page_context.fill_assets("", given) == ""
