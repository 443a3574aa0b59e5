import pytest

from engine.run.importers.import_report import TextError
from engine.simulate.profile_analysis.rules import (
    COMMUNICATION,
    COPIES,
    RULES,
    UNKNOWN,
    parse_rules,
)
from tests.each import each

# Kernels as they are called in traces, and what they do.
NAMES = {
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)": COMMUNICATION,
    "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)": COMMUNICATION,
    "void dpsk::ep::internode::dispatch<false, 4>(int4*, float*)": COMMUNICATION,
    "void deep_ep::intranode::combine<__nv_bfloat16, 8>": COMMUNICATION,
    "void nvshmemi_transfer": COMMUNICATION,
    "rcclGenericKernel": COMMUNICATION,
    "void hybrid_ep::device_sync_kernel<8>": COMMUNICATION,
    "void ::hybrid_ep::dispatch_kernel<false, unsigned short>": COMMUNICATION,
    "void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>": COMMUNICATION,
    "userbuffers_fp16_sum_inplace_gpu_rw_ag": COMMUNICATION,
    "multimem_one_shot_all_reduce_kernel": COMMUNICATION,
    "allreduce_fusion_kernel_oneshot_lamport": COMMUNICATION,
    "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8x512u2_s6_et128x8_m128x8x32_sm100f": "matrix products",
    "bmm_E2m1_E2m1E2m1_Fp32_t128x16x256_s5_et64x16_m64x16x64_sm100a": "matrix products",
    "void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantization)2, "
    "__nv_bfloat16, 32, true>(int, flashinfer::QuantizationSFLayout)": "quantization",
    "void tensorrt_llm::kernels::cvt_fp16_to_fp4<__nv_bfloat16>": "quantization",
    "transformer_engine::dispatch::mxfp8::quantize_kernel::quantize_mxfp8_kernel": "quantization",
    "void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16>": "quantization",
    "void vllm::rms_norm_static_fp8_quant_kernel<c10::BFloat16>": "norm and softmax",
    "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT": "matrix products",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>": "matrix products",
    "Cijk_Ailk_Bjlk_BBS_BH_MT128x128x32": "matrix products",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>": "attention",
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80": "attention",
    "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>": "optimizer",
    "fused_moe_kernel": "matrix products",
    "void marlin_moe_wna16::Marlin<>": "matrix products",
    "mori::moe::EpDispatchIntraNodeKernel<float>": "communication",
    "void tensorrt_llm::kernels::mnnvl_throughput::moeA2ADispatchKernel": "communication",
    "void aiter::dynamic_per_token_scaled_quant_kernel": "quantization",
    "void tensorrt_llm::kernels::finalizeMoeRoutingKernel": "embedding and indexing",
    "void at::native::vectorized_layer_norm_kernel<float, float>": "norm and softmax",
    "void at::native::vectorized_elementwise_kernel<4, at::native::add_lambda>":
        "element-wise and reduction",
    "triton_poi_fused_add_cos_sin_0": "element-wise and reduction",
    "something_of_my_own": UNKNOWN,
}  # fmt: skip


@each("name", NAMES)
def test_kernels_belong_where_they_should(name):
    assert parse_rules(RULES).group("kernel", name) == NAMES[name]


def test_what_the_trace_records_as_a_copy_is_one_whatever_its_name():
    assert parse_rules(RULES).group("gpu_memcpy", "nccl gemm") == COPIES


@each(
    ("name", "group"),
    [
        ("Memcpy PtoP (Device -> Device)", COMMUNICATION),
        ("[CUDA memcpy Peer-to-Peer]", COMMUNICATION),
        ("Memcpy DtoD (Device -> Device)", COPIES),
        ("Memcpy HtoD (Pinned -> Device)", COPIES),
    ],
)
def test_copies_from_one_gpu_to_another_are_communication(name, group):
    assert parse_rules(RULES).group("gpu_memcpy", name) == group


def test_the_first_line_with_a_word_decides():
    rules = parse_rules("# mine\nMine: Frob, gemm\nmatrix products: gemm\n")
    assert rules.group("kernel", "FROBNICATE") == "mine"
    assert rules.group("kernel", "gemm") == "mine"
    assert rules.group("kernel", "nccl") == UNKNOWN


@each("text", ["no colon", ":", "a: ,", "ok: x\nbad", "a:"])
def test_a_line_that_is_no_rule_is_named(text):
    with pytest.raises(TextError, match=f"line {len(text.splitlines())}, column"):
        parse_rules(text)


def test_too_many_rules_are_refused():
    with pytest.raises(TextError, match="at most"):
        parse_rules("\n".join(f"group {at}: x" for at in range(50)))
