"""A training run: the cluster, the parallel plan, and how it trains."""

from functools import lru_cache
from itertools import accumulate
from typing import Literal

from engine.catalog.accelerators import Gpu
from engine.catalog.models import Model
from engine.catalog.reader_constants import OwnConstants
from engine.core.record import record
from engine.core.units import Bandwidth, Count, Price, Ratio, Share

Precision = Literal["bf16", "fp16", "fp8", "fp4"]
Recompute = Literal["none", "selective", "modules", "full"]
Schedule = Literal[
    "gpipe", "1f1b", "interleaved", "zb-1p", "zb-2p", "zbv", "v-half", "v-min", "dualpipe"
]
Framework = Literal["megatron", "fsdp", "deepspeed", "xla"]
GradientPrecision = Literal["", "bf16", "fp16", "fp32"]
Optimizer = Literal["adam", "sgd", "muon"]
LoraLayers = Literal["attention", "all"]
Transport = Literal["infiniband", "efa-v1", "efa-v2", "efa-v3", "efa-v4", "roce", "nvlink-network"]
# What recomputation by module can repeat, by Megatron's names (--recompute-modules).
MODULES = (
    "core_attn",
    "layernorm",
    "mla_up_proj",
    "moe_act",
    "mlp",
    "moe",
    "shared_experts",
)
# What it repeats unless told otherwise: what is cheap to make again; "act": activation functions
# outside routed experts.
CHEAP = ("layernorm", "mla_up_proj", "moe_act", "act")

Exchange = Literal["auto", "all-to-all", "deepep", "hybridep"]

# Schedules that cut the model in 2p pieces laid in a V: rank r holds pieces r and 2p - 1 - r.
V_SHAPED = ("zbv", "v-half", "v-min")


@record
class Cluster:
    """The machines.

    Attributes:
        gpu: a row of `engine.catalog.accelerators`, or one of your own.
        gpus_per_node: GPUs that share a scale-up network (72 in an NVL72 rack).
        nics_per_node: network ports of those GPUs together.
        nic_bandwidth: of one port, one way.
        oversubscription: how many times the ports of the nodes exceed what the spine carries.
        transport: how messages travel over the ports.
        price_per_hour: of one GPU, per second; 0 if not known.
        own_constants: constants that were measured on these machines, in place of the catalog's.
        nvlink_domain: GPUs that reach each other over NVLink: fewer than a rack has where trays are
            missing, those of one tray where NVLink between hosts is off; 0: as the machine has it.
    """

    gpu: Gpu
    gpus_per_node: Count
    nics_per_node: Count
    nic_bandwidth: Bandwidth
    oversubscription: Ratio = 1.0
    transport: Transport = "infiniband"
    price_per_hour: Price = 0.0
    own_constants: OwnConstants | None = None
    nvlink_domain: Count = 0


@record
class Plan:
    """The parallel plan: ranks per axis; data parallelism takes the remaining ranks.

    Attributes:
        world_size: ranks, one per GPU.
        tensor_parallel: ranks that share every matrix of a layer.
        pipeline_parallel: ranks that share the layers.
        virtual_pipeline: virtual stages of each pipeline rank, pieces of the model.
        context_parallel: ranks that share a sequence.
        expert_parallel: ranks that share the experts of a layer.
        expert_tensor_parallel: ranks that share the matrices of one expert.
        sequence_parallel: what tensor parallelism replicates is split along the sequence.
        zero_stage: 0 none, 1 optimizer states, 2 gradients too, 3 parameters too are sharded.
        shard_group: ranks that share one copy of the sharded states; 0 stands for all.
        stage_layers: layers of each piece, in the order of the model, where the pipeline is cut by
            hand; rank r holds the pieces r, r + p, r + 2p, ...; empty: as evenly as it goes.
    """

    world_size: Count
    tensor_parallel: Count = 1
    pipeline_parallel: Count = 1
    virtual_pipeline: Count = 1
    context_parallel: Count = 1
    expert_parallel: Count = 1
    expert_tensor_parallel: Count = 1
    sequence_parallel: bool = False
    zero_stage: Count = 1
    shard_group: Count = 0
    stage_layers: tuple[Count, ...] = ()

    @property
    def data_parallel(self) -> Count:
        """Ranks that hold the same part of the model and see different sequences."""
        parts = self.tensor_parallel * self.pipeline_parallel * self.context_parallel
        return self.world_size // parts


