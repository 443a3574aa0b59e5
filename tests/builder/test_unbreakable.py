"""Whatever happens to a build, the old site stays whole, the next build heals, a sentence tells."""

import cProfile
import os
import pickle
import pstats
import resource
import shutil
import subprocess
import sys
import time

import pytest

from builder import pipeline
from builder.cli import commands
from builder.core import build_cache
from builder.outputs import output_folder
from builder.pipeline import BuildResult
from tests.builder.cli.test_commands import begun
from tests.builder.conftest import ROOT

OLD = {".nojekyll": b"", "index.html": b"old", "a/index.html": b"old", "same.js": b"same"}
NEW = {".nojekyll": b"", "index.html": b"new", "b/index.html": b"new", "same.js": b"same"}
# A process that writes the new site and is killed before the call of the given number.
KILLED = """
import os, pickle, shutil, signal, sys
from pathlib import Path
from builder.outputs import output_folder

left = int(sys.argv[2])
def counted(call):
    def run(*given, **named):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return call(*given, **named)
    return run

if sys.argv[3] == "plainly":
    output_folder._exchange = lambda one, other: False
for name in ("mkdir", "write_bytes", "rename"):
    setattr(Path, name, counted(getattr(Path, name)))
os.link, shutil.rmtree = counted(os.link), counted(shutil.rmtree)
output_folder._exchange = counted(output_folder._exchange)
output_folder.replace_output(Path(sys.argv[1]), pickle.loads(sys.stdin.buffer.read()))
"""


def held(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def child(code, *words, given=b"", **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.run(
        command, input=given, env=environment, capture_output=True, check=False, **options
    )


@pytest.mark.parametrize("how", ["at once", "plainly"])
def test_a_build_killed_at_any_step_leaves_a_whole_site_or_the_next_one_does(tmp_path, how):
    target = tmp_path / "site"
    seen = []
    for step in range(40):
        output_folder.replace_output(target, OLD)
        ended = child(KILLED, target, step, how, given=pickle.dumps(NEW))
        seen.append(held(target) if target.exists() else None)
        output_folder.replace_output(target, NEW)
        assert held(target) == NEW
        assert [path.name for path in tmp_path.iterdir()] == ["site"]
        if ended.returncode == 0:
            break
    assert ended.returncode == 0, ended.stderr
    assert len(seen) > 6
    whole = (OLD, NEW) if how == "at once" else (OLD, NEW, None)
    assert all(one in whole for one in seen)
    assert OLD in seen


def test_two_builds_at_once_leave_one_of_both_whole(tmp_path):
    code = (
        "import pickle, sys\nfrom pathlib import Path\nfrom builder.outputs import output_folder\n"
        "given = pickle.loads(sys.stdin.buffer.read())\n"
        "for _ in range(30): output_folder.replace_output(Path(sys.argv[1]), given)"
    )
    sites = [{**OLD, f"{n}.html": str(n).encode() * 1000} for n in (1, 2)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "site")],
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in sites
    ]
    for one, site in zip(running, sites, strict=True):
        one.stdin.write(pickle.dumps(site))
        one.stdin.close()
    assert [one.wait() for one in running] == [0, 0]
    assert held(tmp_path / "site") in sites


def test_a_full_disk_leaves_the_old_site(tmp_path):
    output_folder.replace_output(tmp_path / "site", OLD)
    code = (
        "import sys\nfrom builder.cli import build_command, commands\n"
        "from builder.pipeline import BuildResult\n"
        "output = {'.nojekyll': b'', 'a': b'x' * 100_000}\n"
        "result = BuildResult(output=output, problems=())\n"
        "build_command.build_with_cache = lambda *_: result\n"
        "sys.exit(commands.main(['--project', sys.argv[1], 'build']))"
    )
    begun(tmp_path)

    def little():  # a file of more than this is refused, as it is on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = child(code, tmp_path, preexec_fn=little)
    assert done.returncode == 1
    assert done.stdout.decode().count("\n") == 1
    assert b"nothing was written" in done.stdout
    assert held(tmp_path / "site") == OLD


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "content/a.md"), "content/a.md: Permission"),
        (OSError(30, "Read-only file system", "site"), "site: Read-only file system; nothing was"),
    ],
)
def test_what_cannot_be_read_or_written_is_one_sentence(tmp_path, monkeypatch, capsys, error, said):
    begun(tmp_path)
    output_folder.replace_output(tmp_path / "site", OLD)

    def fail(*_):
        raise error

    monkeypatch.setattr("builder.cli.build_command.build_with_cache", fail)
    assert commands.main(["--project", str(tmp_path), "build"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(said)
    assert held(tmp_path / "site") == OLD


def test_a_note_that_cannot_be_kept_costs_only_time(tmp_path, monkeypatch):
    begun(tmp_path)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "built").write_text("a file, where a folder should be")
    monkeypatch.setattr(
        "builder.cli.build_command.build_with_cache",
        lambda *_: BuildResult(output=NEW, problems=()),
    )
    assert commands.main(["--project", str(tmp_path), "build"]) == 0
    assert held(tmp_path / "site") == NEW


@pytest.mark.parametrize("damage", [b"", b"\x00\xff" * 40, b"{}", "half", "folder"])
def test_any_damaged_file_of_the_cache_heals(live, damage):
    def built():
        memory = build_cache.load(build_cache.cache_file(live.folders))
        found = live.build_with(memory)
        memory.save(build_cache.cache_file(live.folders))
        return found

    before = built().output
    kept = [path for path in live.folders.cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in kept} >= {".pickle"}
    for path in kept:
        data = path.read_bytes()
        path.unlink()
        if damage == "folder":
            continue
        path.write_bytes(data[: len(data) // 2] if damage == "half" else damage)
        pipeline.load_templates.cache_clear()
        assert built().output == before, path
    if damage == "folder":
        shutil.rmtree(live.folders.cache)
        pipeline.load_templates.cache_clear()
        assert built().output == before


@pytest.mark.parametrize(
    ("name", "target", "said"),
    [
        ("content/guides/out.md", "/etc/hostname", "is a link that leads out of the project"),
        ("content/out.png", "../../secret.png", "is a link that leads out of the project"),
        ("content/out", "/etc", "is a link that leads out of the project"),
        ("content/more", "guides", "is a link to a folder, which is not followed"),
    ],
)
def test_a_link_out_of_the_tree_is_refused(live, name, target, said):
    (live.root / name).symlink_to(target)
    assert f"{name}:1: {said}" in "\n".join(live.problems())


def test_an_article_of_ten_megabytes_is_refused_at_once(live):
    second = live.root / "content/guides/second.md"
    second.write_text(second.read_text() + "\nMany words. " * 800_000)
    began = time.perf_counter()
    (problem,) = live.problems()
    assert problem.startswith("content/guides/second.md:1: has 10,4")
    assert problem.endswith("an article has at most 2,000,000")
    assert time.perf_counter() - began < 10


def test_many_articles_take_calls_in_proportion(plain):
    guide = next((plain.root / "content/guides").glob("*.md"))
    text = guide.read_text("utf-8")
    calls = {}
    for count in (100, 400):
        for number in range(count):
            copy = text.replace("order = ", f"order = {number + 10}")
            copy = copy.replace('title = "', f'title = "{number}. ')
            (guide.parent / f"copy-{number}.md").write_text(copy, "utf-8")
        plain.memo = build_cache.BuildCache()
        with cProfile.Profile() as profile:  # counts, for a clock also tells what else runs
            assert plain.build().problems == ()
        calls[count] = pstats.Stats(profile).total_calls
    assert calls[400] < 4.5 * calls[100]
