"""Pictures of figures: what is cut out of a page, its frame, and how states take turns."""

from builder.figures import hero_figures
from tests.each import each

SCENE = '<svg class="scene" viewBox="0 0 100 50"><rect/></svg>'
OTHER = '<svg class="scene" viewBox="0 0 100 50"><path/></svg>'
CHART = '<svg class="chart-svg" style="margin:6px 2px 46px 56px;height:280px"><path/></svg>'
PAPER = '<rect x="-12" y="-12" width="100%" height="100%" class="c-paper" fill="currentColor"/>'
NARROW = ".chart-svg .wide{display:none}.chart-svg .narrow{display:inline}"
SANS = ":root{--sans:system-ui, sans-serif;font-family:system-ui, sans-serif}"


def inner_of(html):
    picture = hero_figures.standalone_figure(html, "")
    return picture.partition('overflow="visible">')[2].removesuffix("</svg></g></svg>")


def test_the_rules_are_those_of_three_sheets_in_their_order(tmp_path):
    for name in ("45-scene.css", "10-colors.css", "40-charts.css", "20-text.css"):
        (tmp_path / name).write_text(f"/*{name}*/", "utf-8")
    told = "/*10-colors.css*//*40-charts.css*//*45-scene.css*/"
    assert hero_figures.drawing_rules(tmp_path) == SANS + told + NARROW


def test_a_sheet_that_is_not_there_gives_no_rules(tmp_path):
    (tmp_path / "40-charts.css").write_text("a{}", "utf-8")
    assert hero_figures.drawing_rules(tmp_path) == f"{SANS}a{{}}{NARROW}"


def test_a_scene_gets_a_margin_of_twelve_around_its_own_size():
    assert hero_figures.standalone_figure(SCENE, "a>b{}") == (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 124 74" '
        'width="124" height="74"><style>a&gt;b{}</style>' + PAPER + '<g class="scene">'
        '<svg width="100" height="50" overflow="visible"><rect/></svg></g></svg>'
    )


def test_a_chart_is_460_wide_with_its_frame_inside_of_its_margins():
    # 460 - 56 - 2 = 402 across; 6 + 280 + 46 = 332 down.
    assert hero_figures.standalone_figure(CHART, 'a[b="c"]{}') == (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 484 356" '
        'width="484" height="356"><style>a[b="c"]{}</style>' + PAPER + '<g class="chart-svg">'
        '<svg x="56" y="6" width="402" height="280" overflow="visible"><path/></svg></g></svg>'
    )


def test_a_scene_that_does_not_say_its_size_is_600_by_400():
    picture = hero_figures.standalone_figure('<svg class="scene"><rect/></svg>', "")
    assert 'viewBox="-12 -12 624 424" width="624" height="424"' in picture
    assert '<svg width="600" height="400" overflow="visible"><rect/></svg>' in picture


def test_a_chart_that_does_not_say_its_margins_is_300_high_without_any():
    picture = hero_figures.standalone_figure('<svg class="chart-svg"><path/></svg>', "")
    assert 'viewBox="-12 -12 484 324" width="484" height="324"' in picture
    assert '<svg x="0" y="0" width="460" height="300" overflow="visible"><path/>' in picture


@each(
    ("html", "inner"),
    [
        (SCENE, "<rect/>"),
        ('<svg class="scene"><svg><svg></svg></svg><b/></svg></svg>', "<svg><svg></svg></svg><b/>"),
        ('<svg class="scene"><svg></svg><svg></svg></svg>', "<svg></svg><svg></svg>"),
        ('<svg class="scene"></svg>', ""),
    ],
)
def test_a_drawing_ends_where_its_own_tag_is_closed(html, inner):
    assert inner_of(html) == inner


def test_two_states_take_turns_of_0_9_seconds():
    turns = (
        ".state{visibility:hidden}.s0{visibility:visible}"
        "@media (prefers-reduced-motion:no-preference){"
        "@keyframes turn{0%,50.000%{visibility:visible}50.001%,100%{visibility:hidden}}"
        ".state{animation:turn 1.8s step-end infinite}"
        ".s0{animation-delay:0s}.s1{animation-delay:0.9s}}"
    )
    assert hero_figures.animated_figure([SCENE, OTHER], "a{}") == (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -12 124 74" '
        f'width="124" height="74"><style>a{{}}{turns}</style>{PAPER}<g class="scene">'
        '<svg width="100" height="50" overflow="visible">'
        '<g class="state s0"><rect/></g><g class="state s1"><path/></g></svg></g></svg>'
    )


def test_three_states_share_the_time_in_three():
    text = hero_figures.animated_figure([SCENE, OTHER, SCENE], "")
    assert "0%,33.333%{visibility:visible}33.334%,100%{visibility:hidden}" in text
    assert ".state{animation:turn 2.7s step-end infinite}" in text
    assert ".s2{animation-delay:1.8s}}" in text


@each("drawings", [[], [SCENE], ["<p></p>", SCENE], ["<p></p>", "<p></p>"]])
def test_fewer_than_two_drawings_do_not_move(drawings):
    assert hero_figures.animated_figure(drawings, "") == ""


def test_what_is_no_drawing_is_no_state():
    assert hero_figures.animated_figure(
        ["<p></p>", SCENE, OTHER], ""
    ) == hero_figures.animated_figure([SCENE, OTHER], "")
