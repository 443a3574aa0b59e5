"""Write the sample trace again: python -m tests.engine.simulate.profile_analysis.write_sample."""

from pathlib import Path

from engine.simulate.profile_analysis.sample import sample_text

TARGET = Path(__file__).parents[4] / "engine" / "form" / "trace_sample.json"

if __name__ == "__main__":
    TARGET.write_text(sample_text(), encoding="utf-8")
