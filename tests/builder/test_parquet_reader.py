"""The page's reader of Parquet files: what PyArrow writes comes back, and no file breaks it."""

import base64
import csv
import io
import random
from itertools import product
from pathlib import Path

import pyarrow
from pyarrow import parquet

from builder.core import node

HERE = Path(__file__).parent
READER = HERE.parent.parent / "theme" / "runtime" / "tables" / "parquet.js"
ROWS = [
    {
        "word": None if i % 7 == 0 else f'plan "{i % 5}", DP {i}\nZeRO-1',
        "same": "Llama 3 8B",
        "whole": i * 10**13,
        "short": i % 3,
        "real": i / 7 if i % 5 else None,
        "yes": i % 2 == 0,
        "none": None,
    }
    for i in range(1000)
]
TYPES = pyarrow.schema(
    [
        *(("word", pyarrow.string()), ("same", pyarrow.string()), ("whole", pyarrow.int64())),
        *(("short", pyarrow.int32()), ("real", pyarrow.float64()), ("yes", pyarrow.bool_())),
        ("none", pyarrow.null()),
    ]
)


def written(rows=ROWS, schema=TYPES, **options):
    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), out, **options)
    return out.getvalue()


def read(files):
    payload = {"reader": str(READER), "files": [base64.b64encode(file).decode() for file in files]}
    return node.run(HERE / "parquet_reader.mjs", payload)


def rows_of(text):
    return [
        {
            "word": row["word"] or None,
            "same": row["same"],
            "whole": int(row["whole"]),
            "short": int(row["short"]),
            "real": float(row["real"]) if row["real"] else None,
            "yes": row["yes"] == "True",
            "none": row["none"] or None,
        }
        for row in csv.DictReader(io.StringIO(text))
    ]


def test_every_way_of_writing_a_flat_table_is_read():
    ways = product(("snappy", "gzip", "none"), ("1.0", "2.0"), (True, False), (64, 5000))
    files = [
        written(
            compression=packed, data_page_version=version, use_dictionary=words, row_group_size=size
        )
        for packed, version, words, size in ways
    ]
    for text in read(files):
        assert rows_of(text) == ROWS


def test_a_table_without_rows_is_its_heading():
    assert read([written([])]) == ["word,same,whole,short,real,yes,none\n"]


def test_what_is_no_flat_table_of_a_known_kind_is_refused():
    nested = pyarrow.schema([("list", pyarrow.list_(pyarrow.int64()))])
    files = [
        written(compression="zstd"),
        written(column_encoding={"whole": "DELTA_BINARY_PACKED"}, use_dictionary=False),
        written([{"list": [1, 2]}], nested),
        b"PAR1",
        b"PAR1" + bytes(20),
        b"PAR1" + bytes([255]) * 40,
    ]
    assert read(files) == [{"error": "RangeError"}] * len(files)


def test_a_damaged_file_is_read_or_refused_and_nothing_else():
    chance = random.Random("damaged tables")
    sound = [written(ROWS[:50], compression=packed) for packed in ("snappy", "gzip", "none")]

    def damaged(file):
        found = bytearray(file)
        for _ in range(chance.choice((1, 1, 3, 20))):
            found[chance.randrange(4, len(found))] = chance.randrange(256)
        return bytes(found[: chance.choice((len(found), chance.randrange(8, len(found))))])

    for told in read([damaged(chance.choice(sound)) for _ in range(600)]):
        assert isinstance(told, str) or told == {"error": "RangeError"}
