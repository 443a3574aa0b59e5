"""The server for assistants, asked by the official client: over standard input, and in process."""

import asyncio
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp import Client, StdioServerParameters

from engine.__main__ import main
from engine.estimate import estimate
from engine.library.mcp_server import TOOLS, make_server, read_pages
from engine.run.file import read_run
from tests.each import each
from tests.engine.library.test_check import RUN, SCRIPT
from tests.layers import ROOT

PAGES = {"guides/overlap": "# Overlap\n\nText.", "reference/library": "# Wallclock in Python"}


def ask(server, *calls):
    """Return the tools of a server and the result of each call."""

    async def asked():
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    # In a thread of its own: a browser that other tests have opened runs a loop in this one.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, asked()).result()


def content(result):
    assert not result.is_error, result.content
    return result.structured_content or json.loads(result.content[0].text)


def test_the_command_answers_over_standard_input():
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "engine", "mcp"], cwd=str(ROOT)
    )
    tools, (result,) = ask(server, ("estimate", {"run": RUN}))
    assert [tool.name for tool in tools] == [tool.__name__ for tool in TOOLS]
    assert content(result)["step_time"] == estimate(read_run(RUN))["step_time"]


def test_every_tool_reads_only_and_explains_itself():
    tools, _ = ask(make_server(PAGES))
    assert len(tools) == len(TOOLS) + 2
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
        assert len(tool.description) > 30
        assert tool.input_schema["type"] == "object"


def test_plans_configurations_collectives_and_calculators_are_answered():
    job = {
        "model": "llama-3-8b",
        "cluster": RUN["cluster"],
        "world_size": 64,
        "sequence_length": 8192,
        "global_batch_size": 512,
    }
    _, results = ask(
        make_server({}),
        ("plan", {"request": job}),
        ("read_config", {"texts": {"train.sh": SCRIPT}}),
        ("collective", {"operation": "all_reduce", "size": 1e9, "gpus": 64}),
        ("calculate", {"calculator": "gradient_sync", "inputs": {"port": "400 Gb/s"}}),
        ("catalog", {"kind": "gpus"}),
        ("catalog", {"kind": "gpus", "name": "H100-SXM"}),
        ("catalog", {"kind": "calculators"}),
    )
    plans, config, collective, answer, gpus, gpu, calculators = map(content, results)
    assert plans["plans"][0]["fit"] == "fits"
    assert config["run"]["parallelism"]["tensor_parallel"] == 8
    assert collective["choices"][collective["choice"]] == collective["time"]
    assert answer["inputs"]["port"] == 5e10
    assert "H100-SXM" in gpus["names"]
    assert gpu["source"]
    assert "gradient_sync" in calculators


@each(
    ("tool", "arguments", "said"),
    [
        ("estimate", {"run": {**RUN, "sequence_length": 0}}, "sequence_length: 0; allowed: "),
        ("calculate", {"calculator": "gradient_sinc", "inputs": {}}, "did you mean 'gradient_sy"),
        ("catalog", {"kind": "gpus", "name": "H100-SXN"}, "such as 'H100-SXM'"),
        ("read_page", {"path": "../secret"}, "path: '../secret'; allowed: a path of list_pages"),
        ("read_page", {"path": "guides/overlab"}, "did you mean 'guides/overlap'?"),
    ],
)
def test_what_cannot_be_used_is_an_error_with_its_reason(tool, arguments, said):
    _, (result,) = ask(make_server(PAGES), (tool, arguments))
    assert result.is_error
    assert said in result.content[0].text


def test_the_pages_of_a_site_can_be_read(tmp_path):
    (tmp_path / "guides/overlap").mkdir(parents=True)
    (tmp_path / "guides/overlap/index.md").write_text("# Overlap\n\nHidden time.\n")
    pages = read_pages(tmp_path)
    _, (listed, read) = ask(
        make_server(pages), ("list_pages", {}), ("read_page", {"path": "guides/overlap"})
    )
    assert content(listed) == {"guides/overlap": "Overlap"}
    assert "Hidden time." in content(read)["text"]


def test_a_folder_without_pages_is_refused(tmp_path, capsys):
    assert main(["mcp", "--site", str(tmp_path)]) == 2
    assert "allowed: the folder of a built site" in capsys.readouterr().err


def test_the_missing_package_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp"]) == 2
    assert "pip install 'wallclock-training[mcp]'" in capsys.readouterr().err


@pytest.mark.parametrize("places", [True, False])
def test_llms_txt_names_the_server_where_there_is_a_library(places):
    from types import SimpleNamespace

    from builder.outputs.feeds import llms_txt

    article = SimpleNamespace(
        path="", order=0, slug="x", kind="page", title="T", url="x/", question="Q?", summary="",
        body="[[library.*]]\n" if places else "",
    )  # fmt: skip
    assert ("wallclock mcp" in llms_txt([article], "Wallclock", "")) is places
