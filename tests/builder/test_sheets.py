"""Style sheets that not every page needs: linked by the classes that a page has."""

from pathlib import Path

from builder.core.folders import files
from builder.theme.assets import SHEET, SOME, Sheet, classes, needed, sheets

STYLES = Path(__file__).resolve().parents[2] / "theme" / "styles"
LINK = '<link rel="stylesheet" href="../{}">\n'


def test_a_page_links_the_sheets_of_its_classes_only() -> None:
    some = (
        Sheet(classes=("way", "card"), address="a.css"),
        Sheet(classes=("tab",), address="b.css"),
    )
    links = LINK.format("a.css") + LINK.format("b.css")
    for name in ("card", "wide card"):
        body = f'<p class="{name}">tab</p>'
        assert needed(links + body, some) == LINK.format("a.css") + body
    assert needed(links + "<p>card</p>", some) == "<p>card</p>"


def test_sheets_apart_stay_out_of_that_of_every_page() -> None:
    made = sheets(
        STYLES.parent, {path.name: (path.name, b"") for path in files(STYLES.parent / "fonts")}
    )
    assert set(made) == {SHEET, *(f"{SOME}/{path.name}" for path in files(STYLES / SOME))}
    assert ".guide-cards" not in made[SHEET]


def test_every_sheet_apart_names_classes_that_it_styles() -> None:
    for path in files(STYLES / SOME):
        text = path.read_text("utf-8")
        assert classes(text), path.name
        assert all(f".{name}" in text for name in classes(text)), path.name
