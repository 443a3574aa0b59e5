"""Every flag of a trainer that a guide, an exporter or a command of ours prints is read."""

import re
from collections.abc import Iterator
from pathlib import Path

from engine.form.imported.export_formats import EXPORTS
from engine.form.imported.samples import SAMPLES
from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import RunDraft, Setting
from engine.run.importers.launch import is_launch_flag
from engine.run.importers.megatron import import_megatron
from engine.run.importers.torchtitan import import_torchtitan
from engine.run.importers.training_arguments import import_training_arguments
from tests.each import each

CONTENT = Path(__file__).parents[4] / "content"
SPAN = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
FLAG = re.compile(r"(?<![\w-])(--[a-z][\w.-]*[a-z0-9])(?:[ =]([\w.:-]+))?")
# Pages of our own commands, whose flags are tested with them.
OWN = ("library.md", "notebook.md")
# Of other programs: of this generator, of CUDA's and the network's tools, of servers, of RL.
OTHERS = {
    "--accent", "--base-url", "--format", "--json", "--links", "--offline", "--online", "--out",
    "--pause", "--query-gpu", "--report_gbits", "--repository", "--sample", "--scheduler", "--set",
    "--switches", "--use_cuda", "--tensor-parallel-size", "--pipeline-parallel-size",
    "--colocate_all_models", "--ds.enable_sleep", "--train.colocate_all", "--vllm.enable_sleep",
    "--vllm.gpu_memory_utilization", "--vllm.sync_backend", "--leave-out", "--word", "--pid",
    "--get_phy_info", "--prefix", "--outdir", "--decoder-seq-length", "--cap-add", "--help",
    "--allow-incomplete-ranks",
}  # fmt: skip
READERS = (import_megatron, import_torchtitan, import_training_arguments)


def flags_of_guides() -> Iterator[tuple[str, str, str]]:
    """Yield flag, value and guide of every code span."""
    for path in sorted(CONTENT.rglob("*.md")):
        if path.name in OWN:
            continue
        for span in SPAN.findall(path.read_text("utf-8")):
            for flag, value in FLAG.findall(span):
                yield flag, value, path.name


FLAGS = {
    flag: (value, name)
    for flag, value, name in sorted(flags_of_guides(), key=lambda one: one[1])
    if flag not in OTHERS and not is_launch_flag(flag)
}


def outcomes(flag: str, value: str) -> set[str]:
    """Return what every reader makes of a flag, with its value, as a switch, as a number."""
    found = set()
    for read in READERS:
        for said in (value or True, True, "2"):
            draft = RunDraft()
            read([Setting(key=flag, value=said, line=1)], draft)
            found |= {entry.kind for entry in draft.entries}
    return found


def test_guides_print_flags():
    assert len(FLAGS) > 50


@each("flag", sorted(FLAGS), ids=str)
def test_a_flag_of_a_guide_is_known(flag):
    value, _ = FLAGS[flag]
    assert outcomes(flag, value) - {"not known"}


@each(
    "flags, kinds",
    [
        ("--overlap-moe-expert-parallel-comm", {"understood"}),
        ("--delay-wgrad-compute", {"understood"}),
        ("--moe-token-dispatcher-type flex", {"understood"}),
        ("--moe-flex-dispatcher-backend deepep", {"understood"}),
        ("--moe-flex-dispatcher-backend hybridep", {"understood"}),
        ("--recompute-modules layernorm mlp", {"understood"}),
        ("--cuda-graph-scope full_iteration", {"understood"}),
        ("--cuda-graph-scope attn", {"not modeled"}),
    ],
)
def test_what_guides_recommend_is_understood(flags, kinds):
    name, *values = flags.split()
    said = values[0] if len(values) == 1 else values or True
    draft = RunDraft()
    import_megatron([Setting(key=name, value=said, line=1)], draft)
    assert {entry.kind for entry in draft.entries} == kinds


@each("name", [name for name in SAMPLES if name != "config"], ids=str)
@each("kind", [kind for kind in EXPORTS if kind != "fsdp2"], ids=str)  # that is code
def test_no_key_of_an_export_is_unknown(name, kind):
    run = import_run(SAMPLES[name].text).run
    text = EXPORTS[kind].write(run)
    shape = SAMPLES["config"].text if kind in ("deepspeed", "accelerate") else ""
    found = import_run(f"{shape}\n---\n{text}" if shape else text)
    assert [entry.key for entry in found.entries if entry.kind in ("not known", "not read")] == []
