from types import SimpleNamespace

import pytest

from builder.core.project import NavigationLink
from builder.outputs import root_files
from builder.pages.page import POLICY

MARK = "Gam0m8XX8G14qyU4rUEdOA0sVdziimxh8eHJHY29CK8="
ADDRESS = "https://example.org/w/"
SHELL = SimpleNamespace(style_text="a{}@font-face {src:url(x)}b{}")
PROJECT = SimpleNamespace(name="Tiny", navigation=())


class Page(str):
    """The name of an article."""

    kind, slug, url = "guide", "", ""


class ToolsPage(Page):
    kind, slug, url = "shelf", "tools", "tools/"


class Templates:
    """One template, which tells what it is given."""

    def get_template(self, name):
        assert name == "missing.html"
        return self

    def render(self, **given):
        self.given = given
        return f"no page; home is {given['home']}"


@pytest.fixture
def extras(monkeypatch):
    def told(what):
        return lambda articles, *rest: " ".join((what, *articles, *map(str, rest)))

    for name in ("llms_txt", "sitemap", "atom"):
        monkeypatch.setattr(root_files.feeds, name, told(name))
    templates = Templates()

    def made(base_url, scripts=None):
        files = root_files.make_root_files(
            iter([Page("one"), ToolsPage("two")]),
            SHELL,
            base_url,
            templates,
            scripts or {},
            ("change",),
            PROJECT,
        )
        return files, templates.given

    return made


def test_a_site_without_an_address_has_no_lists_of_addresses(extras):
    assert extras("")[0] == {
        "404.html": b"no page; home is /",
        ".nojekyll": b"",
        "robots.txt": b"User-agent: *\nAllow: /\n",
        "llms.txt": b"llms_txt one two Tiny ",
    }


def test_a_site_with_an_address_has_a_sitemap_and_a_feed(extras):
    assert extras(ADDRESS)[0] == {
        "404.html": b"no page; home is /w/",
        ".nojekyll": b"",
        "robots.txt": b"User-agent: *\nAllow: /\nSitemap: https://example.org/w/sitemap.xml\n",
        "llms.txt": b"llms_txt one two Tiny https://example.org/w/",
        "sitemap.xml": b"sitemap one two https://example.org/w/",
        "feed.xml": b"atom one two Tiny https://example.org/w/ ('change',)",
    }


def test_a_site_at_the_root_of_its_host_is_at_home_there(extras):
    assert extras("https://example.org")[1]["home"] == "/"


def test_the_page_for_what_is_missing_has_its_styles_and_no_fonts(extras):
    assert extras("")[1] == {
        "policy": POLICY,
        "style": "a{}b{}",
        "home": "/",
        "shell": SHELL,
        "project": PROJECT,
        "script": "",
        "navigation": (NavigationLink(label="Tools", address="tools/", line=0),),
    }


def test_its_script_stands_in_it_and_only_that_may_run(extras):
    files, given = extras("", {"missing.js": "find()", "early.js": "go()"})
    assert "missing.js" not in files
    assert given["script"] == "find()"
    # echo -n 'find()' | openssl dgst -sha256 -binary | base64
    assert f"script-src 'self' 'sha256-{MARK}'" in given["policy"]


def test_scripts_lie_beside_the_home_page_unless_they_are_empty(extras):
    files = extras("", {"early.js": "go()", "moved.js": ""})[0]
    assert files["early.js"] == b"go()"
    assert "moved.js" not in files
