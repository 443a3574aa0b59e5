import gzip
import json

import pytest

from engine.__main__ import main
from engine.simulate.profile_analysis.sample import sample_files


@pytest.fixture
def files(tmp_path):
    paths = []
    for rank, text in enumerate(sample_files()):
        path = tmp_path / f"rank{rank}.json.gz"
        path.write_bytes(gzip.compress(text.encode()))
        paths.append(str(path))
    return paths


def printed(capsys):
    return json.loads(capsys.readouterr().out)["outputs"]


def test_files_give_the_numbers_of_the_sample(files, capsys):
    assert main(["trace", *files, "--json"]) == 0
    found = printed(capsys)
    assert main(["trace_check", "--json"]) == 0
    sample = printed(capsys)
    for name in ("step_time", "compute", "exposed", "hidden", "idle", "waited", "bus"):
        assert found[name] == sample[name]


def test_inputs_may_follow(files, capsys):
    assert main(["trace", files[1], "compare=off", "--json"]) == 0
    assert printed(capsys)["predicted"]["value"] is None


def test_what_is_no_trace_is_told(tmp_path, capsys):
    path = tmp_path / "cut.json.gz"
    path.write_bytes(gzip.compress(b"[" + b"1," * 9999)[:-20])
    assert main(["trace", str(path)]) == 2
    assert "gzip data is damaged or cut" in capsys.readouterr().err
    assert main(["trace", str(tmp_path / "none.json")]) == 2
    assert main(["trace"]) == 2


def test_a_sample_is_kineto_json(capsys):
    assert main(["trace", "--sample"]) == 0
    assert json.loads(capsys.readouterr().out)["distributedInfo"]["world_size"] == 8
