"""HTML in Markdown is looked at where Markdown itself takes it for HTML."""

import pytest
from markdown import Markdown

from builder.markdown.article_html import RawHtmlExtension, record_disallowed
from builder.markdown.render_state import RenderState


def converted(text):
    findings = RenderState()
    return Markdown(extensions=[RawHtmlExtension(findings)]).convert(text), findings.raw


def tag(name):
    return f"the tag <{name}> is not allowed in an article; a bare < is written &lt;"


def test_what_is_refused_is_noted_with_the_html_behind_what_is_there():
    findings = RenderState(raw=[("a", "b")])
    record_disallowed('<p style="x" lang="de" onclick="y">', findings)
    html = '<p style="x" lang="de" onclick="y">'
    assert findings.raw == [
        ("a", "b"),
        (html, "the attribute 'style' of <p> is not allowed in an article"),
        (html, "the attribute 'onclick' of <p> is not allowed in an article"),
    ]


def test_html_that_is_allowed_is_noted_nowhere():
    html, raw = converted('<div class="a">\n<b>x</b>\n</div>\n\nA <kbd title="k">K</kbd>.')
    assert html == '<div class="a">\n<b>x</b>\n</div>\n\n<p>A <kbd title="k">K</kbd>.</p>'
    assert raw == []


def test_blocks_are_noted_one_by_one():
    html, raw = converted("<form>\n</form>\n\nText.\n\n<script>\n1\n</script>")
    assert html == "<form>\n</form>\n\n<p>Text.</p>\n<script>\n1\n</script>"
    assert raw == [("<form>\n</form>\n", tag("form")), ("<script>\n1\n</script>\n", tag("script"))]


def test_a_tag_in_a_sentence_is_noted():
    html, raw = converted("Press <blink>this</blink> now.")
    assert html == "<p>Press <blink>this</blink> now.</p>"
    assert raw == [("<blink>", tag("blink"))]


@pytest.mark.parametrize("text", ["`<blink>`", "    <blink>", "1 < 2"])
def test_what_markdown_takes_for_text_is_text(text):
    assert converted(text)[1] == []


def test_what_was_put_aside_before_is_not_looked_at():
    findings = RenderState()
    made = Markdown(extensions=[RawHtmlExtension(findings)])
    made.htmlStash.store("<form>")
    made.preprocessors["html_block"].run(["<script>", "</script>"])
    assert findings.raw == [("<script>\n</script>", tag("script"))]


def test_both_stand_where_markdown_has_its_own():
    plain, ours = Markdown(), Markdown(extensions=[RawHtmlExtension(RenderState())])
    for name in ("preprocessors", "inlinePatterns"):
        before, after = (
            [(one.name, one.priority) for one in getattr(made, name)._priority]
            for made in (plain, ours)
        )
        assert sorted(after) == sorted(before)
