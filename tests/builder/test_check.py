from builder.check import facts, wrong


def messages(html, others=frozenset(), path="a/index.html"):
    return [message for _, _, message in wrong({path: facts(html)}, others)]


def test_a_sound_page_has_no_problem():
    assert messages('<p id="x"><a href="#x">x</a><a href="https://e.org/">e</a></p>') == []


def test_a_link_to_a_folder_means_its_index():
    pages = {"index.html": facts('<a href="./b/">b</a>'), "b/index.html": facts("")}
    assert list(wrong(pages, frozenset())) == []


def test_a_missing_file_is_named():
    assert messages('<img alt="x" src="../x.png">') == [
        "link to '../x.png': there is no x.png in the output"
    ]


def test_a_file_of_the_output_is_found():
    assert messages('<img alt="x" src="../x.png">', frozenset({"x.png"})) == []


def test_a_label_needs_its_field():
    assert messages('<label for="x">x</label>') == [
        "'x' is referred to by its id, but there is none"
    ]


def test_an_image_in_html_needs_alt_text():
    found = messages('<img src="../x.png">', frozenset({"x.png"}))
    assert found == ["image '../x.png' has no alt text"]


def test_a_script_from_elsewhere_is_a_broken_link():
    assert messages('<script src="//cdn.example.org/x.js"></script>') != []
