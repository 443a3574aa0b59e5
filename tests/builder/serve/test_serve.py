import http.client
import json

import pytest
import watchfiles

from builder.serve import local_server, serve

OUTPUT = {
    "index.html": b"home",
    "guides/a/index.html": b"a",
    "404.html": b"missing",
    "assets/x.js": b"1",
}
CHANGED = watchfiles.Change.modified


@pytest.fixture
def host():
    return local_server.ServedSite(script=b"reload()")


@pytest.fixture
def ask(host):
    server = local_server.start(host, 0)
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)

    def get(path):
        connection.request("GET", path)
        return connection.getresponse()

    yield get
    connection.close()
    server.shutdown()
    server.server_close()


def test_a_folder_is_its_index(host, ask):
    host.publish(OUTPUT, [])
    assert ask("/guides/a/").read() == b"a"


def test_a_page_without_its_slash_leads_to_the_one_with_it(host, ask):
    host.publish(OUTPUT, [])
    assert ask("/guides/a").getheader("Location") == "/guides/a/"


def test_an_unknown_address_gets_the_missing_page(host, ask):
    host.publish(OUTPUT, [])
    reply = ask("/nowhere")
    assert (reply.status, reply.read()) == (404, b"missing")


def test_scripts_have_the_type_that_browsers_demand(host, ask):
    host.publish(OUTPUT, [])
    assert ask("/assets/x.js").getheader("Content-Type") == "text/javascript; charset=utf-8"


def test_what_is_no_text_has_no_charset(host, ask):
    host.publish({**OUTPUT, "assets/python.wasm": b"wasm"}, [])
    assert ask("/assets/python.wasm").getheader("Content-Type") == "application/wasm"


def test_before_the_first_build_a_page_says_so_and_asks_again(host, ask):
    reply = ask("/guides/a/")
    page = reply.read().decode()
    assert (reply.status, reply.getheader("Retry-After")) == (503, "2")
    assert "Building the pages." in page
    assert '<meta http-equiv="refresh" content="2">' in page
    host.publish(OUTPUT, [])
    assert ask("/guides/a/").read() == b"a"


def test_when_the_first_build_fails_a_page_says_why(host, ask):
    host.show_problems(["content/<x>.md:1: wrong"])
    page = ask("/").read().decode()
    assert "content/&lt;x&gt;.md:1: wrong" in page
    assert "Building the pages." not in page


def test_open_pages_hear_what_changed(host, ask):
    events = ask("/_events")
    while not host.listeners:
        pass
    host.publish(OUTPUT, ["index.html"])
    assert json.loads(events.readline().removeprefix(b"data: ")) == {"changed": ["index.html"]}


def test_a_page_opened_after_a_failed_build_hears_why(host, ask):
    host.show_problems(["content/x.md:1: wrong"])
    heard = json.loads(ask("/_events").readline().removeprefix(b"data: "))
    assert heard == {"problems": ["content/x.md:1: wrong"]}


def test_a_failed_build_keeps_the_last_good_pages(host, ask):
    host.publish(OUTPUT, [])
    host.show_problems(["content/x.md:1: wrong"])
    assert ask("/").read() == b"home"


def test_an_article_is_watched():
    assert serve.is_relevant_change(CHANGED, "/project/content/guides/a.md")


def test_installed_packages_are_not_watched():
    assert not [name for name in serve.WATCHED if name == "theme" or "node" in name]


def test_an_editors_own_files_are_not_watched():
    assert not serve.is_relevant_change(CHANGED, "/project/content/guides/.a.md.swp")


def test_the_script_of_reloading_is_not_looked_for_in_the_output(host):
    assert host.find(local_server.SCRIPT) == (200, "text/javascript", b"reload()")


def test_the_generator_is_watched_beside_a_project_unless_it_was_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(serve, "INSTALLED", False)
    assert serve._roots(tmp_path) == (tmp_path, serve.GENERATOR)
    assert serve._roots(serve.GENERATOR) == (serve.GENERATOR,)
    monkeypatch.setattr(serve, "INSTALLED", True)
    assert serve._roots(tmp_path) == (tmp_path,)
