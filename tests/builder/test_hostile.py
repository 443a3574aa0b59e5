"""What once was built though wrong, ended in a traceback, or buried its cause: one error each."""

import sys
from dataclasses import replace

import pytest

from builder.cli import commands, parser
from builder.core.project import NavigationLink
from builder.markdown import allowed_html
from builder.outputs import output_folder
from tests.builder import conftest
from tests.builder.conftest import SERVICES

SECOND = "content/guides/second.md"
SPEED = "tiny_calculators/speed.py"
NOTHING_ELSE = "a page loads nothing else"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<script>alert(1)</script>", "the tag <script> is not allowed"),
        ("A <script src='x.js'></script> here.", "the tag <script> is not allowed"),
        ('<p onclick="alert(1)">Press.</p>', "the attribute 'onclick' of <p> is not allowed"),
        (
            'Press **this**{ onclick="alert(1)" }.',
            "the attribute 'onclick' is not allowed in an article",
        ),
        ('<p style="color: red">Red.</p>', "the attribute 'style' of <p> is not allowed"),
        ('<iframe src="https://e.org/"></iframe>', "the tag <iframe> is not allowed"),
        ('<img alt="x" src="https://e.org/x.png">', "'https://e.org/x.png' is not a file {}"),
        ('<img alt="x" src="//e.org/x.png">', "'//e.org/x.png' is not a file"),
        ("![x](https://e.org/x.png)", "image 'https://e.org/x.png' is not a file of content/"),
        ("![x](data:image/png;base64,AA)", "image 'data:image/png;base64,AA' is not a file"),
        ("<style>p { color: red }</style>", "the tag <style> is not allowed"),
        ("[x](data:text/html,hi)", "external link 'data:text/html,hi' has to begin with https://"),
        ("[x](javascript:alert(1))", "external link 'javascript:alert(1)' has to begin with"),
        ('<a href="data:text/html,hi">x</a>', "external link 'data:text/html,hi' has to begin"),
        ("<?php ?>", "<?php ?> is not allowed"),
        ("<!DOCTYPE html>", "<!DOCTYPE html> is not allowed"),
        ("<div>", "<div> is never closed"),
        ("<div><span></div>", "<span> is never closed"),
        ("<div><p><em>a</em></div>", "<p> is never closed"),
        ("</div>", "</div> closes nothing"),
        ("Words <!-- and more.", "the comment <!-- is never closed"),
        ("It costs $a + b.", "a formula is opened by $ and never closed"),
        ("$$\na + b", "a formula is opened by $ and never closed"),
        ("```python\nx = 1", "this fence of code is never closed"),
        ("/// note | Mind\nThis.", "the block '/// note | Mind' is never closed by '///'"),
        ("///", "'///' closes no block"),
        ("A ??term that nobody wrote??.", "term 'term that nobody wrote' is not defined"),
        ("It is [[speed.time], surely.", "'[[speed.time]' lacks a ']' at its end"),
        ("[[speed]", "'[[speed]' lacks a ']' at its end"),
        ("It is [[speed.time and more.", "'[[speed.time and more.' lacks a ']' at its end"),
        ("It is [speed.time]], surely.", "'[speed.time]]' lacks a '[' before it"),
        ("So it is [@].", "'[@]' is no citation; write [@key] or [@key; @other]"),
        ("So it is [@hockney1994, p. 3].", "'[@hockney1994, p. 3]' is no citation; write [@key]"),
        (
            "/// detail | More\nWords.\n///",
            "there is no block 'detail'; there are admonition, attention, caption, caution, ",
        ),
    ],
)
def test_what_an_article_must_not_hold(live, text, message):
    line = live.append(SECOND, text)
    found = live.problems()
    assert len(found) == 1, found
    assert found[0].startswith(f"{SECOND}:{line}: {message.removesuffix(' {}')}")


@pytest.mark.parametrize(
    "text",
    [
        '<p class="quiet" id="there">A <kbd>key</kbd>, x<sub>2</sub><br>and <em>more</em>.</p>',
        '<details><summary>More</summary><a href="https://e.org/">e</a></details>',
        "See <https://e.org/> and <!-- a word to authors -->.",
        "With a < b and c > d, $a<b$, `<script>` and \\$2.",
        "```html\n<script>$</script>\n///\n```",
        "$$\na <b\n$$",
        "/// note | One\n//// note | Two\nInner.\n////\n///",
        "[mail](mailto:a@e.org)",
        "[[a] b](https://e.org/), [a [b]](https://e.org/), `[[x]` and $a[[b]$.",
        "So [@hockney1994;\n@hockney1994] says.",
    ],
)
def test_what_an_article_may_hold(live, text):
    live.append(SECOND, text)
    assert live.problems() == []


