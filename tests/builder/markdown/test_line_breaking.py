"""Where lines of prose may end."""

from builder.markdown.line_breaking import prevent_breaks

NUMBER = '<a class="number" href="receipts/#receipt-c-t">3 s</a>'


def test_a_full_stop_stays_with_its_number() -> None:
    assert prevent_breaks(f"<p>It takes {NUMBER}.</p>") == (
        f'<p>It takes <span class="kept">{NUMBER}.</span></p>'
    )


def test_a_sign_stays_with_its_input_and_its_term() -> None:
    field = '<span class="inline-field"><input value="3"></span>'
    term = '<button class="term" popovertarget="term-flop" type="button">FLOP</button>'
    assert prevent_breaks(f"<p>{field} of {field}, ({term}).</p>") == (
        f'<p>{field} of <span class="kept">{field},</span> <span class="kept">({term}).</span></p>'
    )


def test_a_parenthesis_stays_with_what_it_opens() -> None:
    assert prevent_breaks(f"<p>So ({NUMBER} of it)</p>") == (
        f'<p>So <span class="kept">({NUMBER}</span> of it)</p>'
    )


def test_a_number_before_a_word_is_left_alone() -> None:
    assert prevent_breaks(f"<p>{NUMBER} of it</p>") == f"<p>{NUMBER} of it</p>"


def test_the_hyphens_of_a_flag_stay_with_its_first_word() -> None:
    assert prevent_breaks("<code>--overlap-param-gather</code>") == (
        '<code><span class="kept">--overlap</span>-param-gather</code>'
    )


def test_long_code_may_break_after_dots_and_underscores() -> None:
    assert prevent_breaks("<code>torch.distributed.all_gather</code>") == (
        "<code>torch.<wbr>distributed.<wbr>all_<wbr>gather</code>"
    )
    assert prevent_breaks("<code>docs/user-guide/overlap.md</code>") == (
        "<code>docs/<wbr>user-guide/<wbr>overlap.<wbr>md</code>"
    )
    assert "momentum=0.95" in prevent_breaks("<code>torch.optim.Muon(momentum=0.95)</code>")


def test_a_unit_stays_with_its_number() -> None:
    assert prevent_breaks("<p>8 % of 400 Gb/s in 3 steps</p><code>8 %</code>") == (
        '<p>8\u00a0% of <span class="kept">400\u00a0Gb/s</span> in 3 steps</p><code>8 %</code>'
    )
    script = '<script type="application/json">["3 s"]</script>'
    assert prevent_breaks(script) == script
    assert prevent_breaks('<a title="8 %">from 3 s</a>') == '<a title="8 %">from 3\u00a0s</a>'


def test_units_of_several_words_stay_with_their_number() -> None:
    assert prevent_breaks("<p>12 GPU h</p>") == "<p>12\N{NO-BREAK SPACE}GPU\N{NO-BREAK SPACE}h</p>"
    rate = '<span class="kept">300\N{NO-BREAK SPACE}tokens/s/GPU</span>'
    assert prevent_breaks("<p>300 tokens/s/GPU</p>") == f"<p>{rate}</p>"


def test_a_sign_stays_with_what_follows() -> None:
    assert (
        prevent_breaks("<p>so x = 8 × 2 → 16</p>") == "<p>so x\u00a0=\u00a08 ×\u00a02 →\u00a016</p>"
    )
    assert prevent_breaks(f"<p>a ≈ {NUMBER}</p>") == f"<p>a\u00a0≈\u00a0{NUMBER}</p>"


def test_a_short_equation_stays_whole() -> None:
    assert prevent_breaks("<p>with e = 2 or T = e = 8, long = 3</p>") == (
        "<p>with e\u00a0=\u00a02 or T\u00a0=\u00a0e =\u00a08, long =\u00a03</p>"
    )


def test_a_name_with_a_sign_and_a_date_stay_whole() -> None:
    assert prevent_breaks("<p>ZeRO++, ZeRO-2 of 2026-11-21, but all-to-all</p>") == (
        '<p><span class="kept">ZeRO++</span>, <span class="kept">ZeRO-2</span> of '
        '<span class="kept">2026-11-21</span>, but all-to-all</p>'
    )
    field = '<textarea rows="2">ZeRO++ takes 8 %</textarea>'
    assert prevent_breaks(field) == field


def test_a_difference_stays_on_one_line() -> None:
    assert (
        prevent_breaks("<p>2(<em>n</em> − 1) steps</p>")
        == "<p>2(<em>n</em>\u00a0−\u00a01) steps</p>"
    )


def test_what_an_answer_replaces_is_left_as_the_engine_made_it() -> None:
    told = "<div data-fragment><div>8 %</div><p>3 s</p></div>"
    assert prevent_breaks(f"<p>9 %</p>{told}<div>4 s</div>") == (
        f"<p>9\u00a0%</p>{told}<div>4\u00a0s</div>"
    )


def test_the_words_of_a_drawing_are_left_alone() -> None:
    drawing = "<svg><svg><text>8 %</text></svg><text>ZeRO-2 in 3 s</text></svg>"
    assert prevent_breaks(f"{drawing}<p>9 %</p>") == f"{drawing}<p>9\u00a0%</p>"


def test_short_code_has_no_places_to_break() -> None:
    assert prevent_breaks("<code>all_gather</code>") == "<code>all_gather</code>"


def test_a_listing_keeps_its_lines() -> None:
    listing = (
        "<pre><span></span><code># Collective test starting: all_reduce_perf 3169.2</code></pre>"
    )
    assert prevent_breaks(listing) == listing


def test_code_of_24_letters_stays_whole_and_one_of_25_may_break() -> None:
    whole = f"<code>a.{'b' * 22}</code>"
    assert prevent_breaks(whole) == whole
    assert prevent_breaks(f"<code>a.{'b' * 23}</code>") == f"<code>a.<wbr>{'b' * 23}</code>"
