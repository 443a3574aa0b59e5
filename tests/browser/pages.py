"""The pages of the site, by what lies in `content/`."""

from pathlib import Path

CONTENT = Path(__file__).resolve().parents[2] / "content"


def address(source: Path) -> str:
    """Return where a page of the content lies on the site."""
    found = source.relative_to(CONTENT).with_suffix("").as_posix()
    return "" if found == "index" else found + "/"


SOURCES = {address(path): path for path in CONTENT.rglob("*.md")}
PAGES = sorted(SOURCES)
WITH_FIGURES = [page for page in PAGES if "[[" in SOURCES[page].read_text("utf-8")]
