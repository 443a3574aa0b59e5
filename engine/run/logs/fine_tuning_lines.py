"""Readers of fine-tuning: verl's SFT trainer, LLaMA-Factory's trainer_log.jsonl, NeMo Automodel.

Sources of the formats: verl/trainer/sft_trainer.py and verl/utils/logger/aggregate_logger.py, which
joins the metrics of a step by " - "; src/llamafactory/train/callbacks.py, `LogCallback`;
nemo_automodel/recipes/llm/train_ft.py, `log_train_metrics`.
"""

import re
from dataclasses import replace
from itertools import pairwise

from engine.core.units import GiB, Seconds
from engine.run.logs.logged_step import LoggedStep, finite, plain_number_after, whole

_VERL = re.compile(r"\bstep:(\d{1,12}) - ")
_FACTORY = re.compile(
    r'"current_steps": (\d{1,12}),.{0,400}"elapsed_time": "(?:(\d{1,4}) days?, )?'
    r'(\d{1,6}):(\d\d):(\d\d)"'
)
_AUTOMODEL = re.compile(
    r"(?<!\[val\] )\bstep (\d{1,12}) \| epoch \d{1,9} \|.{0,300}\| mem (\d{1,9}\.\d{1,4}) GiB \| "
    r"tps (\d{1,15}\.\d{1,4})\((\d{1,15}\.\d{1,4})/gpu\) \| num_label_tokens (\d{1,15})"
)
# Times are printed in whole seconds: differences below this say too little each.
_COARSE: Seconds = 10.0


def verl(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read a step of verl's SFT trainer; its lines of reinforcement learning have no such time."""
    match = _VERL.search(line)
    if match is None or "train/time(s):" not in line:
        return
    steps.append(
        LoggedStep(
            line=number,
            number=whole(float(match[1])),
            time=plain_number_after("train/time(s):", line),
            mfu=plain_number_after("train/mfu:", line),
        )
    )


def llama_factory(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Take the time since the start; `llama_factory_steps` makes steps of the differences."""
    if match := _FACTORY.search(line):
        days, hours, minutes, seconds = (int(match[at] or 0) for at in range(2, 6))
        elapsed = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        steps.append(LoggedStep(line=number, number=int(match[1]), time=finite(float(elapsed))))


def llama_factory_steps(steps: list[LoggedStep]) -> list[LoggedStep]:
    """Return steps whose times are the differences, or one with their mean where they are short."""
    pairs = [
        (later, later.time - earlier.time, later.number - earlier.number)
        for earlier, later in pairwise(steps)
        if later.number > earlier.number and later.time >= earlier.time
    ]
    elapsed = sum(time for _, time, _ in pairs)
    if not elapsed:
        return []
    if elapsed < _COARSE * len(pairs):
        mean = elapsed / sum(count for _, _, count in pairs)
        return [replace(pairs[-1][0], time=mean)]
    return [replace(step, time=time / count) for step, time, count in pairs if time]


def automodel(number: int, line: str, steps: list[LoggedStep]) -> None:
    """Read NeMo Automodel, which prints no time.

    Its rate counts all tokens but the padding behind them, and those with a label are printed. So
    their ratio is the time where each token has a label, and less than it elsewhere.
    """
    if match := _AUTOMODEL.search(line):
        rate = finite(float(match[3]))
        steps.append(
            LoggedStep(
                line=number,
                number=whole(float(match[1])),
                time=float(match[5]) / rate if rate else 0.0,
                token_rate=finite(float(match[4])),
                allocated=float(match[2]) * GiB,
            )
        )
