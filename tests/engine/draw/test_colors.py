"""The one color language keeps its distances, for every kind of sight and in both schemes."""

import math
import re
from itertools import combinations, product
from pathlib import Path

import pytest

STYLES = Path(__file__).parents[3] / "theme" / "styles" / "10-colors.css"
FAMILIES = {
    "streams": ("compute", "communication", "memory"),
    "memory": ("parameters", "gradients", "optimizer", "activations", "buffers"),
    "axes": ("tensor", "pipeline", "data", "context", "expert"),
}
TEXT = ("ink", "muted", "accent", "bad")
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
SIGHT = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# CIE XYZ of linear sRGB under D65 (IEC 61966-2-1), and its white.
XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)


def palettes():
    """The colors of both schemes by name, read from the style sheet."""
    light, dark = STYLES.read_text(encoding="utf-8").split("prefers-color-scheme: dark", 1)
    return {"light": declared(light), "dark": declared(dark)}


def declared(css):
    return dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", css))


PALETTES = palettes()


def linear(color):
    """Linear RGB from 0 to 1 of "#rrggbb"."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def lab(color, sight="normal"):
    """CIE L*a*b* of a color as seen with that sight."""
    seen = [min(max(c, 0.0), 1.0) for c in times(SIGHT[sight], linear(color))]
    ratios = [c / w for c, w in zip(times(XYZ, seen), WHITE, strict=True)]
    x, y, z = (r ** (1 / 3) if r > 216 / 24389 else (24389 / 27 * r + 16) / 116 for r in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one, other):
    """CIEDE2000 of two L*a*b* colors (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = mean_hue(h1, h2) if c1 * c2 else h1 + h2
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * cosine(hue - 30)
        + 0.24 * cosine(2 * hue)
        + 0.32 * cosine(3 * hue + 6)
        - 0.20 * cosine(4 * hue - 63)
    )
    sl = 1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    rotation *= math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    dl, dc = (l2 - l1) / sl, (c2 - c1) / sc
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / sh
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def cosine(degrees):
    return math.cos(math.radians(degrees))


def mean_hue(one, other):
    total = one + other
    if abs(one - other) <= 180:
        return total / 2
    return (total + 360) / 2 if total < 360 else (total - 360) / 2


def contrast(one, other):
    """Contrast of two colors by the Web Content Accessibility Guidelines 2."""
    low, high = sorted(
        sum(w * c for w, c in zip(XYZ[1], linear(x), strict=True)) for x in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_the_difference_is_that_of_the_published_test_data(one, other, expected):
    assert difference(one, other) == pytest.approx(expected, abs=5e-5)


def test_black_on_white_has_the_largest_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_red_and_green_come_closer_without_the_middle_cones():
    red, green = "#d00000", "#408000"
    normal, blind = (difference(lab(red, s), lab(green, s)) for s in ("normal", "deuteranopia"))
    assert blind < normal / 2


@pytest.mark.parametrize("scheme", PALETTES)
def test_a_scheme_has_all_colors(scheme):
    names = {name for family in FAMILIES.values() for name in family} | {"paper", *TEXT}
    assert names <= set(PALETTES[scheme])


def test_every_color_is_worn_by_marks_and_words():
    charts = STYLES.with_name("40-charts.css").read_text(encoding="utf-8")
    names = {name for family in FAMILIES.values() for name in family} | {"paper", "idle", *TEXT}
    assert [
        one for one in sorted(names) if f".c-{one} {{ color: var(--{one}); }}" not in charts
    ] == []


def views():
    """Every family as every sight sees it, in both schemes."""
    yield from product(PALETTES, SIGHT, FAMILIES)


@pytest.mark.parametrize(("scheme", "sight", "family"), list(views()))
def test_the_members_of_a_family_stay_apart(scheme, sight, family):
    colors = PALETTES[scheme]
    close = []
    for one, other in combinations(FAMILIES[family], 2):
        first, second = lab(colors[one], sight), lab(colors[other], sight)
        # Light colors differ less on a screen than their distance says.
        least = 16 if min(first[0], second[0]) > 70 else 14
        if (found := difference(first, second)) < least:
            close.append(f"{one} and {other}: {found:.2f}, at least {least}")
    assert not close


MEMBERS = [name for family in FAMILIES.values() for name in family]


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("sight", SIGHT)
def test_no_two_families_are_taken_for_one_another(scheme, sight):
    colors = {name: lab(PALETTES[scheme][name], sight) for name in MEMBERS}
    found = {pair: difference(*map(colors.get, pair)) for pair in combinations(MEMBERS, 2)}
    assert {pair: off for pair, off in found.items() if off < 10} == {}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_thing_has_one_hue_in_both_schemes(name):
    light, dark = (lab(PALETTES[scheme][name]) for scheme in ("light", "dark"))
    hues = [math.degrees(math.atan2(b, a)) for _, a, b in (light, dark)]
    assert abs((hues[1] - hues[0] + 180) % 360 - 180) <= 20


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_member_stands_out_from_the_paper(scheme, family):
    colors = PALETTES[scheme]
    found = {name: contrast(colors[name], colors["paper"]) for name in FAMILIES[family]}
    assert {name: ratio for name, ratio in found.items() if ratio < 3.1} == {}


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("name", TEXT)
def test_text_can_be_read_on_the_paper(scheme, name):
    assert contrast(PALETTES[scheme][name], PALETTES[scheme]["paper"]) >= 4.5


@pytest.mark.parametrize("scheme", PALETTES)
@pytest.mark.parametrize("name", TEXT)
def test_text_can_be_read_on_a_raised_ground(scheme, name):
    assert contrast(PALETTES[scheme][name], PALETTES[scheme]["raised"]) >= 4.5


@pytest.mark.parametrize("scheme", PALETTES)
def test_numbers_are_read_on_the_deepest_cell_of_a_heat_map(scheme):
    rows = (STYLES.parents[1] / "runtime" / "charts" / "rows.js").read_text("utf-8")
    deepest = float(re.search(r"DEEPEST = ([\d.]+);", rows)[1])
    accent, paper = (
        [int(PALETTES[scheme][name][i : i + 2], 16) for i in (1, 3, 5)]
        for name in ("accent", "paper")
    )
    mixed = [round(deepest * a + (1 - deepest) * b) for a, b in zip(accent, paper, strict=True)]
    assert contrast("#" + bytes(mixed).hex(), PALETTES[scheme]["ink"]) >= 4.5
