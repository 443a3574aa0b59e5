"""The runtime on a page of its own: starts, answers, survives, and says so when it cannot."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from engine.answer import answer
from tests.bench.host import serve
from tests.browser.runtime_fixtures import ROOT, Host, request, write_page

pytestmark = pytest.mark.browser

ASK = """([name, request]) => engine.ask(name, request)"""


@contextmanager
def hosted(folder: Path) -> Iterator[Host]:
    write_page(folder, ROOT / "engine", ROOT / ".cache")
    with serve({"/guides/": folder}) as port:
        yield Host(folder=folder, url=f"http://127.0.0.1:{port}/guides/index.html")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with hosted(tmp_path) as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def opened(page: Page, host: Host) -> Page:
    page.goto(host.url)
    page.wait_for_function("() => window.engine")
    return page


def ask(page: Page, text: str) -> str | None:
    return page.evaluate(ASK, ["gradient_sync", text])


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A page whose engine has answered once, and what was seen until then."""

    page: Page
    host: Host
    reply: str | None
    urls: tuple[str, ...]
    messages: tuple[str, ...]
    states: list[str]
    measures: list[str]


@pytest.fixture(scope="module")
def started(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """One start for the tests that only look at it, or ask once more."""
    context = browser.new_context()
    page = context.new_page()
    urls: list[str] = []
    messages: list[str] = []
    page.on("request", lambda asked: urls.append(asked.url))
    page.on("console", lambda message: messages.append(message.text))
    with hosted(tmp_path_factory.mktemp("runtime")) as host:
        yield Started(
            page=page,
            host=host,
            reply=ask(opened(page, host), request()),
            urls=tuple(urls),
            messages=tuple(messages),
            states=page.evaluate("() => states.map(([state]) => state)"),
            measures=page.evaluate(
                "() => performance.getEntriesByType('measure').map(({ name }) => name)"
            ),
        )
    context.close()


def wait_for_state(page: Page, state: str) -> str:
    """Wait until the engine's last state is `state`; return the sentence that came with it."""
    page.wait_for_function("(state) => window.states.at(-1)?.[0] === state", arg=state)
    return page.evaluate("() => window.states.at(-1)[1]")


def crash(page: Page) -> None:
    """Let the Worker throw outside of any request."""
    page.workers[0].evaluate("() => { setTimeout(() => { throw new Error('crash'); }); }")


def test_the_browser_answers_byte_for_byte_like_the_terminal(started: Started):
    text = request(world_size="64")
    assert started.reply == answer(request())
    assert ask(started.page, text) == answer(text)


def test_states_run_from_loading_to_live(started: Started):
    assert started.states == ["loading", "live"]


def test_the_first_result_is_measured(started: Started):
    assert started.measures == ["runtime-start"]


def test_nothing_is_asked_of_another_host(started: Started):
    root = started.host.url.removesuffix("index.html")
    assert len(started.urls) > 5
    assert [url for url in started.urls if not url.startswith((root, "data:"))] == []


def test_a_start_writes_nothing_to_the_console(started: Started):
    assert started.messages == ()


def test_the_newest_waiting_request_replaces_older_ones(started: Started):
    texts = [request(world_size=str(size)) for size in (8, 16, 32, 64)]
    replies = started.page.evaluate(
        "(texts) => Promise.all(texts.map((text) => engine.ask('gradient_sync', text)))", texts
    )
    assert replies == [answer(texts[0]), None, None, answer(texts[3])]


def test_a_bug_in_the_engine_rejects_the_request_in_one_line(started: Started):
    words = started.page.evaluate(
        "() => engine.ask('x', '{}').then(() => '', (error) => error.message)"
    )
    assert words == "KeyError: 'calculator'"


@pytest.mark.left_to_all("a snapshot is made, used and dropped, and a dead Worker replaced")
def test_an_error_inside_the_standard_library_is_named(started: Started):
    words = started.page.evaluate(
        "() => engine.ask('x', 'no json').then(() => '', (error) => error.message)"
    )
    assert words.endswith("Expecting value: line 1 column 1 (char 0)")


def test_a_crashed_worker_is_started_again(page: Page, host: Host):
    ask(opened(page, host), request())
    crash(page)
    page.wait_for_function("() => states.length === 4")
    assert ask(page, request(world_size="16")) == answer(request(world_size="16"))


def test_a_worker_that_hangs_is_replaced_and_asked_the_same_again(page: Page, host: Host):
    ask(opened(page, host), request())
    page.workers[0].evaluate("() => { setTimeout(() => { for (;;); }); }")
    assert ask(page, request(world_size="16")) == answer(request(world_size="16"))


@pytest.mark.left_to_all("a snapshot is made, used and dropped, and a dead Worker replaced")
def test_a_third_crash_in_a_row_is_final(page: Page, host: Host):
    ask(opened(page, host), request())
    for states in (4, 6, 7):
        crash(page)
        page.wait_for_function("(count) => states.length === count", arg=states)
    assert wait_for_state(page, "failed") == ("Python stopped again and again on the same request.")


@pytest.mark.parametrize("part", ["pyodide-", "pyodide.asm-", "python-", "library-", "engine-"])
def test_a_missing_file_is_named_in_one_sentence(page: Page, host: Host, part: str):
    missing = next(path for path in host.folder.iterdir() if path.name.startswith(part))
    missing.unlink()
    opened(page, host).evaluate("() => engine.start()")
    sentence = wait_for_state(page, "failed")
    assert re.fullmatch(rf"The (file|script) {re.escape(missing.name)} could not be .*\.", sentence)


def test_a_missing_worker_is_named_in_one_sentence(page: Page, host: Host):
    (host.folder / "worker.js").unlink()
    opened(page, host).evaluate("() => engine.start()")
    assert wait_for_state(page, "failed") == "The script worker.js could not be loaded."


def test_retry_answers_what_was_asked_before_the_failure(page: Page, host: Host):
    manifest = next(host.folder.glob("runtime-*.json"))
    content = manifest.read_bytes()
    manifest.unlink()
    text = request(world_size="16")
    opened(page, host).evaluate(
        "(text) => { engine.ask('gradient_sync', text).then((reply) => (window.reply = reply)); }",
        text,
    )
    wait_for_state(page, "failed")
    manifest.write_bytes(content)
    page.evaluate("() => engine.retry()")
    page.wait_for_function("() => window.reply")
    assert page.evaluate("() => window.reply") == answer(text)


KEPT = "async () => (await (await caches.open('wallclock')).keys()).map(({ url }) => url)"
UNTIL_KEPT = """async (count) => {
  for (let rounds = 0; rounds < 300; rounds += 1) {
    const found = (await (await caches.open("wallclock")).keys()).map(({ url }) => url);
    if (found.length === count && found[0].includes("engine=engine-")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("no snapshot was kept");
}"""
# What one visit leaves: the memory of a start, the wasm, and what the page's calculators changed.
ENTRIES = 3
DETAIL = "() => performance.getEntriesByName('runtime-start').at(-1).detail"


def with_snapshot(page: Page, host: Host) -> Page:
    """Visit once and stay until the snapshot is kept."""
    ask(opened(page, host), request())
    page.evaluate(UNTIL_KEPT, ENTRIES)
    return page


def test_a_second_visit_starts_from_the_snapshot_and_answers_like_the_terminal(
    page: Page, host: Host
):
    text = request(world_size="128")
    assert ask(opened(with_snapshot(page, host), host), text) == answer(text)
    detail = page.evaluate(DETAIL)
    assert (detail["snapshot"], detail["page"]) == (True, True)
    other = json.dumps({"calculator": "bubble_conventions"})  # not in the page's memory yet
    reply = page.evaluate(ASK, ["bubble_conventions", other])
    assert reply == answer(other)


@pytest.mark.left_to_all("a snapshot is made, used and dropped, and a dead Worker replaced")
def test_what_a_reader_has_changed_is_not_kept(page: Page, host: Host):
    text = request(world_size="64")
    ask(opened(page, host), text)
    page.evaluate(UNTIL_KEPT, ENTRIES - 1)
    assert [url for url in page.evaluate(KEPT) if "page=" in url] == []
    assert ask(opened(page, host), text) == answer(text)
    detail = page.evaluate(DETAIL)
    assert (detail["snapshot"], detail["page"]) == (True, False)


@pytest.mark.left_to_all("a snapshot is made, used and dropped, and a dead Worker replaced")
def test_what_a_page_changed_in_another_start_is_not_used(page: Page, host: Host):
    with_snapshot(page, host).evaluate(
        """async () => {
          const cache = await caches.open("wallclock");
          const [start] = await cache.keys();
          const bytes = new Uint8Array(await (await cache.match(start)).arrayBuffer());
          const length = new DataView(bytes.buffer).getUint32(0, true);
          const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
          const other = new TextEncoder().encode(JSON.stringify({ ...head, id: head.id ^ 1 }));
          const size = new Uint8Array(new Uint32Array([other.length]).buffer);
          const parts = [size, other, bytes.subarray(4 + length)];
          await cache.put(start, new Response(new Blob(parts)));
        }"""
    )
    assert ask(opened(page, host), request()) == answer(request())
    detail = page.evaluate(DETAIL)
    assert (detail["snapshot"], detail["page"]) == (True, False)


# One that cannot be read, and one that Python cannot start from. (Of other contents the browser
# without windows dies, where others throw.)
NO_LAYOUT = "new Uint32Array([8192, 1, 0, ...Array(1024).fill(7)])"
NO_PYTHON = """(() => {
  const state = { hiwireKeys: [], immortalKeys: [] };
  const head = new TextEncoder().encode(JSON.stringify({ id: 1, state, runs: [[0, 1]] }));
  const size = new Uint8Array(new Uint32Array([head.length]).buffer);
  return new Blob([size, head, new Uint8Array(4096).fill(1)]);
})()"""


@pytest.mark.left_to_all("a snapshot is made, used and dropped, and a dead Worker replaced")
@pytest.mark.parametrize("spoiled", [NO_LAYOUT, NO_PYTHON], ids=["no layout", "no Python"])
def test_a_spoiled_snapshot_is_dropped_and_python_starts_without_it(
    page: Page, host: Host, spoiled: str
):
    (old, *_) = with_snapshot(page, host).evaluate(KEPT)
    page.evaluate(
        f"async (old) => (await caches.open('wallclock')).put(old, new Response({spoiled}))", old
    )
    assert ask(opened(page, host), request()) == answer(request())
    sizes = page.evaluate(
        """async () => {
          const cache = await caches.open("wallclock");
          const found = await Promise.all((await cache.keys()).map((key) => cache.match(key)));
          return Promise.all(found.map(async (one) => (await one.blob()).size));
        }"""
    )
    assert [size for size in sizes if size < 10_000] == []


@pytest.mark.left_to_all("a snapshot is made, used and dropped, and a dead Worker replaced")
def test_a_snapshot_that_hangs_gives_way_to_a_plain_start(page: Page, host: Host):
    (host.folder / "worker.js").write_text(
        "self.onmessage = ({ data }) =>"
        " self.postMessage(data.plain ? { failed: 'asked to start plain' } : { restoring: true });"
    )
    opened(page, host).evaluate("() => engine.start()")
    assert wait_for_state(page, "failed") == "asked to start plain"


def test_a_new_engine_drops_the_old_snapshot(page: Page, host: Host):
    kept = with_snapshot(page, host).evaluate(KEPT)
    page.evaluate(
        """async (kept) => {
          const cache = await caches.open("wallclock");
          for (const one of kept) {
            await cache.put(one.replace("engine=", "engine=old-"), await cache.match(one));
            if (one.includes("engine=")) await cache.delete(one);
          }
        }""",
        kept,
    )
    ask(opened(page, host), request())
    page.evaluate(UNTIL_KEPT, ENTRIES)
    assert page.evaluate(KEPT) == kept
