"""Five journeys through the site in Firefox; skipped, with a word, where there is none."""

import pytest

from tests.browser.conftest import LAB
from tests.browser.firefox import firefox, running, tab
from tests.browser.reading import CALCULATOR, expected

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not firefox(), reason="no Firefox (Debian: apt-get install firefox-esr)"),
]
LIVE = f"""!!document.querySelector('[data-calculator="{CALCULATOR}"][data-state="live"]')"""
DRAG = f"""input.drag[name="world_size"][data-of="{CALCULATOR}"]"""
TIME = f""".number[data-of="{CALCULATOR}"][data-output="all_reduce_time"]"""


@pytest.fixture(scope="module")
def session():
    with running(firefox()) as socket:
        yield socket


@pytest.fixture
def page(session):
    opened = tab(session)
    yield opened
    opened.ask("browsingContext.close", context=opened.context)


def shown(page):
    return page.read(f"document.querySelector('{TIME}').textContent")


def wait_for(page, text):
    page.wait(f"document.querySelector('{TIME}').textContent === {text!r}")


def focus(page, selector):
    page.read(f"document.querySelector('{selector}').focus()")


def test_a_guide_is_read(page, base):
    page.go(base + LAB)
    assert shown(page) == expected()
    assert page.errors == []


def test_a_number_in_a_sentence_is_stepped_by_arrow_keys(page, base):
    page.go(base + LAB)
    page.wait(LIVE)
    before = page.read(f"document.querySelector('{DRAG}').value")
    focus(page, DRAG)
    page.press("ArrowUp")
    after = page.wait(f"(v => v !== {before!r} && v)(document.querySelector('{DRAG}').value)")
    wait_for(page, expected(world_size=after.replace(",", "")))
    assert page.errors == []


def test_a_number_and_a_list_in_a_sentence_are_as_wide_as_their_text(page, base):
    page.go(base + LAB)
    page.wait("""[...document.querySelectorAll('input.drag')].every((one) => {
        const { width } = one.getBoundingClientRect(), letters = one.value.length;
        return one.scrollWidth <= one.clientWidth && width < 16 * letters;
    })""")
    page.wait("""[...document.querySelectorAll('select.inline')].every((one) => {
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = getComputedStyle(one).font;
        const words = pen.measureText(one.selectedOptions[0].text).width;
        const aside = one.getBoundingClientRect().width - words;
        return aside > 16 && aside < 32;
    })""")
    assert page.errors == []


def test_a_number_in_what_unfolds_is_as_wide_as_its_text(page, base):
    page.go(base + "guides/overlap-buckets/")
    page.press("Home")  # what is live comes at the first sign of a reader
    page.wait("!!document.querySelector('[data-calculator][data-state=live]')")
    page.wait("""(({ one }) => {
        one.closest('details').open = true;
        const { width } = one.getBoundingClientRect(), letters = one.value.length;
        return width > 5 * letters && width < 16 * letters && one.scrollWidth <= one.clientWidth;
    })({ one: document.querySelector('details input.drag') })""")
    assert page.errors == []


def test_an_address_sets_the_inputs(page, base):
    page.go(f"{base}{LAB}?{CALCULATOR}.world_size=1024")
    page.wait(LIVE)
    wait_for(page, expected(world_size="1024"))
    assert page.errors == []


def test_a_number_opens_its_receipt(page, base):
    page.go(base + LAB)
    page.wait(LIVE)
    page.click(TIME)
    receipt = f"document.querySelector('#receipt-{CALCULATOR}-all_reduce_time')"
    text = page.wait(f"({receipt} && {receipt}.offsetHeight && {receipt}.textContent)")
    assert expected() in text
    assert page.errors == []


def test_a_timeline_is_stepped(page, base):
    page.go(base + "guides/pipeline-schedule-lab/")
    page.press("Home")  # live charts wait for the first sign of a reader
    page.wait("""!!document.querySelector('[data-calculator="schedule_lab"][data-state="live"]')""")
    page.wait("!!document.querySelector('[data-scrub]')")
    focus(page, "[data-scrub]")
    page.press("Home")
    start = page.read("document.querySelector('[data-scrub]').value")
    page.press("ArrowRight")
    page.wait(f"document.querySelector('[data-scrub]').value !== {start!r}")
    assert page.errors == []
