"""Folder in, folder out: what a reader finds on the pages of two tiny sites."""

import json
import re
import threading
from dataclasses import replace

import pytest

from builder import pipeline
from builder.core import build_cache
from builder.pages import all_pages
from builder.runtime.bundle import Runtime
from tests.builder.conftest import SERVICES, silent

FIRST = "guides/first/index.html"
RECEIPTS = "guides/first/receipts/index.html"


def test_a_whole_calculator_is_placed_with_its_default_results(finished):
    page = finished.page(FIRST)
    assert re.search(r'<section class="calculator" id="speed".*2\.00 ms', page, re.DOTALL)


def test_a_value_in_a_sentence_is_a_live_number(finished):
    page = finished.page(FIRST)
    assert re.search(r'It takes <a [^>]*"receipts/#receipt-speed-time">2\.00 ms</a>', page)


def test_an_input_in_a_sentence_can_be_dragged(finished):
    assert re.search(r'<input class="drag" name="size" data-of="speed"', finished.page(FIRST))


def test_a_fixed_value_is_computed_for_its_own_inputs(finished):
    assert re.search(r'href="receipts/#receipt-fixed">4\.00 ms</a>', finished.page(FIRST))
    assert 'id="receipt-fixed"' in finished.page(RECEIPTS)


def test_a_size_can_be_shown_in_the_other_unit_system(finished):
    assert re.search(r'data-also="total">95\.4 MiB</span>', finished.page(FIRST))


def test_a_repeated_field_gets_an_id_of_its_own(finished):
    assert 'id="speed-size-2"' in finished.page(FIRST)


def test_code_keeps_its_brackets(finished):
    assert "<code>[[speed.time]]</code>" in finished.page(FIRST)


def test_every_live_value_has_one_receipt(finished):
    assert finished.page(RECEIPTS).count('id="receipt-speed-time"') == 1


def test_a_receipt_leads_back_to_the_sources_of_its_page(finished):
    assert 'href="../#ref-hockney1994"' in finished.page(RECEIPTS)
    assert 'id="ref-hockney1994"' in finished.page(FIRST)


def test_receipts_cite_by_author_and_year(finished):
    page = finished.page(RECEIPTS)
    assert re.search(r'<a data-cite="hockney1994"[^>]*>Hockney 1994</a></p>', page)


def test_the_equation_of_a_receipt_is_filled_with_its_numbers(finished):
    assert '<mn data-slot="S">100 MB</mn>' in finished.page(RECEIPTS)


def test_an_equation_that_a_receipt_shows_has_no_template(finished):
    page = finished.page(RECEIPTS)
    assert '<div data-equation="move_time"' in page
    assert 'data-equation-template="move_time"' not in page


def test_formulas_in_the_text_are_typeset(finished):
    assert "<math>a+b</math>" in finished.page(FIRST)


def test_displayed_formulas_are_typeset(finished):
    assert r'<div class="formula"><math>T = \frac{S}{B}</math></div>' in finished.page(FIRST)


def test_the_references_hold_only_what_is_cited(finished):
    assert "Not cited" not in finished.page(FIRST)


def test_a_term_leads_to_its_definition(finished):
    page, receipts = finished.page(FIRST), finished.page(RECEIPTS)
    assert re.search(r'<a class="term" href="[^"]*#term-bus-bandwidth">link</a>', page)
    assert receipts.count('id="term-bus-bandwidth"') == 1


def test_a_definition_leads_to_the_guide_about_it(finished):
    page = finished.page(RECEIPTS)
    assert re.search(r'id="term-bus-bandwidth">.*?href="../../../guides/second/"', page, re.DOTALL)


def test_an_empty_link_says_the_title_of_the_heading_it_leads_to(finished):
    assert '<a href="../../guides/second/#the-end">The end</a>' in finished.page(FIRST)


def test_a_link_to_a_figure_says_its_number(finished):
    assert '<a href="#dot">Figure 1</a>' in finished.page(FIRST)


def test_an_illustration_has_a_numbered_caption(finished):
    assert '<span class="figure-number">Figure 1.</span>' in finished.page(FIRST)


def test_an_image_is_an_asset_with_a_hash(finished):
    assert re.search(r'src="../../assets/dot-[0-9a-f]{16}\.svg"', finished.page(FIRST))


def test_a_predicted_answer_is_folded_away(finished):
    page = finished.page(FIRST)
    assert re.search(r'<details data-answer="">.*It takes <a class="number', page, re.DOTALL)


def test_every_stop_of_a_prediction_has_its_verdict(finished):
    page = finished.page(RECEIPTS)
    told = json.loads(re.search(r'data-stops="predict">(.*?)</script>', page)[1])
    assert told["said"] == ["You said ", "; it is 2.00 ms"]
    less = told["forms"].index([": your guess was ", " times as long."])
    assert ["1 s", less, "500"] in told["stops"]


def test_an_admonition_is_a_note(finished):
    assert 'class="admonition note"' in finished.page("guides/second/index.html")


def test_a_footnote_leads_back(finished):
    assert 'href="#fnref:1"' in finished.page("guides/second/index.html")


def test_guides_follow_each_other_in_order(finished):
    assert '<a rel="next" href="../../guides/second/">Second</a>' in finished.page(FIRST)


def test_the_figures_of_a_page_lie_in_one_file(finished):
    built = finished.build()
    address = re.search(r'data-figures="../../([^"]+)"', built.output[FIRST].decode())[1]
    assert b'"speed.curve"' in built.output[address]


def test_styles_are_joined_in_the_order_of_their_names(finished):
    built = finished.build()
    sheet = next(text for name, text in built.output.items() if name.endswith(".css"))
    assert sheet.index(b"font-face") < sheet.index(b"body")


