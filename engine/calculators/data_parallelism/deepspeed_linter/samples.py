"""Files to try."""

from collections.abc import Mapping

from engine.core.inputs import Sample

_ZERO_3 = """{
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 1,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true,
    "contiguous_gradients": true,
    "reduce_bucket_size": 5e8,
    "stage3_prefetch_bucket_size": 5e7,
    "stage3_param_persistence_threshold": 1e5,
    "stage3_max_live_parameters": 0,
    "stage3_max_reuse_distance": 0,
    "allgather_bucket_size": 5e8,
    "stage3_gather_16bit_weights_on_model_save": true
  }
}
"""
_ZERO_2 = """{
  "train_batch_size": 64,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 2,
    "allgather_bucket_size": 5e8,
    "reduce_bucket_size": 1e10,
    "stage3_prefetch_bucket_size": 5e7
  }
}
"""
_AUTO = """{
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto",
  "bf16": {"enabled": "auto"},
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true,
    "reduce_bucket_size": "auto",
    "stage3_prefetch_bucket_size": "auto",
    "stage3_param_persistence_threshold": "auto",
    "stage3_max_live_parameters": 1e9,
    "stage3_max_reuse_distance": 1e9
  }
}
"""
_MISTAKES = """{
  "train_batch_size": 64,
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 2,
  "fp16": {"enabled": true},
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "reduce_bucket_sise": 5e7,
    "overlap_comm": false,
    "stage3_max_live_gradients": 1e6,
    "stage3_prefetch_bucket_size": 15099494.4,
    "stage3_max_reuse_distance": 1e10
  }
}
"""
SAMPLES: Mapping[str, Sample] = {
    "stage3": Sample(title="Stage 3, as many files have it", text=_ZERO_3),
    "stage2": Sample(title="Stage 2", text=_ZERO_2),
    "auto": Sample(
        title="With \N{LEFT DOUBLE QUOTATION MARK}auto\N{RIGHT DOUBLE QUOTATION MARK}", text=_AUTO
    ),
    "mistakes": Sample(title="With mistakes", text=_MISTAKES),
}
