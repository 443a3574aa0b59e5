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
    "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT": "matrix products",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>": "matrix products",
    "Cijk_Ailk_Bjlk_BBS_BH_MT128x128x32": "matrix products",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>": "attention",
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80": "attention",
    "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>": "optimizer",
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
