"""One log of MLPerf® Training v5.1, read line by line: how its time is made up.

NVIDIA, theia_ngpu72_ngc25.09_nemo, llama31_8b, result_0.txt, in mlcommons/training_results_v5.1.
Differences of `time_ms`; steps and samples as its line `run_stop` has them.
"""

from engine.core.record import record
from engine.core.units import Count, Seconds


@record
class LogTimes:
    """Times of one log.

    Attributes:
        key: of the row whose first log it is.
        run: from `run_start` to `run_stop`, which is the time to train.
        start: from `init_start` to `run_start`, which does not count.
        steps: optimizer steps until the target was reached.
        samples: sequences that they trained on.
        evaluations: of the held-out set.
        evaluation: `validation_time` of the last one.
    """

    key: str
    run: Seconds
    start: Seconds
    steps: Count
    samples: Count
    evaluations: Count
    evaluation: Seconds


EXAMPLE = LogTimes(
    key="mlperf-v5.1-NVIDIA-theia_ngpu72_ngc25.09_nemo-llama31_8b",
    run=1759904427.582 - 1759903652.521,
    start=1759903652.521 - 1759903523.121,
    steps=5130,
    samples=184_680,
    evaluations=15,
    evaluation=1.160,
)
