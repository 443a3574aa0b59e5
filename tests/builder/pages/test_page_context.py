import struct

from builder.pages.page_context import image_size

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"/>'


def test_the_size_of_a_png_is_in_its_head():
    head = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 30, 40)
    assert image_size(head) == (30, 40)


def test_the_size_of_an_svg_is_its_view_box():
    assert image_size(SVG) == (20, 10)


def test_what_cannot_be_read_has_no_size():
    assert image_size(b"GIF89a") is None
