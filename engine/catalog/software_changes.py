"""Changes of software that the engine or a guide depends on: one row for each fact."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A default or a behavior that one version has and the version before it had not.

    Attributes:
        software: name of a row of SOFTWARE.
        version: first one with it; `main` where no release has it yet.
        date: year and month, or the day.
        before: what held until then.
        since: what holds now.
        engine: what the engine and the pages go by.
        page: page of the site on which it matters, without its ending.
        source: key of the reference.
    """

    software: str
    version: str
    date: str
    before: str
    since: str
    engine: str
    page: str
    source: str


CHANGES: tuple[Change, ...] = (
    Change(
        software="NCCL",
        version="2.31.2",
        date="2026-08-11",
        before="PAT only with one GPU per node.",
        since="PAT between nodes, with NVLS inside each.",
        engine="Before: gathers and scatters between nodes of several GPUs run as rings.",
        page="guides/nccl-busbw",
        source="ofi_pat_nvls",
    ),
    Change(
        software="NCCL",
        version="2.31.2",
        date="2026-08-11",
        before="Algorithms are chosen by NCCL, a variable or a tuner plug-in.",
        since="ncclCollConfig_t sets algorithm, CTAs and CTA policy of one call.",
        engine="Neither: it models what NCCL chooses by itself.",
        page="guides/nccl-busbw",
        source="nccl_release_231",
    ),
    Change(
        software="NCCL",
        version="2.30.7",
        date="2026-06-04",
        before="Copy engines carry collectives inside a node.",
        since="With policy ZERO also gathers and all-to-alls across nodes: copy engines inside, a "
        "proxy on the CPU between.",
        engine="Since, where a page takes no multiprocessors for a collective.",
        page="guides/overlap-frontier",
        source="nccl_release_2307",
    ),
    Change(
        software="NCCL",
        version="2.32.3",
        date="2026-09-17",
        before="No support of Rubin.",
        since="Rubin runs, without a tuned cost model; notes of 2.32.6 add one.",
        engine="Before: choices on Rubin are those of Blackwell's constants.",
        page="guides/nccl-busbw",
        source="nccl_releases",
    ),
    Change(
        software="DeepEP",
        version="2",
        date="2026-04-30",
        before="NVSHMEM; 24 multiprocessors for a training like DeepSeek-V3's.",
        since="NCCL's GIN; 4 to 6 multiprocessors.",
        engine="Before: the rates measured on H800.",
        page="guides/expert-parallelism",
        source="deepep_v2",
    ),
    Change(
        software="Megatron Core",
        version="main",
        date="2026-08",
        before="--muon-tp-mode blockwise, also in 0.19.2.",
        since="--muon-tp-mode duplicated.",
        engine="Either: the lab lets you choose.",
        page="guides/distributed-muon",
        source="megatron6380",
    ),
    Change(
        software="Megatron Core",
        version="main",
        date="2026-09",
        before="A unit of communication of Megatron-FSDP that nobody set has at least 1e9 "
        "elements, also in 0.19.2.",
        since="Twice the mean size of a unit, and at most 1e9.",
        engine="Before.",
        page="guides/sharding-knobs",
        source="megatron7134",
    ),
    Change(
        software="Megatron Core",
        version="0.18.0",
        date="2026-06-22",
        before="--optimizer dist_muon.",
        since="--optimizer muon --use-distributed-optimizer; the old name is deprecated.",
        engine="Since.",
        page="guides/distributed-muon",
        source="megatron_core_releases",
    ),
    Change(
        software="Megatron Core",
        version="0.19.0",
        date="2026-08-19",
        before="Backends deepep and hybridep of the flexible dispatcher.",
        since="Also ncclep.",
        engine="Before: ncclep is not priced.",
        page="guides/expert-parallelism",
        source="megatron_core_releases",
    ),
    Change(
        software="DeepSpeed",
        version="0.19.2",
        date="2026-06-16",
        before="Under ZeRO-2 every micro-batch is reduced.",
        since="engine.coalesce_grad_reduction() reduces once, with the memory of stage 1.",
        engine="Before, as its default.",
        page="guides/zero-2",
        source="deepspeed7992",
    ),
    Change(
        software="PyTorch",
        version="2.15",
        date="2026-10",
        before="DDP keeps all its buckets of gradients.",
        since="lazy_bucket_allocation=True allocates and frees them within the backward pass; off "
        "by default.",
        engine="Before, as the default.",
        page="guides/data-parallelism",
        source="pytorch_releases",
    ),
    Change(
        software="PyTorch",
        version="2.15",
        date="2026-10",
        before="fully_shard frees gathered parameters when it reshards.",
        since="set_keep_unsharded_storage(True) keeps their memory, for CUDA graphs; off by "
        "default.",
        engine="Before, as the default.",
        page="guides/zero-3",
        source="pytorch_releases",
    ),
    Change(
        software="PyTorch",
        version="2.15",
        date="2026-10",
        before="FSDP2 ends a backward pass by itself.",
        since="set_manual_backward_finalization(True) leaves it to finalize_backward(), also "
        "asynchronously; off by default.",
        engine="Before, as the default.",
        page="guides/overlap-frontier",
        source="pytorch_releases",
    ),
    Change(
        software="PyTorch",
        version="2.15",
        date="2026-10",
        before="MixedPrecisionPolicy has one param_dtype for all parameters of a group.",
        since="param_dtype_override_fn keeps single parameters in their own type; none by default.",
        engine="Before, as the default.",
        page="guides/zero-3",
        source="pytorch_releases",
    ),
    Change(
        software="PyTorch",
        version="2.15",
        date="2026-10",
        before="Interleaved schedules gather up to three stages ahead under FSDP2.",
        since="max_active_stages (3) and unshard_lookahead ('full') say how many.",
        engine="Before, as the default.",
        page="guides/pipeline-schedule-lab",
        source="pytorch_releases",
    ),
    Change(
        software="PyTorch",
        version="2.14",
        date="2026-09",
        before="adjust_lr_fn of Muon is original or match_rms_adamw.",
        since="Also spectral_unclamped; original stays the default.",
        engine="Before.",
        page="guides/distributed-muon",
        source="pytorch_releases",
    ),
    Change(
        software="verl",
        version="0.9.0",
        date="2026-08-14",
        before="Asynchronous training by fully_async_policy, with keys async_training.*.",
        since="trainer.use_v1 is the default; trainer.v1.trainer_mode is sync, colocate_async or "
        "separate_async.",
        engine="Since, in the keys shown; measured rows are of the older trainer.",
        page="guides/rl-post-training",
        source="verl_v1",
    ),
)
