"""Drawings without what only browsers know."""

from builder.figures import svg_flatten
from tests.each import each

SHEET = (
    ":root{--ink: #111111;--sans: system-ui}"
    "@media (prefers-color-scheme: dark){:root{--ink: #eeeeee}.c-ink{color: red}}"
    ".c-ink{color: var(--ink)}"
    "@container (max-width: 9px){.wide{display: none}}"
    ".chart :is(.strong,.inside){font: 700 13px var(--sans)}"
    ".scene [data-grip] ~ text{fill: red}"
    ".scene .sent{transition: width var(--step,0.5s) ease}"
)


def test_rules_are_those_of_the_light_scheme_without_variables():
    rules = svg_flatten.flatten_style(SHEET, "Inter")
    assert ".c-ink{color: #111111}" in rules
    assert "red" not in rules
    assert "wide" not in rules
    assert "var(" not in rules


def test_a_list_in_a_selector_is_told_one_by_one():
    rules = svg_flatten.flatten_style(SHEET, "Inter")
    assert ".chart .strong,.chart .inside{font: 700 13px Inter}" in rules


def test_only_rules_of_classes_that_are_there_are_kept():
    rules = svg_flatten.flatten_style(SHEET, "Inter")
    assert (
        svg_flatten.needed_rules(rules, '<text class="c-ink">1</text>') == ".c-ink{color: #111111}"
    )


PICTURE = (
    '<svg viewBox="-12 -12 224 124" width="224" height="124"><style>.x{}</style><rect/>'
    '<g class="chart-svg"><svg x="10" y="20" width="200" height="100" overflow="visible">'
    '<svg viewBox="0 0 1000 50" preserveAspectRatio="none" width="100%" height="100">'
    '<path class="line" d="M0 5H500V50L1000 25"/></svg>'
    '<text x="50%" y="110">half</text></svg></g></svg>'
)


def test_steps_from_point_to_point_are_stretched_as_well():
    drawn, _, _ = svg_flatten.flatten_drawing(PICTURE.replace("L1000 25", "l500-25.5 .5-.2"))
    assert 'V100.00l100.00 -51.00 0.10 -0.40"' in drawn
    boxes, _, _ = svg_flatten.flatten_drawing(PICTURE.replace("L1000 25", "h500v5m-.5-5"))
    assert 'V100.00h100.00v10.00m-0.10 -10.00"' in boxes


def test_stretched_paths_become_paths_in_pixels():
    drawn, width, height = svg_flatten.flatten_drawing(PICTURE)
    assert (width, height) == (224, 124)
    assert 'd="M0.00 10.00H100.00V100.00L200.00 50.00"' in drawn
    assert '<text x="100" y="110">' in drawn
    assert "<svg" not in drawn
    assert drawn.count("<g") == drawn.count("</g>") == 4


@each(
    ("style", "becomes"),
    [
        ("transform:translate(3px,-4.5px)", 'transform="translate(3,-4.5)"'),
        (
            "transform:translate(3px,4px);transition:transform var(--step,0.5s) ease",
            'transform="translate(3,4)"',
        ),
    ],
)
def test_a_move_of_a_style_becomes_one_of_the_drawing(style, becomes):
    picture = f'<svg viewBox="0 0 1 1"><g class="scene"><circle style="{style}"/></g></svg>'
    assert becomes in svg_flatten.flatten_drawing(picture)[0]
