"""Published training runs: what each source says of a run, and what it measured.

A row holds the columns of the source's own table, one spelling for one thing; what a table leaves
out is empty. Step times and peaks of memory are measured by others, none of them by this project.
"""

from collections.abc import Mapping
from functools import cache

from engine.catalog.published_table import TEXT

Row = Mapping[str, str]

# Table -> (key of the bibliography, name for the reader).
SOURCES = {
    "bloom176b_topology_sweep.csv": ("bigscience2022", "BLOOM topology sweep 2022"),
    "dgxc_recipes_step_time.csv": ("nvidia_dgxc", "NVIDIA DGX Cloud recipes"),
    "fms_fsdp_llama.csv": ("fms_fsdp", "IBM FSDP Llama 2"),
    "internevo_7b_scaling.csv": ("internevo", "InternEvo 7B scaling"),
    "korthikanti_2022_table5.csv": ("korthikanti2022", "Korthikanti 2022, table 5"),
    "llm_foundry_mpt_fsdp.csv": ("mosaicml2023", "LLM Foundry MPT"),
    "megatron_bridge_performance.csv": ("megatron_bridge", "Megatron-Bridge releases"),
    "megatron_sc21_table1.csv": ("narayanan2021", "Narayanan 2021, table 1"),
    "megatron_sc21_table2_zero3.csv": ("narayanan2021", "Narayanan 2021, table 2"),
    "nemo_2407_h100_fp8.csv": ("nemo_2407", "NeMo 24.07"),
    "simumax_b200_measured.csv": ("simumax", "SimuMax B200"),
    "torchtitan.csv": ("torchtitan", "torchtitan"),
    "zero_bubble_tables.csv": ("qi2024", "Zero bubble, tables 3 to 5"),
}


@cache
def rows() -> tuple[Row, ...]:
    """Return every row: column -> what stands there."""
    head, *lines = TEXT.splitlines()
    columns = head.split("\t")
    return tuple(dict(zip(columns, line.split("\t"), strict=True)) for line in lines)