def test_fonts_are_named_with_their_hash_in_the_styles(finished):
    built = finished.build()
    sheet = next(text for name, text in built.output.items() if name.endswith(".css"))
    assert re.search(rb"url\(tiny-[0-9a-f]{16}\.woff2\)", sheet)


def test_a_page_without_a_calculator_names_no_runtime(finished):
    assert "data-runtime" not in finished.page("guides/second/index.html")


def test_a_site_without_calculators_carries_no_runtime(plain):
    assert not any("runtime" in name for name in plain.build().output)


def test_a_site_without_a_home_page_gets_one_that_lists_the_guides(plain):
    assert '<a href="./guides/only/">Only</a>' in plain.page("index.html")


def test_the_sitemap_needs_the_address_of_the_site(finished):
    assert "sitemap.xml" not in finished.build().output


def test_the_sitemap_names_every_page(finished):
    built = finished.build(base_url="https://example.org/w/")
    assert b"<loc>https://example.org/w/guides/second/</loc>" in built.output["sitemap.xml"]


def test_the_missing_page_needs_no_other_file(finished):
    assert b"url(" not in finished.build().output["404.html"]


def test_the_missing_page_leads_to_the_sub_path_of_the_site(finished):
    built = finished.build(base_url="https://example.org/w/")
    assert b'href="/w/"' in built.output["404.html"]


def test_a_draft_is_left_out(live):
    live.edit("content/guides/second.md", "minutes = 3", "minutes = 3\ndraft = true")
    live.edit("content/guides/first.md", 'next = ["second", "later"]', 'next = ["later"]')
    live.edit("content/guides/first.md", "[](second.md#the-end), ", "")
    live.edit("content/glossary.toml", 'see = "second"', "")
    assert "guides/second/index.html" not in live.build().output


def test_an_image_keeps_its_place_before_it_is_loaded(finished):
    assert re.search(r'<img [^>]*dot-[^>]*width="2" height="2"', finished.page(FIRST))


def with_archive(site, name):
    """The services of a site whose runtime has a file for each of these calculators."""
    runtime = Runtime(
        files={"runtime-1.json": b"{}", f"{name}-1.bin": b"1", "speed-1.bin": b"1"},
        manifest="runtime-1.json",
        calculators={"speed": "speed-1.bin", name: f"{name}-1.bin"},
    )
    services = replace(SERVICES, runtime=lambda _: runtime)
    return pipeline.build(
        site.folders, pipeline.Options(), services, build_cache.BuildCache(), silent
    ).output


def test_a_page_names_the_files_of_its_own_calculators(live):
    page = with_archive(live, "other")["guides/first/index.html"].decode()
    archives = re.search(r"data-archives='([^']*)'", page)[1]
    assert json.loads(archives) == {"speed": ["../../assets/runtime/speed-1.bin"]}


def test_a_calculator_that_a_page_does_not_use_changes_no_byte_of_it(live):
    name = "guides/first/index.html"
    assert with_archive(live, "one")[name] == with_archive(live, "another")[name]


def made(site, mark, *, quick):
    """What a build gives whose runtime bears a mark, with what earlier builds of it left."""
    runtime = Runtime(files={f"{mark}.json": b"{}"}, manifest=f"{mark}.json", calculators={})
    services = replace(SERVICES, runtime=lambda _: runtime, quick=quick)
    site.memo = site.memo.for_next_build()
    options = pipeline.Options(reload="/_reload.js" if quick else "")
    return pipeline.build(site.folders, options, services, site.memo, silent).output


def test_a_runtime_made_quickly_for_an_author_is_made_anew_for_readers(live):
    assert "assets/runtime/hasty.json" in made(live, "hasty", quick=True)
    assert "assets/runtime/hasty.json" in made(live, "other", quick=True)
    output = made(live, "whole", quick=False)
    assert "assets/runtime/whole.json" in output
    assert "assets/runtime/hasty.json" not in output


def test_an_author_gets_the_runtime_of_readers_where_there_is_one(live):
    made(live, "whole", quick=False)
    assert "assets/runtime/whole.json" in made(live, "hasty", quick=True)


def test_pages_that_were_prepared_are_those_that_would_have_been_made(live):
    names = {"guides/first/index.html", "guides/second/index.html", "index.html"}
    late, soon = threading.Event(), {}

    def runtime(begun):
        begun()
        late.wait(5)
        return SERVICES.runtime(begun)

    prepare = all_pages.prepare_drafts

    def prepared(*given):
        prepare(*given)
        soon.update(done=True)
        late.set()

    plain = pipeline.build(
        live.folders, pipeline.Options(), SERVICES, build_cache.BuildCache(), silent
    ).output
    services = replace(SERVICES, runtime=runtime)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_pages, "prepare_drafts", prepared)
        built = pipeline.build(
            live.folders, pipeline.Options(), services, build_cache.BuildCache(), silent
        )
    assert soon
    assert names <= built.output.keys()
    assert built.output == plain


CAPTION = "<figcaption><strong>{{ view.title }}</strong>"


def test_a_template_of_a_project_may_caption_its_figures_as_it_likes(live):
    live.edit("theme/templates/calculator.html", CAPTION, "<figcaption>")
    assert live.problems() == []


def test_deferred_content_without_a_title_is_named_with_its_line(live):
    path = "theme/templates/calculator.html"
    live.edit(path, '<deferred-content title="{{ view.title }}">', "<deferred-content>")
    text = (live.root / path).read_text("utf-8")
    line = next(n for n, row in enumerate(text.splitlines(), start=1) if "<deferred-content" in row)
    (problem,) = live.problems()
    assert problem.startswith(f"{path}:{line}: <deferred-content> has no title")
