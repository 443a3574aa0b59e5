"""Claims about the axes of a plan: tensor parallelism, sharding, and their product."""

from engine.calculators.reference.claims_checked.claim import Claim
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.core.text import say
from engine.core.units import BYTES, COUNT, RATIO, SHARE, TOKENS, Count, Gbit, Ratio
from engine.formulas.axes import tensor_layer_bytes
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.parameters import layer_parameters
from engine.formulas.volumes import tensor_passes, zero_bytes_sent
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run
from engine.simulate.step.modeled_plan import model_plan
from engine.simulate.step.tensor_scaling import published_tensor_run, speed_loss

_STACK, _GUIDES, _PIPELINE = "day1inference", "vizuara_guides", "pingdo_pipeline"
_MODEL = MODELS["llama-3-70b"]
_LAYER = layer_parameters(_MODEL) / _MODEL.num_layers
_TOKENS = 4096.0
_PASSES = tensor_passes()
_PEAK = GPUS["h100"].peak["bf16"]
_PORT = 400 * Gbit


def tensor_parallel_ratio(tensor_parallel: Count, ports: Count) -> Ratio:
    """Return the collectives of tensor parallelism over the computation, as the modeler has them.

    Its job: four stages, four replicas, eight micro-batches of one sequence, nodes of 8 H100.
    """
    plan = Plan(
        world_size=16 * tensor_parallel,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=4,
        sequence_parallel=True,
    )
    training = Training(micro_batch_size=1, global_batch_size=32, sequence_length=round(_TOKENS))
    cluster = Cluster(
        gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=ports, nic_bandwidth=_PORT
    )
    run = Run(model=_MODEL, cluster=cluster, plan=plan, training=training)
    return model_plan(run, utilization=0.5).tensor_over_computation


def claims() -> tuple[Claim, ...]:
    """Return the claims: tensor parallelism, sharding, counting."""
    return (*_tensor(), *_placement(), *_sharding(), *_counting())


def _tensor() -> tuple[Claim, ...]:
    ratio = _LAYER / (4 * _MODEL.hidden_size)
    return (
        Claim(
            key="E1.8",
            said="How many times fewer bytes tensor parallelism moves than ZeRO-3, at inference",
            printed="about 10,000×",
            right=say(
                "{one} for one token of a 70B model, {many} for 4,096",
                one=(ratio, RATIO),
                many=(ratio / _TOKENS, RATIO),
            ),
            verdict="condition",
            why="The ratio falls with the number of tokens that are in flight. One request has one "
            "token at a time. A training step has thousands.",
            sources=(_GUIDES,),
        ),
        Claim(
            key="E4.13",
            said="How often tensor parallelism all-reduces in a layer",
            printed="twice per layer",
            right=say(
                "twice forward and twice backward: {sent} sent by each of 8 GPUs for 4,096 tokens "
                "of a 70B model",
                sent=(tensor_layer_bytes(_TOKENS, _MODEL.hidden_size, 8, _PASSES), BYTES),
            ),
            verdict="misleading",
            why="The claim counts the forward pass alone. The backward pass needs as many, and "
            "recomputing every layer adds two more.",
            sources=(_PIPELINE, "narayanan2021", "korthikanti2022"),
        ),
        Claim(
            key="E4.14",
            said="Communication time of tensor parallelism between nodes, over computing time",
            printed="10 to 20 times",
            right=say(
                "{node} on 8 GPUs over NVLink, {rails} on 16 with eight ports a node, {port} "
                "through one port",
                node=(tensor_parallel_ratio(8, 8), RATIO),
                rails=(tensor_parallel_ratio(16, 8), RATIO),
                port=(tensor_parallel_ratio(16, 1), RATIO),
            ),
            verdict="wrong",
            why=say(
                "Our numbers are for the forward and backward passes of a 70B model with 4,096 "
                "tokens and sequence parallelism, kernels at half of an H100's peak, ports of 400 "
                "Gb/s, each message at the bandwidth that its size reaches, and nothing hidden. In "
                "a measurement, each GPU lost {lost} of its tokens per second when the group grew "
                "from 8 GPUs to 16.",
                lost=(
                    speed_loss(published_tensor_run(8).rate, published_tensor_run(16).rate),
                    SHARE,
                ),
            ),
            sources=(_PIPELINE, "narayanan2021", "bekman2025", "tazi2025"),
        ),
    )


