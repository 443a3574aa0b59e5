import struct

from builder.pages.page_context import add_image_sizes, image_size

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"/>'


def test_the_size_of_a_png_is_in_its_head():
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 30, 40)
    assert image_size(head) == (30, 40)


def test_the_size_of_an_svg_is_its_view_box():
    assert image_size(SVG) == (20, 10)


def test_what_cannot_be_read_has_no_size():
    assert image_size(b"GIF89a") is None


def test_an_image_gets_the_size_of_its_file():
    html = add_image_sizes('<p><img alt="a" src="x.svg" /></p>', {"x.svg": SVG})
    assert '<img width="20" height="10"' in html


def test_a_size_that_the_author_gave_stays():
    given = '<img alt="a" width="5" src="x.svg" />'
    assert add_image_sizes(given, {"x.svg": SVG}) == given
