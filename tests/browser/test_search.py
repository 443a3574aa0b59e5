"""The search box: what it finds, where it leads, and that it works without a network."""

import functools
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import LAB, SUB_PATH, WINDOW, Handler
from tests.browser.hosting import hosting
from tests.browser.test_offline import wait

pytestmark = pytest.mark.browser
HITS = "#search-found [role=option]"
GROUPS = ["Tools", "Guides", "Calculators", "Terms", "Reference"]


def asked(page: Page, words: str) -> None:
    page.locator("[data-search-words]").fill(words)
    expect(page.locator("[data-search-said]")).to_contain_text("found", timeout=30_000)


def test_slash_opens_it_and_enter_follows_the_marked_hit(visit):
    page = visit(LAB)
    page.keyboard.press("/")
    asked(page, "reduce-scatter")
    term = page.locator(f"{HITS}[aria-selected=true]", has_text="Term")
    for _ in range(page.locator(HITS).count()):
        page.keyboard.press("ArrowDown")
        if term.count():
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/reference/glossary/#term-reduce-scatter")


def test_groups_come_in_the_order_of_doing_with_sources_folded(visit):
    page = visit("")
    page.keyboard.press("/")
    asked(page, "memory")
    named = page.locator("#search-found .hit-group").all_text_contents()
    assert named == [name for name in GROUPS if name in named]
    assert {"Tools", "Guides", "Terms"} <= set(named)
    sources = page.locator("[data-search-sources]")
    expect(sources).to_be_visible()
    assert sources.get_attribute("open") is None


@pytest.mark.parametrize(
    ("words", "first", "guide"),
    [
        ("oom", "tools/memory/", "guides/where-the-memory-goes/"),
        ("TP", "tools/planner/", "guides/tensor-parallelism/"),
        ("slow", "tools/log/", "guides/reproduce-published-runs/"),
        ("cost", "tools/planner/", "guides/job-completion-time/"),
        ("fsdp2", "guides/zero-3/", "guides/zero-3/"),
    ],
)
def test_words_of_readers_lead_to_what_answers(visit, base, words, first, guide):
    page = visit("")
    page.keyboard.press("/")
    asked(page, words)
    links = page.locator(f"{HITS} a").evaluate_all("all => all.map((one) => one.href)")
    assert links[0] == base + first
    assert base + guide in links


def test_a_job_opens_the_planner_with_it(visit):
    page = visit(LAB)
    page.keyboard.press("/")
    asked(page, "70B on 64 H100")
    offer = page.locator(f"{HITS} a").first
    expect(offer).to_contain_text("Plan Llama 3 70B on 64 H100 SXM")
    offer.click()
    page.wait_for_url("**/tools/planner/?job_planner.model=llama-3-70b&*")
    assert "job_planner.world_size=64" in page.url
    assert "job_planner.machine=dgx-h100" in page.url


@pytest.mark.left_to_all("the search opens, finds every kind, and misses its index")
def test_an_empty_search_has_four_doors_and_what_was_asked_before(visit):
    page = visit("", own=True)
    page.keyboard.press("/")
    doors = page.locator("[data-search-empty] a")
    expect(doors).to_have_count(4)
    asked(page, "bubble")
    expect(doors.first).to_be_hidden()
    home = page.url
    page.locator(f"{HITS} a").first.click()
    page.wait_for_url(lambda address: address != home)
    page.locator(".masthead [data-opens=search]:enabled").wait_for()
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("")
    page.locator("[data-recent]", has_text="bubble").click()
    expect(page.locator("[data-search-words]")).to_have_value("bubble")


def test_escape_closes_it_at_once(visit):
    page = visit("")
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("bubble")
    page.keyboard.press("Escape")
    expect(page.locator("[data-search]")).not_to_be_visible()


@pytest.mark.left_to_all("the search opens, finds every kind, and misses its index")
def test_it_says_that_it_is_being_prepared(visit):
    page = visit("", own=True)
    held = []
    page.route("**/where.json", lambda route: held.append(route))
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("oom")
    expect(page.locator("[data-search-said]")).to_have_text("Preparing the search …")
    expect(page.locator("[data-search-progress]")).to_be_visible()
    # What our own words lead to is there already.
    expect(page.locator(f"{HITS} a").first).to_contain_text("memory")
    held[0].continue_()
    expect(page.locator("[data-search-said]")).to_contain_text("found.")
    expect(page.locator("[data-search-progress]")).to_be_hidden()