@record
class Training:
    """Training settings of a run.

    Attributes:
        micro_batch_size: sequences of one forward pass.
        global_batch_size: sequences of one step.
        sequence_length: tokens of a sequence.
        precision: of the matrix products; fp8 and fp4 only in linear layers.
        recompute: what the backward pass repeats: "selective" the attention, "modules" what is
            cheap to make again (norms, activation functions, up-projections of latent attention),
            "full" all of a layer.
        recompute_modules: what "modules" repeats, by names of `MODULES`; empty: what is cheap.
        recompute_layers: of the model's layers, that "full" repeats (Megatron's --recompute-method
            block repeats --recompute-num-layers of each piece of the pipeline); 0: all of them.
        fp8_activation_inputs: a gated activation keeps its inputs in 8 bits (Megatron-Core's
            activation_func_fp8_input_store).
        keeps_quantized_products: selective recomputation by operation keeps products in fp8 too, as
            torchtitan's did while torchao's tensors were a subclass (2024).
        eager_loss: the loss of FSDP is not compiled with the model, so that logits are copied in
            single precision, as by torchtitan from October 2024 ("compiling loss function causes
            CUDA errors") to April 2025.
        fused_norms: of eager software, norms are one kernel nevertheless and keep their input in 16
            bits, as torchtitan's for Llama 2 13B and Llama 3 8B in April 2024. Memory alone.
        flash_attention: the score matrix never reaches memory.
        schedule: order of the micro-batches in the pipeline.
        overlap_gradient_reduce: gradients are reduced while the backward pass runs.
        overlap_tensor_parallel: its collectives run beside the matrix products.
        overlap_expert_parallel: the exchange of tokens runs beside products of another micro-batch
            (Megatron's --overlap-moe-expert-parallel-comm).
        framework: family of software; decides data types, buffers and what is overlapped.
        compiled: element-wise kernels are fused.
        first_flash_attention: the fused attention is the first FlashAttention (2022), and the
            loss comes from the same package, fused and in 16 bits.
        cuda_graphs: a step is captured once and replayed; the host launches no kernels.
        exchange: how tokens reach their experts over the network: "all-to-all", each copy by
            itself, or "deepep" and "hybridep", one for all experts of a node; "auto": as DeepEP for
            a model whose routing is limited to few nodes, else a plain all-to-all.
        even_routing: the router sends as many tokens to every expert, as benchmarks force it to;
            otherwise the busiest rank of experts sets the pace.
        fused_experts: the grouped products of experts pad, convert and activate by themselves
            (Megatron's --use-transformer-engine-op-fuser, in MXFP8).
        gradient_precision: in which gradients are summed; empty: as the framework does unasked.
        optimizer: "sgd" has one momentum; "muon" one too, and Adam for the ends of the model.
        lora_rank: of adapters beside frozen linear layers; 0: all parameters are trained.
        lora_layers: which linear layers have them: those of the "attention", as Hu et al. 2021, the
            default of PEFT and MLPerf's benchmark (its reference, run_llama_70B_scrolls_r16.sh:
            "qkv_proj,o_proj"), or "all" but those of routed experts, as QLoRA does.
        nf4_weights: frozen linear layers are kept in 4 bits and unpacked to 16 for each product
            (QLoRA, NF4).
        quantized_weights: in fp8 and fp4, linear layers keep no weights in 16 bits beside those
            that their products read (fp8-param-gather of Megatron).
        quantized_once: in fp8, the products of both passes read one copy of a weight: with one
            scale for the tensor on Blackwell, which takes operands of 8 bits in either order.
            Otherwise its transpose is kept too.
        block_scales: where both are kept in fp8, they and what layers keep have a scale of 8 bits
            for each 32 values (MXFP8), as on Blackwell.
    """

    micro_batch_size: Count
    global_batch_size: Count
    sequence_length: Count
    precision: Precision = "bf16"
    recompute: Recompute = "none"
    flash_attention: bool = True
    schedule: Schedule = "1f1b"
    overlap_gradient_reduce: bool = True
    overlap_tensor_parallel: bool = False
    overlap_expert_parallel: bool = False
    framework: Framework = "megatron"
    compiled: bool = True
    first_flash_attention: bool = False
    cuda_graphs: bool = False
    fused_experts: bool = False
    even_routing: bool = True
    exchange: Exchange = "auto"
    gradient_precision: GradientPrecision = ""
    recompute_modules: tuple[str, ...] = ()
    recompute_layers: Count = 0
    fp8_activation_inputs: bool = False
    keeps_quantized_products: bool = False
    eager_loss: bool = False
    fused_norms: bool = False
    optimizer: Optimizer = "adam"
    lora_rank: Count = 0
    lora_layers: LoraLayers = "attention"
    nf4_weights: bool = False
    quantized_weights: bool = False
    quantized_once: bool = False
    block_scales: bool = False


# What software does that is told nothing: the one set of defaults, of run files and of forms.
UNASKED = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


def recomputed_share(layers: Count, training: Training) -> Share:
    """Return the share of a model's layers that full recomputation repeats."""
    if training.recompute != "full" or not training.recompute_layers:
        return 1.0
    return min(1.0, training.recompute_layers / layers)


def halves_gradients(training: Training) -> bool:
    """Return whether gradients are summed and reduced in 16 bits."""
    return training.gradient_precision in ("bf16", "fp16")


def quantizes(training: Training) -> bool:
    """Return whether weights of linear layers are kept in the bits of their products."""
    return training.precision in ("fp8", "fp4") and training.framework == "megatron"


def scales_blocks(training: Training) -> bool:
    """Return whether values in fp8 have a scale for each 32 of them (MXFP8)."""
    return training.precision == "fp8" and training.block_scales and not training.quantized_once


def shards_all(training: Training) -> bool:
    """Return whether the software keeps single-precision parameters, sharded: FSDP, and XLA."""
    return training.framework in ("fsdp", "xla")


