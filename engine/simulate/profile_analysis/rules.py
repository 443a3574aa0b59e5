"""Rules that classify kernels by name; the reader may change them.

A rule is a line "group: word, word, ...". A kernel belongs to the first group one of whose words
its name holds, in whatever case. Two groups mean something to the account: "communication" and
"memory copies"; every other group is computation. Copies and fills that the trace itself records
as such are memory copies before any rule is asked, but those from one GPU to another (CUPTI's
PtoP), as copy engines run them for collectives, are communication. What no rule names counts as
computation, and is listed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Count
from engine.run.importers.text_error import TextError, shorten

COMMUNICATION, COPIES, UNKNOWN = "communication", "memory copies", "not named by a rule"
COMPUTE_CLASS, COMMUNICATION_CLASS, COPY_CLASS = 1, 2, 4
_COPY_KINDS = frozenset({"gpu_memcpy", "gpu_memset", "memcpy", "memset"})
_BETWEEN = ("ptop", "peer", "p2p")
_MOST_RULES: Count = 40
_MOST_WORDS: Count = 400
RULES = """\
communication: nccl, rccl, hccl, msccl, nvshmem, dpsk::ep, deep_ep, deepep, hybrid_ep, hybridep, userbuffers, allreduce, all_reduce, allgather, all_gather, reducescatter, reduce_scatter, alltoall, all_to_all, sendrecv, cross_device_reduce, one_shot_, two_shot_, multimem, moea2a, mori::, epdispatch, epcombine, pplx
memory copies: memcpy, memset, dma_
quantization: quantize, group_quant, token_quant, block_quant, scaled_quant, scaled_fp8_quant, fp4_quant, mxfp8_quant, int8_quant, rowwise_quant, cvt_fp16_to_fp4, cast_transpose
attention: flash, fmha, attention, sdpa, mha_, compute_dot_do_o, convert_dq_to
norm and softmax: norm, softmax, bn_fw, bn_bw, cross_entropy, nll_loss, gammabeta, rowwisemoments
convolution: convolv, cudnn, winograd, conv2d, conv_depthwise, dgrad, wgrad, fprop
matrix products: gemm, gemv, bmm_, e2m1, cutlass, nvjet, xmma, cublas, wgmma, cijk_, matmul, splitk, dot_kernel, fused_moe, marlin, machete
optimizer: multi_tensor_apply, adam, adagrad, sgd, fusedlamb
embedding and indexing: embedding, index, gather, scatter, permute, sort, scan, unique, topk, routing, jagged, partial_segment, partials_per_segment, compute_grad_weight
element-wise and reduction: elementwise, reduce, triton_, fused, pool, catarray, copy, fill, rope, rotary, dropout, silu, gelu, transpose, distribution
"""  # noqa: E501


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRules:
    """Kernel groups and their words, in order of precedence."""

    groups: Mapping[str, tuple[str, ...]]

    def group(self, kind: str, name: str) -> str:
        """Return the group of a kernel by event kind and name."""
        low = name.lower()
        if kind in _COPY_KINDS:
            return COMMUNICATION if any(word in low for word in _BETWEEN) else COPIES
        for group, words in self.groups.items():
            if any(word in low for word in words):
                return group
        return UNKNOWN


def group_class(group: str) -> int:
    """Return the class bit of a group in the time breakdown."""
    if group == COMMUNICATION:
        return COMMUNICATION_CLASS
    return COPY_CLASS if group == COPIES else COMPUTE_CLASS


def parse_rules(text: str) -> KernelRules:
    """Return the rules of a text.

    Raises:
        TextError: the line that is no rule, and why.
    """
    groups: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, patterns = line.partition(":")
        name = " ".join(name.lower().split())
        if not colon or not name:
            raise TextError(
                f"line {number}, column 1: '{shorten(line)}' is no rule; write 'group: word, word'"
            )
        words = tuple(word for each in patterns.split(",") if (word := each.strip().lower()))
        if not words:
            raise TextError(f"line {number}, column {len(line) + 1}: '{name}' names no word")
        groups[name[:60]] = (*groups.get(name[:60], ()), *words)
    if len(groups) > _MOST_RULES or sum(map(len, groups.values())) > _MOST_WORDS:
        raise TextError(f"at most {_MOST_RULES} groups and {_MOST_WORDS} words are read")
    return KernelRules(groups=groups)
