"""Style sheets that not every page needs: linked by the classes that a page has."""

from pathlib import Path

from builder.core.folders import files
from builder.theme.assets import (
    CONDITIONAL,
    MAIN_SHEET,
    sheet_classes,
    style_sheets,
)

STYLES = Path(__file__).resolve().parents[2] / "theme" / "styles"


def test_sheets_apart_stay_out_of_that_of_every_page() -> None:
    made = style_sheets(
        STYLES.parent, {path.name: (path.name, b"") for path in files(STYLES.parent / "fonts")}
    )
    assert set(made) == {
        MAIN_SHEET,
        *(f"{CONDITIONAL}/{path.name}" for path in files(STYLES / CONDITIONAL)),
    }
    assert ".guide-cards" not in made[MAIN_SHEET]


def test_every_sheet_apart_names_classes_that_it_styles() -> None:
    for path in files(STYLES / CONDITIONAL):
        text = path.read_text("utf-8")
        assert sheet_classes(text), path.name
        assert all(f".{name}" in text for name in sheet_classes(text)), path.name