def rotates_by_constants(training: Training) -> bool:
    """Return whether the backward pass of the rotation reads cosines alone, no queries and keys.

    So in PyTorch's autograd; other software is taken to keep them.
    """
    return training.framework == "fsdp"


def adds_in_place(training: Training) -> bool:
    """Return whether products add to the gradients of weights, as Transformer Engine's do.

    Taken for all runs of Megatron with fused attention and fused kernels. Autograd gets a
    placeholder of the weight's shape instead, one for each shape, which stays.
    """
    return training.framework == "megatron" and training.flash_attention and training.compiled


def sharding_ranks(plan: Plan) -> Count:
    """Return the ranks over which the states outside the experts are sharded.

    Ranks of context parallelism hold the same parameters and take part.
    """
    return plan.shard_group or plan.data_parallel * plan.context_parallel


def expert_data_parallel(plan: Plan) -> Count:
    """Return the ranks that hold the same experts."""
    group = plan.pipeline_parallel * plan.expert_parallel * plan.expert_tensor_parallel
    return plan.world_size // group


def expert_sharding_ranks(plan: Plan) -> Count:
    """Return the ranks over which the states of the experts are sharded."""
    ranks = expert_data_parallel(plan)
    return min(plan.shard_group, ranks) if plan.shard_group else ranks


def num_microbatches(plan: Plan, training: Training) -> Count:
    """Return the micro-batches that each pipeline runs in a step."""
    return training.global_batch_size // (training.micro_batch_size * plan.data_parallel)


@lru_cache(maxsize=4096)
def piece_of_model(num_layers: Count, num_pieces: Count, index: Count) -> range:
    """Return the layers of one piece of the pipeline, counted in the order of the model.

    Evenly where they divide. Otherwise the embedding and the output layer count as one layer
    each, so that the first and the last piece get one less (Llama 3: 126 layers on 16 ranks);
    what is still left goes to the pieces in the middle.
    """
    each, left = divmod(num_layers, num_pieces)
    if not left:
        return range(index * each, (index + 1) * each)
    each, left = divmod(num_layers + 2, num_pieces)
    middle = (num_pieces - left) // 2

    def start(piece: Count) -> Count:
        before = piece * each + min(max(piece - middle, 0), left) - 1
        return min(max(before, 0), num_layers)

    return range(start(index), start(index + 1))


@lru_cache(maxsize=256)
def chunk_sizes(num_layers: Count, num_pieces: Count) -> tuple[Count, ...]:
    """Return the number of layers of each piece of the pipeline."""
    if num_layers % num_pieces == 0:
        return (num_layers // num_pieces,) * num_pieces
    return tuple(len(piece_of_model(num_layers, num_pieces, i)) for i in range(num_pieces))


def layers_of_stage(
    model: Model, plan: Plan, stage: Count, schedule: Schedule = "1f1b"
) -> tuple[range, ...]:
    """Return the layers of a pipeline rank, one range for each of its pieces.

    Interleaved, rank r holds the pieces r, r + p, r + 2p, ...; in a V it holds r and 2p - 1 - r
    of 2p pieces; dualpipe adds a second copy of its p pieces, run from the other end.
    """
    pipeline = (plan.pipeline_parallel, plan.virtual_pipeline, plan.stage_layers)
    return layers_of_pipeline_stage(model.num_layers, pipeline, stage, schedule)


@lru_cache(maxsize=4096)
def layers_of_pipeline_stage(
    layers: Count,
    pipeline: tuple[Count, Count, tuple[Count, ...]],
    stage: Count,
    schedule: Schedule,
) -> tuple[range, ...]:
    """Return a rank's layers for a pipeline given as ranks, pieces per rank, layers per piece."""
    ranks, virtual, sizes = pipeline
    if schedule == "dualpipe":
        other = piece_of_model(layers, ranks, ranks - 1 - stage)
        return (piece_of_model(layers, ranks, stage), other)
    if schedule in V_SHAPED:
        other = piece_of_model(layers, 2 * ranks, 2 * ranks - 1 - stage)
        return (piece_of_model(layers, 2 * ranks, stage), other)
    pieces = ranks * virtual
    if sizes:
        starts = (0, *accumulate(sizes))
        return tuple(range(*starts[i : i + 2]) for i in range(stage, pieces, ranks))
    return tuple(piece_of_model(layers, pieces, index) for index in range(stage, pieces, ranks))


def first_piece(plan: Plan, stage: Count, schedule: Schedule = "1f1b") -> bool:
    """Return whether a pipeline rank holds the embedding, in its first piece (or its copy)."""
    ends = (0, plan.pipeline_parallel - 1) if schedule == "dualpipe" else (0,)
    return stage in ends


def last_piece(plan: Plan, stage: Count, schedule: Schedule = "1f1b") -> bool:
    """Return whether a pipeline rank holds the output layer, in its last piece (or its copy)."""
    if schedule in V_SHAPED:
        return stage == 0
    return stage == plan.pipeline_parallel - 1 or (schedule == "dualpipe" and stage == 0)
