"""Lines of software that was added later, as printed: (source, lines, steps that they mean).

Retyped from public reports: DeepSpeed issues 1825, 2629 and 3742, torchtitan issue 708, BioNeMo
recipes pull request 740, NeMo issue 14850, NeMo launcher issue 55, MaxText pull requests 761 and
2232, nanoGPT issues 110 and 178, litgpt issue 689, ms-swift issue 4146, LlamaFactory issue 774 and
pull request 10488, Automodel pull request 3473; the rest in the form of the sources that the
readers name.
"""

GiB = 2.0**30
LINES = {
    "GPT-NeoX under DeepSpeed": (
        "GPT-NeoX",
        "[2023-07-25 21:03:17,269] [INFO] [timer.py:215:stop] epoch=0/micro_step=34/global_step=34"
        ", RunningAvgSamplesPerSec=7.8646, CurrSamplesPerSec=8.0091, MemAllocated=59.65GB, "
        "MaxMemAllocated=63.31GB\n samples/sec: 7.799 | iteration       34/   10000 | elapsed time "
        "per iteration (ms): 4103.1 | learning rate: 2.111E-06 | approx flops per GPU: "
        "112.9TFLOPS | lm_loss: 1.118665E+01 | number of skipped iterations:   0 |\n"
        "[2023-07-25 21:03:21,492] [INFO] [timer.py:215:stop] epoch=0/micro_step=35/global_step=35"
        ", RunningAvgSamplesPerSec=7.8646, CurrSamplesPerSec=8.0091, MaxMemAllocated=63.31GB\n",
        [
            {
                "number": 34,
                "time": 4.1031,
                "sample_rate": 7.799,
                "batch": 32,
                "flops": 112.9e12,
                "allocated": 63.31 * GiB,
            }
        ],
    ),
    "BigScience's fork": (
        "Megatron-LM",
        " iteration     7600/ 128728 | consumed samples: 3891200 | elapsed time per iteration (s): "
        "1.0 | elapsed time per iteration (ms): 101250.0 | global batch size:  2048 | samples per "
        "second: 20.227 | TFLOPs: 156.11 |\n",
        [{"number": 7600, "time": 101.25, "batch": 2048, "flops": 156.11e12}],
    ),
    "torchtitan's wps": (
        "torchtitan",
        "0: [rank0]:2024-11-27 14:29:40,378 - root - INFO - step: 10  loss:  1.5568  memory: "
        "26.47GiB(33.47%)  wps: 1,786  mfu: 10.46%\n",
        [{"number": 10, "token_rate": 1786, "mfu": 0.1046, "reserved": 26.47 * GiB}],
    ),
    "DeepSpeed of 2022": (
        "DeepSpeed",
        "[2022-03-11 02:06:58,985] [INFO] [timer.py:189:stop] 0/40, SamplesPerSec=83.48609168, "
        "MemAllocated=0.26GB, MaxMemAllocated=9.02GB\n",
        [{"number": 40, "sample_rate": 83.48609168, "allocated": 9.02 * GiB}],
    ),
    "DeepSpeed 0.7": (
        "DeepSpeed",
        "stdout: [2022-12-20 08:26:26,101] [INFO] [timer.py:197:stop] 0/17, RunningAvgSamplesPerSec"
        "=158.3, CurrSamplesPerSec=159.6, MemAllocated=1.75GB, MaxMemAllocated=2.6GB\n",
        [{"number": 17, "sample_rate": 159.6, "allocated": 2.6 * GiB}],
    ),
    "NeMo 2": (
        "NeMo",
        " 0: Training epoch 0, iteration 8/29 | lr: 5.389e-06 | global_batch_size: 512 | "
        "global_step: 8 | max_memory_reserved: 57466159104 | max_memory_allocated: 53930270720 | "
        "reduced_train_loss: 10.22 | train_step_timing in s: 27.01 | consumed_samples: 4608 | "
        "TFLOPS_per_GPU: 48.58\n",
        [
            {
                "number": 8,
                "time": 27.01,
                "batch": 512,
                "reserved": 57466159104,
                "allocated": 53930270720,
                "flops": 48.58e12,
            }
        ],
    ),
    "NeMo 2 of BioNeMo": (
        "NeMo",
        "Training epoch 0, iteration 121/149 | lr: 3e-05 | consumed_samples: 122 | "
        "global_batch_size: 1 | global_step: 121 | reduced_train_loss: 1.288 | train_step_timing "
        "in s: 0.03163 | val_loss: 4.106\n",
        [{"number": 121, "time": 0.03163, "batch": 1}],
    ),
    "MaxText": (
        "MaxText",
        "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, "
        "total_weights: 196608, loss: 10.374\n",
        [{"number": 9, "time": 5.667, "token_rate": 8672.758, "flops": 134.924e12}],
    ),
    "MaxText of 2023": (
        "MaxText",
        "completed step: 15107, seconds: 2.167, TFLOP/s: 36.722, loss: 2.191\n",
        [{"number": 15107, "time": 2.167, "flops": 36.722e12}],
    ),
    "nanoGPT of 2023": (
        "nanoGPT",
        "iter 1631: loss 4.0863, time 561.94ms\niter 1632: loss 3.7441, time 563.15ms\n",
        [{"number": 1631, "time": 0.56194}, {"number": 1632, "time": 0.56315}],
    ),
    "nanoGPT": (
        "nanoGPT",
        "step 0: train loss 10.9, val loss 10.9\niter 1: loss 4.2648, time 9371.81ms, mfu "
        "-100.00%\niter 10: loss 3.2202, time 893.76ms, mfu 16.68%\n",
        [{"number": 1, "time": 9.37181}, {"number": 10, "time": 0.89376, "mfu": 0.1668}],
    ),
    "litgpt of 2023": (
        "litgpt",
        "iter 76 step 38: loss 10.8259, iter time: 197.87ms\n"
        "iter 77 step 39: loss 10.8259, iter time: 214.40ms (optimizer.step)\n",
        [{"number": 39, "time": 0.41227}],
    ),
    "Trainer": (
        "Hugging Face Trainer",
        "Loading checkpoint shards: 100%|##########| 4/4 [00:05<00:00,  1.30s/it]\n"
        "  0%|          | 1/690 [00:09<1:43:20,  9.00s/it]\r"
        "  0%|          | 2/690 [00:14<1:16:20,  6.70s/it]\n"
        "{'loss': 1.5214, 'grad_norm': 82.9, 'learning_rate': 1.4e-06, 'epoch': 0.01}\n"
        "  1%|          | 4/690 [00:25<1:01:44,  5.40s/it]\n"
        "100%|##########| 3/3 [00:01<00:00,  1.55it/s]\n",
        [
            {"number": 1, "time": 9.0},
            {"number": 2, "time": 6.7},
            {"number": 4, "time": 5.4},
        ],
    ),
    "Trainer's summary": (
        "Hugging Face Trainer",
        "{'train_runtime': 1891.9246, 'train_samples_per_second': 5.816, 'train_steps_per_second': "
        "0.365, 'train_loss': 0.31, 'epoch': 3.0}\n",
        [{"number": 691, "time": 1891.9246 / 691, "sample_rate": 5.816, "batch": 16}],
    ),
    "Trainer's summary in quotes": (
        "Hugging Face Trainer",
        "{'train_runtime': '101.6', 'train_samples_per_second': '3.544', "
        "'train_steps_per_second': '0.788', 'train_loss': '6.252', 'epoch': '40'}\n"
        "80/80 [01:41<00:00,  1.27s/it]\n",
        [{"number": 80, "time": 1.27}],
    ),
    "Trainer, fast": (
        "Hugging Face Trainer",
        " 10%|#         | 10/100 [00:05<00:45,  2.00it/s]\n",
        [{"number": 10, "time": 0.5}],
    ),
    "ms-swift": (
        "Hugging Face Trainer",
        "{'loss': 0.4850769, 'learning_rate': 1e-06, 'memory(GiB)': 69.19, 'train_speed(iter/s)': "
        "0.010367, 'epoch': 0.26, 'global_step/max_steps': '12/94', 'percentage': '12.77%', "
        "'elapsed_time': '18m 26s', 'remaining_time': '2h 5m 59s'}\n"
        "Train:  13%|#2        | 12/94 [18:26<2:06:00, 92.2s/it]\n",
        [{"number": 12, "time": 1 / 0.010367, "reserved": 69.19 * GiB}],
    ),
    "NeMo 1 of 2023": (
        "Hugging Face Trainer",
        "Epoch 0:   1%|          | 795/77225 [9:07:58<878:01:48, 41.36s/it, loss=3.1, v_num=, "
        "reduced_train_loss=3.090, global_step=794.0, consumed_samples=1.63e+6]\n",
        [{"number": 795, "time": 41.36}],
    ),
    "NeMo 1": (
        "Hugging Face Trainer",
        "Epoch 0: :   0%|          | 5/300000 [02:20<2343:11:54, v_num=, reduced_train_loss=11.00, "
        "global_step=4.000, consumed_samples=1024.0, train_step_timing in s=27.70]\n",
        [{"number": 4, "time": 27.7}],
    ),
    "LLM Foundry": (
        "LLM Foundry",
        "[batch=20/4800]:\n\t Train time/batch: 19\n\t Train memory/peak_reserved_mem: 21.5820\n"
        "\t Train throughput/batches_per_sec: 0.1250\n\t Train throughput/samples_per_sec: 64.0\n"
        "\t Train throughput/device/tokens_per_sec: 16384.0\n\t Train throughput/device/mfu: 0.41\n"
        "[Eval batch=3/3] Eval on eval data:\n\t Eval metrics/eval/LanguageCrossEntropy: 0.01\n",
        [
            {
                "number": 20,
                "time": 8.0,
                "sample_rate": 64.0,
                "token_rate": 16384.0,
                "mfu": 0.41,
                "reserved": 21.582e9,
            }
        ],
    ),
    "OLMo-core": (
        "OLMo-core",
        "2025-03-01 10:00:00.123\tnode-1:0\tolmo_core.train.callbacks.console_logger:92\tINFO\t"
        "[step=10/95000,epoch=1,eta=2 days]\n    optim/total grad norm=0.6821\n    train/CE loss="
        "2.419\n    throughput/device/BPS=0.5000\n    throughput/device/TPS=12,345\n    "
        "throughput/device/TPS (actual avg)=11,000\n    throughput/device/MFU=41.30\n    "
        "gpu_memory/GPU reserved mem (GiB)=70.50\n"
        "2025-03-01 10:00:02.123\tINFO\t[step=11/95000,epoch=1]\n",
        [
            {
                "number": 10,
                "time": 2.0,
                "token_rate": 12345,
                "mfu": 0.413,
                "reserved": 70.5 * GiB,
            }
        ],
    ),
    "MLPerf, time of a step": (
        "MLPerf",
        '0: :::MLLOG {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": '
        '"tracked_stats", "value": {"train_step_time": 0.415, "reduced_train_loss": 1.31}, '
        '"metadata": {"file": "/a.py", "lineno": 1, "samples_count": 384}}\n',
        [{"number": 384, "time": 0.415}],
    ),
    "MLPerf, sequences per second": (
        "MLPerf",
        '0: :::MLLOG {"namespace": "", "time_ms": 1721026805975, "event_type": "POINT_IN_TIME", '
        '"key": "tracked_stats", "value": {"throughput": 1.9257918929116467}, "metadata": {"file": '
        '"/workspace/ft-llm/custom_callbacks.py", "lineno": 161, "step": 3072}}\n',
        [{"number": 3072, "sample_rate": 1.9257918929116467}],
    ),
    "axolotl": (
        "Hugging Face Trainer",
        "{'loss': '0.7157', 'grad_norm': '12.79', 'learning_rate': '0', 'memory/max_active (GiB)': "
        "'2.98', 'memory/max_allocated (GiB)': '2.98', 'memory/device_reserved (GiB)': '4.12', "
        "'epoch': '0.1333'}\n  1%|          | 5/500 [00:21<35:03,  4.25s/it]\n",
        [{"number": 5, "time": 4.25, "allocated": 2.98 * GiB, "reserved": 4.12 * GiB}],
    ),
    "Primus": (
        "Megatron-LM",
        "[20250612 03:10:11][rank-7/8][INFO ] [trainer.py:2560] : iteration 126/ 5000 | consumed "
        "samples: 16128 | elapsed time per iteration (ms): 13372.8/13364.7 | hip mem usage/free/"
        "total/usage_ratio: 153.81GB/102.17GB/255.98GB/60.09% | throughput per GPU (TFLOP/s/GPU): "
        "567.6/568.0 | tokens per GPU (tokens/s/GPU): 9801.4/9807.3 | learning rate: 9.984820E-06 "
        "| global batch size: 128 | lm loss: 6.548988E-03 |\n",
        [{"number": 126, "time": 13.3728, "batch": 128, "flops": 567.6e12, "token_rate": 9801.4}],
    ),
    "Primus since July 2026": (
        "Megatron-LM",
        " iteration 127/ 5000 | elapsed time per iteration (ms): 13362.8/13364.7 | compute per GPU "
        "(TFLOP/s/GPU): 567.6 (avg 568.0) | tokens/s/GPU inst/harmonic mean: 9801.4/9807.3 | "
        "global batch size: 128 |\n",
        [{"number": 127, "time": 13.3628, "batch": 128, "flops": 567.6e12, "token_rate": 9801.4}],
    ),
    "Megatron-DeepSpeed": (
        "Megatron-LM",
        " iteration        6/      10 | consumed samples:        9216 | elapsed time per iteration "
        "(ms): 347319.2 | global batch size:  1536 | lm loss: 1.1E+01 | actual seqlen:  2048 | "
        "samples per second: 4.457 | tokens per gpu per second (tgs): 142.612 | TFLOPs: 153.38 |\n",
        [
            {
                "number": 6,
                "time": 347.3192,
                "batch": 1536,
                "flops": 153.38e12,
                "token_rate": 142.612,
            }
        ],
    ),
    "verl, fine-tuning": (
        "verl",
        "step:2 - train/loss:0.7787683010101318 - train/lr(1e-3):0.0005405405405405405 - "
        "train/time(s):7.293778896331787\nstep:2 - val/loss:1.1\n",
        [{"number": 2, "time": 7.293778896331787}],
    ),
    "LLaMA-Factory": (
        "LLaMA-Factory",
        "".join(
            f'{{"current_steps": {at}, "total_steps": 3235, "loss": 4.4671, "eval_loss": null, '
            f'"learning_rate": 1.4e-08, "epoch": 0.99, "percentage": 98.92, "elapsed_time": '
            f'"{elapsed}", "remaining_time": "0:03:25"}}\n'
            for at, elapsed in (
                (3200, "5:13:22"),
                (3210, "5:14:24"),
                (3220, "5:15:22"),
                (3220, "5:15:25"),
                (3230, "1 day, 5:16:20"),
            )
        ),
        [
            {"number": 3210, "time": 6.2},
            {"number": 3220, "time": 5.8},
            {"number": 3230, "time": (86400 + 55) / 10},
        ],
    ),
    "LLaMA-Factory, short steps": (
        "LLaMA-Factory",
        "".join(
            f'{{"current_steps": {at}, "total_steps": 9, "elapsed_time": "0:00:0{at // 2}"}}\n'
            for at in range(9)
        ),
        [{"number": 8, "time": 0.5}],
    ),
    "LLaMA-Factory at the end": (
        "Hugging Face Trainer",
        "***** train metrics *****\n  train_runtime            = 0:36:58.55\n"
        "  train_samples_per_second =      1.474\n  train_steps_per_second   =      0.185\n",
        [{"number": 1, "time": 1 / 0.185, "sample_rate": 1.474, "batch": 8}],
    ),
    "NeMo Automodel": (
        "NeMo Automodel",
        "2026-08-10 15:55:23 | INFO | root | step 10 | epoch 0 | loss 0.8534 | grad_norm 1.5040 | "
        "lr 1.00e-05 | mem 29.67 GiB | tps 13746.23(1718.28/gpu) | num_label_tokens 29550\n"
        "2026-08-10 15:55:24 | INFO | root | [val] step 10 | epoch 0 | loss 0.8534 | lr 1.00e-05 "
        "| num_label_tokens 21541\n",
        [
            {
                "number": 10,
                "time": 29550 / 13746.23,
                "token_rate": 1718.28,
                "allocated": 29.67 * GiB,
            }
        ],
    ),
}