def test_a_number_is_found_with_its_value(visit):
    page = visit("")
    page.locator(".masthead [data-opens=search]").click()
    asked(page, "over the ideal bubble")
    # The formula of the same name is found, too; its value is that of the sheet's own inputs.
    hit = page.locator(HITS, has_text="Bubble, over the ideal").filter(has_text="37.5 %").first
    hit.get_by_role("link").click()
    page.wait_for_url("**/guides/pipeline-schedule-lab/**")


@pytest.mark.parametrize(
    ("words", "kind", "value", "place"),
    [
        ("Operations of one token", "Formula", "48.4 GFLOP", "**/formulas/#palm_operations"),
        ("Size of the gradients of a 7B model", "Claim", "14.0 GB", "**/claims/#claims_checked"),
        ("Two-tree algorithms full bandwidth", "Source", "2009", "**/#ref-sanders2009"),
    ],
)
def test_formulas_claims_and_sources_are_found(visit, words, kind, value, place):
    page = visit("")
    page.keyboard.press("/")
    asked(page, words)
    if kind == "Source":
        page.locator("[data-search-sources] summary").click()
    found = page.locator(f"{HITS}, [data-search-sources] li")
    hit = found.filter(has=page.locator(".hit-kind", has_text=kind)).first
    expect(hit).to_contain_text(value)
    hit.get_by_role("link").click()
    page.wait_for_url(place)


def test_a_slash_in_a_field_is_a_slash(visit):
    page = visit(LAB)
    field = page.locator("#gradient_sync [name=port]").first
    field.fill("")
    field.type("400Gb/s")
    assert field.input_value() == "400Gb/s"
    expect(page.locator("[data-search]")).not_to_be_visible()


def test_nothing_found_says_so_and_keeps_the_words(visit):
    page = visit("")
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("ŵŵŵŵ")
    said = page.locator("[data-search-said]")
    expect(said).to_have_text("Nothing was found for ŵŵŵŵ.", timeout=30_000)
    assert page.locator("[data-search-words]").input_value() == "ŵŵŵŵ"


def test_an_index_that_does_not_arrive_is_said_and_tried_again(visit):
    page = visit("")
    page.route("**/where.json", lambda route: route.abort())
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("bubble")
    expect(page.locator("[data-search-said]")).to_contain_text("could not be loaded")
    page.unroute("**/where.json")
    asked(page, "bubbles")


@pytest.mark.left_to_all("the search opens, finds every kind, and misses its index")
def test_a_worker_that_does_not_start_leaves_the_search_working(visit):
    page = visit("")
    page.route("**/pagefind-worker.js", lambda route: route.abort())
    page.keyboard.press("/")
    asked(page, "pipeline bubble")
    expect(page.locator(HITS).first).to_be_visible()


@pytest.mark.left_to_all("the search opens, finds every kind, and misses its index")
def test_once_used_it_works_without_a_network(browser: Browser, site: Path):
    handler = functools.partial(Handler, directory=str(site))
    context = browser.new_context(viewport=WINDOW)
    with hosting(handler, hangs_up=True) as port:
        address = f"http://127.0.0.1:{port}{SUB_PATH}"
        page = context.new_page()
        page.goto(address)
        page.locator("body[data-kept]").wait_for()
        page.keyboard.press("/")
        asked(page, "ring")
        files = json.loads((site / "search" / "where.json").read_text("utf-8"))["files"]
        kept = f"""async () => {{
          const store = await caches.open("wallclock-visited");
          const kept = (await store.keys()).map(({{ url }}) => url);
          return {json.dumps(["where.json", *files])}.every(
            (name) => kept.some((url) => url.includes("/search/") && url.endsWith(name)));
        }}"""
        wait(page, kept)
    again = context.new_page()
    again.goto(address)
    again.keyboard.press("/")
    asked(again, "pipeline bubble")
    expect(again.locator(HITS).first).to_be_visible()
    context.close()


def test_what_is_typed_before_the_box_is_there_is_searched_for(visit):
    page = visit("")
    page.keyboard.press("/")
    page.keyboard.type("reduce", delay=5)
    expect(page.locator("[data-search-words]")).to_have_value("reduce", timeout=30_000)


def test_enter_before_the_first_result_follows_it_once_it_is_there(visit):
    page = visit("")
    home = page.url
    page.keyboard.press("/")
    page.locator("[data-search-words]").fill("straggler")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: address != home, timeout=30_000)
