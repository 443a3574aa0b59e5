"""GPUs whose fp8 products read one copy of a weight in both passes."""

from engine.catalog.accelerators import Gpu


def reads_any_operand_layout(gpu: Gpu) -> bool:
    """Return whether products in fp8 take operands by rows or by columns: NVIDIA's from Blackwell.

    Transformer Engine, `nvte_is_non_tn_fp8_gemm_supported`: compute capability 10, not the 12 of
    RTX cards. Others need a transposed copy of a weight for the backward pass.
    """
    rtx = gpu.name.startswith("RTX")
    return "fp4" in gpu.peak and gpu.source.startswith("nvidia") and not rtx
