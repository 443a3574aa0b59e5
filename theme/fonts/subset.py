"""Make the two font files of the site from Source Serif 4, by hand when letters are missing.

    pip install fonttools brotli
    npm pack @fontsource-variable/source-serif-4@5.3.1 && tar xzf fontsource-variable-*.tgz
    python theme/fonts/subset.py package/files theme/fonts

The upright file has the weights 400 to 600 on one axis, which is shorter than a file for each.
Both hold the letters that the site sets in them. Outlines lie on a grid of 500 units, not 1,000,
which is a hundredth of a pixel in text, and kerning below 0.015 em is left out.
"""

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.ttLib.scaleUpem import scale_upem
from fontTools.varLib import instancer

ASCII = "".join(map(chr, range(0x20, 0x7F)))
UPRIGHT = "".join(c for c in ASCII if c not in "$*@^`~") + "\u00a0±µ·×äéöü\u2009–\u2019“”…−"
ITALIC = "".join(c for c in ASCII if c.isalnum() or c in " !\"&'(),-.:;?") + "\u00a0\u2009\u2019−"
UNITS = 500
TIES = {("f",), ("i",), ("l",), ("t",), ("f", "i"), ("f", "l")}  # what an f is tied to
LEAST = 15  # of 1,000 units: kerning below it is not seen


def cut(path: Path, letters: str, features: list[str], weight: object) -> TTFont:
    """Return the font with these letters, features and weights."""
    font = TTFont(path)
    options = subset.Options(
        layout_features=features,
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
    loosen(font)
    scale_upem(font, UNITS)
    return font


def tie(font: TTFont) -> None:
    """Leave the ligatures that English words have."""
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            inner = getattr(table, "ExtSubTable", table)
            if inner.LookupType == 4 and "f" in inner.ligatures:
                ties = inner.ligatures["f"]
                inner.ligatures["f"] = [one for one in ties if tuple(one.Component) in TIES]


def loosen(font: TTFont) -> None:
    """Take away kerning that nobody sees."""
    for lookup in font["GPOS"].table.LookupList.Lookup if font["GPOS"].table.LookupList else ():
        for table in lookup.SubTable:
            inner = getattr(table, "ExtSubTable", table)
            if inner.LookupType != 2:
                continue
            rows = inner.PairSet if inner.Format == 1 else inner.Class1Record
            kind = "PairValueRecord" if inner.Format == 1 else "Class2Record"
            for value in (pair.Value1 for row in rows for pair in getattr(row, kind)):
                if value and abs(getattr(value, "XAdvance", 0)) < LEAST:
                    value.XAdvance, value.XAdvDevice = 0, None


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
