"""The tables that published runs come from."""

# Table -> (key of the bibliography, name for the reader). A new one goes last: a link
# names a source by its place.
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
