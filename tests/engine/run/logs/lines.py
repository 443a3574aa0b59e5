"""Lines as training software printed them, retyped: (source, lines, steps that they mean).

Megatron-LM of 2021, 2025 and 2026 and BigScience's of 2022, torchtitan with and without colors and
with more fields, DeepSpeed's timer and its pipeline, nanotron of 2023, 2024 and 2026, litgpt. What
is not named, no line says.
"""

from tests.engine.run.logs.more_lines import LINES as MORE_LINES

GiB = 2.0**30
MiB = 2.0**20
LINES = {
    "Megatron-LM 2025": (
        "Megatron-LM",
        " [2025-04-13 23:41:12] iteration       10/    1000 | consumed samples:          160 | "
        "elapsed time per iteration (ms): 1147.6 | learning rate: 0.000000E+00 | global batch "
        "size:    16 | loss scale: 8388608.0 | number of skipped iterations:  10 | number of nan "
        "iterations:   0 |\nNumber of parameters in transformer block in billions:  0.08\n"
        "[Rank 0] (after 10 iterations) memory (MB) | allocated: 1000.5 | max allocated: 20480.25 "
        "| reserved: 21000.0 | max reserved: 22528.0\n",
        [
            {
                "number": 10,
                "time": 1.1476,
                "batch": 16,
                "allocated": 20480.25 * MiB,
                "reserved": 22528 * MiB,
            }
        ],
    ),
    "Megatron-LM with throughput": (
        "Megatron-LM",
        " iteration      200/    1000 | consumed samples:          800 | elapsed time per "
        "iteration (ms): 430.0 | throughput per GPU (TFLOP/s/GPU): 412.3 | "
        "global batch size:     4 | lm loss: 7.399415E+00 | grad norm: 2.918 |\n"
        "time (ms) | forward-compute: 53.79 | forward-recv: 38.38 | backward-compute: 138.84\n",
        [{"number": 200, "time": 0.43, "batch": 4, "flops": 412.3e12}],
    ),
    "Megatron-DeepSpeed 2022": (
        "Megatron-LM",
        "iteration      199/  317892 | consumed samples:       152832 | consumed tokens:    "
        "625999872 | elapsed time per iteration (ms): 14287.5 | learning rate: 2.407E-04 | global "
        "batch size:   768 | lm loss: 5.905366E+00 | loss scale: 8192.0 | actual seqlen:  4096 |\n"
        "iteration      200/  317892 | consumed samples:       153600 | elapsed time per iteration "
        "(ms): 14290.1 | global batch size:   768 |\n",
        [
            {"number": 199, "time": 14.2875, "batch": 768},
            {"number": 200, "time": 14.2901, "batch": 768},
        ],
    ),
    "torchtitan in colors": (
        "torchtitan",
        "[rank0]:[titan] 2025-02-03 10:00:00,1 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  "
        "7.0012  \x1b[38;2;180;60;0mgrad_norm:  1.2044  \x1b[38;2;54;234;195mmemory: 40.43GiB"
        "(42.56%)  \x1b[34mtps: 5,762  \x1b[36mtflops: 333.68  \x1b[35mmfu: 33.74%\x1b[39m\n",
        [
            {
                "number": 10,
                "token_rate": 5762,
                "reserved": 40.43 * GiB,
                "mfu": 0.3374,
                "flops": 333.68e12,
            }
        ],
    ),
    "torchtitan of 2024": (
        "torchtitan",
        "[rank0]:2024-12-05 12:00:00,000 - root - INFO - step:  1  loss: 12.2721  memory:  3.91GiB"
        "(4.11%)  tps: 87  mfu: 0.51%\n",
        [{"number": 1, "token_rate": 87, "mfu": 0.0051, "reserved": 3.91 * GiB}],
    ),
    "torchtitan on a GPU without a peak": (
        "torchtitan",
        "INFO - step: 20  loss:  5.12345  grad_norm:  0.9  memory: 12.00GiB(25.0%)  tps: 1,204  "
        "tflops: 88.1  mfu: N/A\n",
        [{"number": 20, "token_rate": 1204, "reserved": 12 * GiB, "flops": 88.1e12}],
    ),
    "DeepSpeed": (
        "DeepSpeed",
        "[2024-03-07 15:27:02,646] [INFO] [timer.py:260:stop] epoch=0/micro_step=199/global_step="
        "199, RunningAvgSamplesPerSec=58.730622229657506, CurrSamplesPerSec=61.35304005128382, "
        "MemAllocated=6.01GB, MaxMemAllocated=19.52GB\n",
        [{"number": 199, "sample_rate": 61.35304005128382, "allocated": 19.52 * GiB}],
    ),
    "nanotron 2024": (
        "nanotron",
        "08/31/2024 14:37:31 [INFO|DP=0|PP=0|TP=0]: iteration: 1 / 15 | consumed_tokens: 512 | "
        "elapsed_time_per_iteration_ms: 4.71K | tokens_per_sec: 109 | tokens_per_sec_per_gpu: 109 "
        "| global_batch_size: 2 | lm_loss: 5.32 | lr: 0.00015 | model_tflops_per_gpu: 1.87e-05 | "
        "hardware_tflops_per_gpu: 1.87e-05 | grad_norm: 2.96 | cuda_memory_allocated: 67.4M | "
        "cuda_max_memory_reserved: 520M | hd_total_memory_tb: 2.13T\n",
        [
            {
                "number": 1,
                "time": 4.71,
                "token_rate": 109,
                "batch": 2,
                "reserved": 520e6,
                "flops": 1.87e7,
            }
        ],
    ),
    "nanotron 2023": (
        "nanotron",
        "[default0]: iteration: 20 / 100 | elapsed_time_per_iteration_ms: 1204.5 | tokens_per_sec: "
        "4.352000E+05 | tokens_per_sec_per_gpu: 6.800000E+03 | global_batch_size:    64 | lm_loss: "
        "7.1E+00 |\n",
        [{"number": 20, "time": 1.2045, "token_rate": 6800, "batch": 64}],
    ),
    "litgpt": (
        "litgpt",
        "Epoch 1 | iter 1 step 0 | loss train: 10.971, val: n/a | iter time: 500.12 ms remaining "
        "time: 1:00:00\nEpoch 1 | iter 2 step 1 | loss train: 10.900, val: n/a | iter time: 600.00 "
        "ms (step) remaining time: 0:59:00\nEpoch 1 | iter 3 step 1 | loss train: 10.8, val: n/a | "
        "iter time: 400.00 ms remaining time: 0:58:00\n",
        [{"number": 1, "time": 1.10012}],
    ),
    # src/nanotron/trainer.py of 2411b022, whose batch is in tokens, and its line of memory
    "nanotron 2026": (
        "nanotron",
        "01/12/2026 10:00:00 [INFO|DP=0|PP=0|TP=0]: iteration: 30 / 2000 | consumed_tokens: 31.5M "
        "| time_per_iteration_ms: 1.31K | tokens_per_sec: 800K | tokens_per_sec_per_gpu: 12.5K | "
        "global_batch_size: 1.05M | lm_loss: 6.21 | lr: 0.0003 | model_tflops_per_gpu: 412 | "
        "grad_norm: 0.92 | eta: 0:43:02\n01/12/2026 10:00:00 [INFO|DP=0|PP=0|TP=0]:  Memory "
        "usage: 20480.00MiB. Peak allocated 40960.00MiB. Peak reserved: 51200.00MiB\n",
        [
            {
                "number": 30,
                "time": 1310 / 1e3,
                "token_rate": 12_500,
                "batch": 0,
                "flops": 412e12,
                "allocated": 40960 * MiB,
                "reserved": 51200 * MiB,
            }
        ],
    ),
    # deepspeed/runtime/pipe/engine.py of edaa7221
    "DeepSpeed's pipeline": (
        "DeepSpeed",
        "steps: 40 loss: 5.1234 iter time (s): 2.048 samples/sec: 125.000\n"
        "steps: 50 loss: 5.0100 lm loss: 4.9 iter time (s): 2.000 samples/sec: 128.000\n",
        [
            {"number": 40, "time": 2.048, "sample_rate": 125.0, "batch": 256},
            {"number": 50, "time": 2.0, "sample_rate": 128.0, "batch": 256},
        ],
    ),
    # litgpt/pretrain.py of 26857050: the report at the end
    "litgpt with its report": (
        "litgpt",
        "Epoch 1 | iter 1 step 1 | loss train: 10.971, val: n/a | iter time: 500.00 ms (step) "
        "remaining time: 1:00:00\n| Performance\n| - Total tokens  : 16,384\n"
        "| Memory Usage\n| - Memory Used   : 26.81 GB\n",
        [{"number": 1, "time": 0.5, "allocated": 26.81e9}],
    ),
    # megatron/training/training.py and utils.py of d98e8a64
    "Megatron-LM 2026": (
        "Megatron-LM",
        " [2026-08-22 15:22:22.123456] iteration       50/     100 | consumed samples:        "
        "12800 | elapsed time per iteration (ms): 5012.5 | throughput per GPU (TFLOP/s/GPU): 480.1 "
        "| energy per GPU (J/iter/GPU): 3050.0 | power per GPU (W/GPU): 608.5 | learning rate: "
        "1.000000E-04 | global batch size:   256 | lm loss: 5.1E+00 | loss scale: 1.0 | grad norm: "
        "0.501 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"
        "[Rank 0] (after 50 iterations) memory (MB) | allocated: 100.00 | max allocated: 61440.00 "
        "| reserved: 200.00 | max reserved: 65536.00 | total device memory used: 70000.00\n",
        [
            {
                "number": 50,
                "time": 5.0125,
                "batch": 256,
                "flops": 480.1e12,
                "allocated": 61440 * MiB,
                "reserved": 65536 * MiB,
            }
        ],
    ),
    **MORE_LINES,
}
