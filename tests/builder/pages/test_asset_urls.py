"""Pages are made with marks where the addresses of shared files will stand."""

from dataclasses import replace

from builder.pages import asset_urls
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
    assert asset_urls.with_placeholders(SHELL) == Shell(
        styles="⟦asset-styles⟧",
        style_text="",
        early="⟦asset-early⟧",
        script="⟦asset-script⟧",
        worker="⟦asset-worker⟧",
        runtime="⟦asset-runtime⟧",
        bokeh="⟦asset-bokeh⟧",
        fonts=("⟦asset-font-0⟧", "⟦asset-font-1⟧"),
        conditional_styles=(
            StyleSheet(classes=("a",), address="⟦asset-sheet-0⟧"),
            StyleSheet(classes=("b", "c"), address="⟦asset-sheet-1⟧"),
        ),
    )


def test_what_has_no_address_has_no_mark():
    assert asset_urls.with_placeholders(EMPTY) == EMPTY
    assert asset_urls.with_placeholders(replace(SHELL, worker="")).worker == ""


def test_each_mark_stands_for_its_address():
    archives = {"zero": ["z.bin"], "ring": ["../r.bin", "<s>.bin"]}
    assert asset_urls.page_urls(SHELL, "figures.json", archives) == {
        "⟦asset-styles⟧": "s.css",
        "⟦asset-early⟧": "e.js",
        "⟦asset-script⟧": "m.js",
        "⟦asset-worker⟧": "w.js",
        "⟦asset-runtime⟧": "r.json",
        "⟦asset-bokeh⟧": "b.js",
        "⟦asset-font-0⟧": "f.woff2",
        "⟦asset-font-1⟧": "g.woff2",
        "⟦asset-sheet-0⟧": "a.css",
        "⟦asset-sheet-1⟧": "b.css",
        "⟦asset-figures⟧": "figures.json",
        "⟦asset-archives⟧": (r'{"ring": ["../r.bin", "\u003cs\u003e.bin"], "zero": ["z.bin"]}'),
    }


def test_a_page_is_filled_with_the_addresses_of_its_marks():
    given = asset_urls.page_urls(SHELL, "figures.json", {})
    text = f"<a ⟦asset-styles⟧ ⟦asset-font-1⟧ {asset_urls.FIGURES} {asset_urls.ARCHIVES}>"
    assert asset_urls.fill_placeholders(text, given) == "<a s.css g.woff2 figures.json {}>"


def test_other_marks_stay():
    given = {"⟦asset-a⟧": "A", "⟦math:a⟧": "B"}
    assert asset_urls.fill_placeholders("⟦math:a⟧", given) == "⟦math:a⟧"
    assert asset_urls.fill_placeholders("⟦asset-b⟧⟦asset-a⟧⟦asset-a", given) == "⟦asset-b⟧A⟦asset-a"
    assert asset_urls.fill_placeholders("", given) == ""
