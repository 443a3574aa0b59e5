"""Nothing is cut that is read whole: chosen options, contents beside an opening figure."""

import pytest

pytestmark = pytest.mark.browser
CUT_SELECTS = """() => [...document.querySelectorAll(".field select")].flatMap((one) => {
  one.selectedIndex = [...one.options].map((option) => option.text.length)
    .reduce((most, length, i, all) => (length > all[most] ? i : most), 0);
  const over = one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1;
  const { appearance, whiteSpace } = getComputedStyle(one);
  return over || appearance !== "none" || whiteSpace === "nowrap" ? [one.name] : [];
})"""
COVERED = """() => {
  const list = document.querySelector("nav.contents:not(.path) > div").getBoundingClientRect();
  return [...document.querySelectorAll("article > :is(figure, .calculator, .wide, .view.table)")]
    .map((one) => one.getBoundingClientRect())
    .filter(({ right, top, bottom }) => (
      right > list.left + 2 && top < list.bottom && bottom > list.top)).length;
}"""


@pytest.mark.parametrize("page", ["tools/expert-groups/", "tools/import/"])
def test_the_longest_option_of_a_select_is_read_in_full_on_a_phone(visit, page):
    found = visit(page, viewport={"width": 390, "height": 844})
    assert found.evaluate(CUT_SELECTS) == []


@pytest.mark.parametrize("page", ["guides/overlap-buckets/", "guides/rooflines/"])
def test_the_opening_figure_covers_nothing_of_the_page_s_contents(visit, page):
    found = visit(page, viewport={"width": 1440, "height": 900})
    assert found.evaluate(COVERED) == 0