@pytest.mark.parametrize(
    ("path", "data", "problem"),
    [
        (SECOND, b"+++\n\xff\n+++\n", f"{SECOND}:2: byte 0xff is not UTF-8"),
        (SECOND, b"\xef\xbb\xbf+++\n+++\n", f"{SECOND}:1: begins with a byte-order mark"),
        (SECOND, b"+++\n+++\n\nA\0B", f"{SECOND}:4: holds the control character U+0000"),
        ("content/glossary.toml", b"[a]\n\xe9", "content/glossary.toml:2: byte 0xe9 is not UTF-8"),
        ("content/glossary.toml", b'["bus', 'content/glossary.toml:1: Unterminated string'),
        (
            "content/references.toml",
            b'[a]\ntitle = "T"\nurl = "https://e.org/"\nyear = "twenty"',
            "content/references.toml:1: 'a' has the year 'twenty'; it has to be a year, a text",
        ),
        ("content/references.toml", b"[a]\nx = ", "content/references.toml:2: Invalid value"),
        ("content/images/a b.svg", b"<svg/>", "content/images/a b.svg:1: 'a b.svg' is no address"),
        ("content/guides/third.markdown", b"", "content/guides/third.markdown:1: is not read"),
        ("content/gides/x.md", b"+++\n+++\n", "content/gides/x.md:1: there is no folder 'gides'"),
        pytest.param(
            "content/guides/Second.md",
            b"+++\n+++\n",
            f"{SECOND}:1: differs from content/guides/Second.md only in capitals",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="one file of both names"),
        ),
        (SPEED, b"def (", f"{SPEED}:1: SyntaxError: invalid syntax"),
        (SPEED, b"x = 1\n\nimport numpy as np", f"{SPEED}:3: imports 'numpy'; a reader's browser"),
        ("theme/styles/a.css", b"p {\n color: red;\n", "theme/styles/a.css:1: '{' is never closed"),
        ("theme/styles/a.css", b"p {}\n}\n", "theme/styles/a.css:2: '}' closes nothing"),
        ("theme/styles/a.css", b"\n/* a", "theme/styles/a.css:2: this comment is never closed"),
        ("theme/styles/a.css", b"p::after { content: 'x }", "theme/styles/a.css:1: "),
        (
            "theme/styles/a.css",
            b"@import 'x.css';",
            "theme/styles/a.css:1: @import is not followed",
        ),
        (
            "theme/styles/a.css",
            b"p {\n background: url(https://e.org/x.png); }",
            "theme/styles/a.css:2: 'https://e.org/x.png' is not a font of theme/fonts",
        ),
        (
            "theme/templates/guide.html",
            b"\n{% if %}",
            "theme/templates/guide.html:2: TemplateSyntaxError: ",
        ),
        (
            "theme/templates/guide.html",
            b"\n\n{{ nothing.there }}",
            "theme/templates/guide.html:3: UndefinedError: 'nothing' is undefined",
        ),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_told_alone(live, path, data, problem):
    file = live.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    found = live.problems()
    assert found
    assert found[-1].startswith(problem), found
    assert {one.split(":")[0] for one in found} <= {path, SECOND}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("def solve(", "def solved(", f"{SPEED}:1: calculator 'speed' declares no solve"),
        ("def views(", "def viewed(", f"{SPEED}:1: calculator 'speed' declares no views"),
        ("QUESTION =", "ANSWER =", f"{SPEED}:1: calculator 'speed' declares no QUESTION"),
        ("HEADLINE =", "LARGE =", f"{SPEED}:1: calculator 'speed' declares no HEADLINE"),
        (
            "time=inputs.size / inputs.bandwidth",
            "time=inputs.size / 0",
            f"{SPEED}:46: calculator 'speed' raises ZeroDivisionError: ",
        ),
        (
            "(2e-5, 2e-2)",
            "(2e-5, float('nan'))",
            f"{SPEED}:1: output 'curve' holds NaN, which is no number",
        ),
    ],
)
def test_a_calculator_that_cannot_be_used(live, old, new, problem):
    live.edit(SPEED, old, new)
    found = live.problems()
    assert len(found) == 1, found
    assert found[0].startswith(problem)


