import gzip
import json

from builder.runtime.archive_format import compress, pack


def test_files_bundled_as_one_can_be_told_apart():
    data = pack({"a/b.pyc": b"12", "a.pyc": b"345"})
    end = 4 + int.from_bytes(data[:4], "little")
    assert json.loads(data[4:end]) == [["a.pyc", 3], ["a/b.pyc", 2]]
    assert data[end:] == b"34512"


def test_what_is_compressed_is_the_same_by_every_python():
    data = b"words " * 1000
    made = compress(data)
    assert gzip.decompress(made) == data
    assert made[:10] == bytes.fromhex("1f8b08000000000002ff")  # no date, no system
