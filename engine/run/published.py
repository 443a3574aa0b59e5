"""Published runs converted to run files, as a user would write them.

What a table leaves out is taken from the source's documentation (`published_settings`); nothing
depends on the measured time. Rows that a run file cannot express are skipped, with the reason.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.catalog.models import MODELS
from engine.catalog.power_limited import LIMITED_GPU, LIMITED_KEYS
from engine.catalog.published_runs import SOURCES, TABLE, Row
from engine.core.units import GB, Bytes, GiB, Seconds
from engine.run.document import read_document
from engine.run.model_keys import model_keys
from engine.run.published_settings import SETTINGS
from engine.run.run import Run

# GPU of the table -> (catalogue name, GPUs per node, ports per node, port speed).
_CLUSTERS: Mapping[str, tuple[str, int, int, float]] = {
    "DGX-GB300": ("GB300", 64, 64, 100e9),
    "DGX-GB200": ("GB200", 64, 64, 50e9),
    "DGX-B300": ("B300", 8, 8, 100e9),
    "DGX-B200": ("B200", 8, 8, 50e9),
    "B200-SXM": ("B200", 8, 8, 50e9),
    "DGX-H100": ("H100-SXM", 8, 8, 50e9),
    "H100": ("H100-SXM", 8, 8, 50e9),
    "h100_80gb": ("H100-SXM", 8, 8, 50e9),
    "a100_40gb": ("A100-SXM-40GB", 8, 8, 25e9),
    "A": ("A100-SXM-80GB", 8, 8, 25e9),
    "a": ("A100-SXM-80GB", 8, 8, 25e9),
}
# Ports of a node where they are not those of a DGX: (ports, speed).
_PORTS: Mapping[str, tuple[int, float]] = {
    "bloom176b_topology_sweep.csv": (4, 12.5e9),  # Jean Zay: four of Omni-Path 100
    "fms_fsdp_llama.csv": (2, 25e9),  # 400 Gb/s per node, from the table
    "zero_bubble_tables.csv": (4, 25e9),
    "internevo_7b_scaling.csv": (4, 25e9),
}

# Words in the flag of a row whose source doubts it; such rows are tested but not fitted.
_DOUBTS = (
    *("known slow", "suspect", "outlier", "swapped", "does not match", "differ"),
    "token-drop",  # copies beyond an expert's capacity are dropped, which no run file says
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRun:
    """One published run.

    Attributes:
        row: of the table.
        run: what the engine reads.
        document: of the run, for the terminal.
        time: measured, of a step.
    """

    row: Row
    run: Run
    document: Mapping[str, Any]
    time: Seconds

    @property
    def moe(self) -> bool:
        """The model has experts."""
        return self.run.model.num_experts > 0

    @property
    def complete(self) -> bool:
        """Nothing about the run had to be assumed."""
        return self.row["input_completeness"].startswith("A")

    @property
    def trusted(self) -> bool:
        """The source stands by the row, and the GPU is that of the catalog."""
        doubted = any(word in self.row["flag"] for word in _DOUBTS)
        return not doubted and self.run.cluster.gpu != LIMITED_GPU

    @property
    def held(self) -> Bytes | None:
        """The measured peak of memory, where one was published."""
        unit = GiB if "GiB" in self.row["memory_unit"] else GB
        return float(self.row["memory_value"]) * unit if self.row["memory_value"] else None


def read_published_runs(rows: Iterable[Row]) -> tuple[list[PublishedRun], dict[str, str]]:
    """Return the runs that a run file can express, and the skip reasons of the other rows.

    Raises:
        ValueError: a row cannot be read; the message has its line in the table, and what is missing
            where.
    """
    runs, skipped = [], {}
    for line, row in enumerate(rows, start=2):
        try:
            if reason := _skip_reason(row):
                skipped[row["row_id"]] = reason
            else:
                runs.append(_published_run(row))
        except (LookupError, ValueError) as error:
            message = " ".join(str(error).split())
            if isinstance(error, KeyError):
                message = f"{message} is missing where engine/run/published_settings.py looks it up"
            name = row["row_id"]
            raise ValueError(f"{TABLE}:{line}: row '{name}': {message}") from error
    return runs, skipped


def _published_run(row: Row) -> PublishedRun:
    document = _document(row)
    run = read_document(document)
    return PublishedRun(row=row, run=run, document=document, time=float(row["step_time_s"]))


def _skip_reason(row: Row) -> str:
    if not row["step_time_s"]:
        return "no step time"
    if _sequences(row)[1]:
        return "the batch does not divide over the ranks"
    return ""


def _int(text: str, default: int = 0) -> int:
    """Return the whole number of a column; the default of an empty one, or of words about it."""
    text = text.strip()
    if text and not text.isdigit() and " " not in text:
        raise ValueError(f"'{text}' is no whole number")
    return int(text) if text.isdigit() else default


def _sequences(row: Row) -> tuple[int, int]:
    ranks = _int(row["n_gpus"]) // (_int(row["tp"], 1) * _int(row["pp"], 1) * _int(row["cp"], 1))
    return divmod(_int(row["gbs"]), ranks * _int(row["mbs"], 1))


def _cluster(row: Row) -> dict[str, Any]:
    name = row["gpu"]
    prefix = max((key for key in _CLUSTERS if name.startswith(key)), key=len, default="")
    if not prefix:
        raise ValueError(
            f"gpu '{name}' begins with no name of _CLUSTERS in engine/run/published.py: "
            f"{', '.join(_CLUSTERS)}"
        )
    gpu, gpus, nics, bandwidth = _CLUSTERS[prefix]
    nics, bandwidth = _PORTS.get(row["source_file"], (nics, bandwidth))
    return {
        "gpu": LIMITED_KEYS if "HBM2e" in name else gpu,
        "gpus_per_node": gpus,
        "nics_per_node": nics,
        "nic_bandwidth": bandwidth,
    }


_MODELS: Mapping[str, str] = {
    "DeepSeek-V3": "deepseek-v3",
    "Qwen3-30B-A3B": "qwen3-30b-a3b",
    "Qwen3-235B-A22B": "qwen3-235b-a22b",
    "GPT-OSS-120B": "gpt-oss-120b",
}
# What Grok-1 adds to the columns of its row (github.com/xai-org/grok-1).
_GROK: Mapping[str, Any] = {
    "num_experts": 8,
    "experts_per_token": 2,
    "expert_ffn_hidden_size": 32768,
    "mlp": "swiglu",
    "tied_embeddings": False,
}


def _model(row: Row) -> str | dict[str, Any]:
    name = row["model"]
    if name in _MODELS:
        return _MODELS[name]
    if name.startswith("deepseekv2"):  # cut to some layers; its tokens may go to every node
        cut = {"num_layers": _int(row["n_layers"]), "nodes_per_token": 0}
        return model_keys(MODELS["deepseek-v2"]) | cut
    llama = "llama" in name.lower()
    heads = _int(row["heads"], 64)  # "64 or 96 (not stated per table)"
    model = {
        "num_layers": _int(row["n_layers"]),
        "hidden_size": _int(row["hidden"]),
        "num_attention_heads": heads,
        "num_key_value_heads": _int(row["kv_heads"], heads),
        "ffn_hidden_size": _int(row["ffn"], 4 * _int(row["hidden"])),
        "vocab_size": _int(row["vocab"], 50304),  # Zero Bubble: GPT-2's, padded
        "mlp": "swiglu" if llama else "gelu",
        "tied_embeddings": not llama,
    }
    if name.startswith("Grok"):
        model |= _GROK
    if name.startswith("InternLM"):  # the shape of Llama-7B, with a vocabulary of its own
        model |= {
            "num_layers": 32,
            "hidden_size": 4096,
            "num_attention_heads": 32,
            "num_key_value_heads": 32,
            "ffn_hidden_size": 11008,
            "vocab_size": 103168,
            "mlp": "swiglu",
            "tied_embeddings": False,
        }
    return model


def _document(row: Row) -> dict[str, Any]:
    plan: dict[str, Any] = {
        "world_size": _int(row["n_gpus"]),
        "tensor_parallel": _int(row["tp"], 1),
        "pipeline_parallel": _int(row["pp"], 1),
        "virtual_pipeline": _int(row["vpp"], 1),
        "context_parallel": _int(row["cp"], 1),
        "expert_parallel": _int(row["ep"], 1),
    }
    training: dict[str, Any] = {
        "micro_batch_size": _int(row["mbs"], 1),
        "global_batch_size": _int(row["gbs"]),
        "precision": _precision(row),
        "recompute": _recompute(row),
    }
    source = row["source_file"]
    if source not in SETTINGS:
        raise ValueError(
            f"source_file '{source}' has no entry in SETTINGS of engine/run/published_settings.py; "
            f"there are {', '.join(SETTINGS)}"
        )
    if source not in SOURCES:
        raise ValueError(
            f"source_file '{source}' has no names in SOURCES of "
            "engine/catalog/published_runs_sources.py: its key of the bibliography, its title"
        )
    SETTINGS[source](row, plan, training)
    return {
        "model": _model(row),
        "sequence_length": _int(row["seq_len"]),
        "cluster": _cluster(row),
        "parallelism": plan,
        "training": training,
    }


def _precision(row: Row) -> str:
    text = row["precision"].lower()
    return next((name for name in ("fp8", "fp4", "fp16") if name in text), "bf16")


def _recompute(row: Row) -> str:
    text = row["recompute"]
    if text in ("full", "yes"):
        return "full"
    return "selective" if text.startswith("selective") else "none"
