"""Make the two font files of the site from Source Serif 4, by hand when letters are missing.

    pip install fonttools brotli
    npm pack @fontsource-variable/source-serif-4@5.3.1 && tar xzf fontsource-variable-*.tgz
    python theme/fonts/subset.py package/files theme/fonts

The upright file has the weights 400 to 600 on one axis, which is shorter than a file for each.
Both hold the letters that the site sets in them. Outlines lie on a grid of 200 units, not 1,000,
so they are a twentieth of a pixel off in text at most, and what a weight moves by a unit at most it
does not move.
Kerned are the pairs of letters that `content/` has often, by 0.015 em or more.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from fontTools import subset
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.ttLib import TTFont
from fontTools.ttLib.scaleUpem import scale_upem
from fontTools.varLib import instancer

ASCII = "".join(map(chr, range(0x20, 0x7F)))
UPRIGHT = "".join(c for c in ASCII if c not in "$*@^`~") + "\u00a0±µ·×äéöü\u2009–\u2019“”…−"
ITALIC = "".join(c for c in ASCII if c.isalnum() or c in " !\"&'(),-.:;?") + "\u00a0\u2009\u2019−"
UNITS = 200
CONTENT = Path(__file__).resolve().parents[2] / "content"
TIES = {("f",), ("i",), ("l",), ("t",), ("f", "i"), ("f", "l")}  # what an f is tied to
LEAST = 15  # of 1,000 units: kerning below it is not seen
OFTEN = 50  # times that a pair stands in the texts
MARKS = frozenset("[]{}_/#")  # of the source of a text, not of what is read


def cut(path: Path, letters: str, features: list[str], weight: object) -> TTFont:
    """Return the font with these letters, features and weights."""
    font = TTFont(path)
    kerning = [*pairs(font, letters)] if "kern" in features else []
    options = subset.Options(
        layout_features=[one for one in features if one != "kern"],
        hinting=False,
        notdef_outline=False,
        glyph_names=False,
        name_IDs=[0, 1, 2],
    )
    tie(font)
    options.drop_tables += ["STAT", "gasp", "prep", "BASE"]
    cutter = subset.Subsetter(options)
    cutter.populate(text=letters)
    cutter.subset(font)
    moves = font["gvar"].variations
    font["gvar"].variations = {name: moves.get(name, []) for name in font.getGlyphOrder()}
    font = instancer.instantiateVariableFont(font, {"wght": weight})
    if "avar" in font:
        del font["avar"]
    if kerning:
        rules = "".join(f"pos {left} {right} {by};\n" for left, right, by in kerning)
        addOpenTypeFeaturesFromString(font, f"feature kern {{\n{rules}}} kern;", tables=["GPOS"])
    scale_upem(font, UNITS)
    settle(font)
    return font


def tie(font: TTFont) -> None:
    """Leave the ligatures that English words have."""
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            inner = getattr(table, "ExtSubTable", table)
            if inner.LookupType == 4 and "f" in inner.ligatures:
                ties = inner.ligatures["f"]
                inner.ligatures["f"] = [one for one in ties if tuple(one.Component) in TIES]


def pairs(font: TTFont, letters: str) -> Iterator[tuple[str, str, int]]:
    """Yield the glyphs of pairs that the texts have often, and how the font moves the second."""
    texts = "".join(path.read_text("utf-8") for path in sorted(CONTENT.rglob("*.md")))
    glyphs = font.getBestCmap()
    for (left, right), count in sorted(Counter(pairwise(texts)).items()):
        if count < OFTEN or not {left, right} <= set(letters) - MARKS:
            continue
        by = kerned(font, glyphs[ord(left)], glyphs[ord(right)])
        if abs(by) >= LEAST:
            yield glyphs[ord(left)], glyphs[ord(right)], by


def kerned(font: TTFont, left: str, right: str) -> int:
    """Return by how much of 1,000 units the font moves the right one of two glyphs."""
    for lookup in font["GPOS"].table.LookupList.Lookup:
        for table in (getattr(one, "ExtSubTable", one) for one in lookup.SubTable):
            if table.LookupType != 2 or left not in table.Coverage.glyphs:
                continue
            if table.Format == 1:
                rows = table.PairSet[table.Coverage.glyphs.index(left)].PairValueRecord
                found = next((one.Value1 for one in rows if one.SecondGlyph == right), None)
            else:
                row = table.Class1Record[table.ClassDef1.classDefs.get(left, 0)]
                found = row.Class2Record[table.ClassDef2.classDefs.get(right, 0)].Value1
            if found:
                return int(found.XAdvance)
    return 0


def settle(font: TTFont) -> None:
    """Leave out of a weight what moves no point of a glyph by more than a unit."""
    for name, moves in font["gvar"].variations.items() if "gvar" in font else ():
        points, control = font["glyf"]._getCoordinatesAndControls(name, font["hmtx"].metrics)
        for one in moves:
            whole = control.numberOfContours == -1
            one.optimize(list(points), control.endPts, tolerance=1, isComposite=whole)


def main() -> None:
    """Write both files."""
    source, target = map(Path, sys.argv[1:3])
    upright = source / "source-serif-4-latin-wght-normal.woff2"
    made = {
        "source-serif-normal.woff2": cut(upright, UPRIGHT, ["kern", "liga"], (400, 400, 600)),
        "source-serif-400-italic.woff2": cut(
            source / "source-serif-4-latin-wght-italic.woff2", ITALIC, [], 400
        ),
    }
    for name, font in made.items():
        font.flavor = "woff2"
        font.save(target / name)


if __name__ == "__main__":
    main()
