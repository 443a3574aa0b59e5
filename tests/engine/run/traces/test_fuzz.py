import random

from tests.engine.run.traces.fuzz import mutated, tried


def test_damaged_traces_are_read_or_refused():
    chance = random.Random("a few damaged traces")
    counts = {"read": 0, "refused": 0}
    for _ in range(400):
        counts[tried(mutated(chance))] += 1
    assert min(counts.values()) > 40