def _placement() -> tuple[Claim, ...]:
    return (
        Claim(
            key="E0.3",
            said="Which axis of parallelism uses NVLink",
            printed="only tensor parallelism",
            right="any whose group lies inside a node",
            verdict="wrong",
            why="The order of the ranks is a choice. DeepSeek-V3 was trained without tensor "
            "parallelism and sent tokens to experts over NVLink inside the node.",
            sources=(_STACK, "deepseek2024", "megatron_ranks"),
        ),
        Claim(
            key="E0.4",
            said="Whether the communication of tensor parallelism can be overlapped",
            printed="it cannot",
            right="measured: cutting products and collectives into pieces makes a step 8 % faster",
            verdict="wrong",
            why="A matrix product can start when the first piece has arrived. The measurement "
            "is PyTorch's, with Llama 3 of 8B and of 70B parameters. The forward pass alone "
            "gained up to 29 %.",
            sources=(_STACK, "async_tp2024"),
        ),
    )


def _sharding() -> tuple[Claim, ...]:
    size = 14e9
    plain = ring_bytes_sent(size, 8)

    def over(stage: int, num_microbatches: int) -> float:
        return zero_bytes_sent(size, size, stage, 8, num_microbatches) / plain

    return (
        Claim(
            key="E1.4",
            said="What ZeRO-1 sends, relative to plain data parallelism",
            printed="no more",
            right=say(
                "{once}, and {four} with 4 micro-batches",
                once=(over(1, 1), RATIO),
                four=(over(1, 4), RATIO),
            ),
            verdict="right",
            why="ZeRO-1 sends the two halves of an all-reduce and runs the optimizer between them.",
            sources=(_GUIDES, "rajbhandari2020"),
        ),
        Claim(
            key="E1.5",
            said="What ZeRO-2 sends, relative to plain data parallelism",
            printed="the same",
            right=say(
                "{once}, and {four} with 4 micro-batches",
                once=(over(2, 1), RATIO),
                four=(over(2, 4), RATIO),
            ),
            verdict="condition",
            why="No rank holds all gradients, so those of every micro-batch are reduced "
            "immediately. The claim holds for one micro-batch per step.",
            sources=(_GUIDES, "rajbhandari2020", "deepspeed2252"),
        ),
        Claim(
            key="E1.6",
            said="What ZeRO-3 sends, relative to plain data parallelism",
            printed="1.5×",
            right=say(
                "{once}, and {four} with 4 micro-batches",
                once=(over(3, 1), RATIO),
                four=(over(3, 4), RATIO),
            ),
            verdict="condition",
            why="The parameters are gathered twice for every micro-batch. The claim holds for one "
            "micro-batch per step.",
            sources=(_GUIDES, "rajbhandari2020", "deepspeed2252"),
        ),
        Claim(
            key="E4.20",
            said="How useful ZeRO-3 is over a 100 Gb/s link",
            printed="unusable",
            right=say(
                "nothing waits from {one} tokens per GPU on, with one such port per node; with "
                "eight ports of 400 Gb/s, from {eight} on",
                one=(_PEAK / (100 * Gbit), TOKENS),
                eight=(_PEAK / (8 * _PORT), TOKENS),
            ),
            verdict="wrong",
            why="A gather takes the same time however many tokens there are, and more tokens take "
            "longer to compute. So the number of tokens on a GPU decides. The GPUs are assumed to "
            "compute at their peak.",
            sources=(_PIPELINE, "scaling_book"),
        ),
    )


def _counting() -> tuple[Claim, ...]:
    return (
        Claim(
            key="E4.49",
            said="GPUs that tensor parallelism 8, pipeline parallelism 4 and sequence parallelism "
            "2 need",
            printed=say("{n}", n=(8 * 4 * 2, COUNT)),
            right=say(
                "{n}; {more} only if context parallelism is meant",
                n=(8 * 4, COUNT),
                more=(8 * 4 * 2, COUNT),
            ),
            verdict="misleading",
            why="Sequence parallelism runs on the ranks of tensor parallelism. It adds no GPUs.",
            sources=(_PIPELINE, "korthikanti2022", "torchtitan_dims"),
        ),
    )