@pytest.mark.parametrize(
    ("path", "old", "new", "problem"),
    [
        (
            "content/guides/first.md",
            "order = 1",
            'order = 1\nrequires = ["second"]',
            "content/guides/first.md:7: requires itself: first -> second -> first",
        ),
        (SECOND, '["first"]', '["second"]', f"{SECOND}:7: requires itself: second -> second"),
        (
            SECOND,
            "order = 2",
            "order = 1",
            f"{SECOND}:6: order 1 of the path 'A Basics' is also that of content/guides/first.md",
        ),
        (
            SECOND,
            '"A Basics"',
            '"A 0"',
            f"{SECOND}:5: the path 'A 0' is called 'A Basics' in content/guides/first.md",
        ),
        (SECOND, '"A Basics"', '"Basics"', f"{SECOND}:5: the path 'Basics' is not a letter and"),
        (SECOND, '"And then?"', '""', f"{SECOND}:3: front-matter key 'question' is empty"),
        (
            "content/glossary.toml",
            'also = ["busbw"]',
            'also = "bus"',
            "content/glossary.toml:1: 'bus bandwidth' has the also 'bus'; it has to be a list",
        ),
    ],
)
def test_what_is_wrong_between_files(live, path, old, new, problem):
    live.edit(path, old, new)
    found = live.problems()
    assert len(found) == 1, found
    assert found[0].startswith(problem)


def test_a_link_of_the_header_that_leads_nowhere_is_told_once(live, monkeypatch):
    ways = (
        NavigationLink(label="A", address="guides/third/", line=7),
        NavigationLink(label="B", address="#b", line=8),
    )
    monkeypatch.setattr(conftest, "PROJECT", replace(conftest.PROJECT, navigation=ways))
    live.edit(
        "theme/templates/base.html",
        "<main>",
        "<nav>{% for way in project.navigation %}"
        '<a href="{{ root }}{{ way.address }}">x</a>{% endfor %}</nav><main>',
    )
    assert [one.partition(" has")[0].partition(";")[0] for one in live.problems()] == [
        "site.toml:7: link to 'guides/third/': there is no guides/third/index.html in the output",
        "site.toml:8: link to '#b': index.html",
    ]


def test_two_terms_of_one_name(live):
    with (live.root / "content/glossary.toml").open("a") as file:
        file.write('\n["other"]\ntext = "A text."\nalso = ["Bus bandwidth"]\n')
    found = live.problems()
    assert len(found) == 1
    assert "'Bus bandwidth' is a name of both 'bus bandwidth' and 'other'" in found[0]


def test_a_module_that_no_browser_can_read(tmp_path):
    from builder.outputs import service_makers

    check = service_makers.make_services(
        tmp_path, parser.DEFAULT_PROJECT / "theme", tmp_path
    ).check_modules
    sound = 'import { a } from "./a.js";\nexport const b = a;\n'
    assert check({"good.js": sound}) == []
    assert check({"good.js": sound, "bad.js": "const a = 1;\nconst a = 2;\n"}) == [
        ("bad.js", 2, "SyntaxError: Identifier 'a' has already been declared")
    ]


def test_a_module_that_cannot_be_read_is_a_problem(live):
    from builder import pipeline
    from builder.core.build_cache import BuildCache

    seen = []

    def check(texts):
        seen.extend(texts)
        return [(next(iter(texts)), 4, "SyntaxError: no")]

    built = pipeline.build(
        live.folders,
        pipeline.Options(),
        replace(SERVICES, check_modules=check),
        BuildCache(),
        lambda _: None,
    )
    assert "theme/runtime/main.js" in seen
    assert [str(one) for one in built.problems] == [f"{seen[0]}:4: SyntaxError: no"]


def test_a_full_disk_is_a_sentence(monkeypatch, tmp_path, capsys):
    from builder.pipeline import BuildResult

    def full(*_):
        raise OSError(28, "No space left on device", "site/index.html")

    monkeypatch.setattr(
        "builder.cli.build_command.build_with_cache",
        lambda *_: BuildResult(output={"a": b""}, problems=()),
    )
    monkeypatch.setattr(output_folder, "replace_output", full)
    assert commands.main(["build", "--out", str(tmp_path / "site")]) == 1
    told = capsys.readouterr().out
    assert told == "site/index.html: No space left on device; nothing was written\n"


@pytest.mark.parametrize("address", ["http://e.org/", "ftp://e.org/", "javascript:x", "//e.org/"])
def test_a_link_in_html_leads_elsewhere_by_https_alone(address):
    said = f"external link '{address}' has to begin with https://"
    assert list(allowed_html.disallowed_messages(f'<a href="{address}">')) == [said]
    assert list(allowed_html.disallowed_messages('<a href="https://e.org/">')) == []
