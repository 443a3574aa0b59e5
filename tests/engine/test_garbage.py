"""What a reply leaves behind holds no circles: the Worker looks for some only in a pause."""

import gc
import json

from engine.answer import answer
from tests.each import each

# Numbers alone; a scene; trainings; searches in slices; a text that is read; an error.
ASKED = (
    {"calculator": "gradient_sync", "values": {"world_size": "128"}},
    {"calculator": "parallel_map", "values": {"tensor_parallel": "2"}},
    {"calculator": "tiny_checkpoints", "values": {"num_layers": "5"}},
    {"calculator": "zero_2_lab", "values": {"micro_batches": "2"}},
    {"calculator": "planner", "values": {"world_size": "16"}},
    {"calculator": "log_check"},
    {"calculator": "gradient_sync", "typed": {"port": "many"}},
)
# What is asked before, for all that is made once: defaults, but of a long search.
SHORTER = {"planner": {"world_size": "8"}}


@each("request", ASKED)
def test_a_reply_leaves_no_circles_behind(request):
    name = request["calculator"]
    answer(json.dumps({"calculator": name, "values": SHORTER.get(name, {})}))
    gc.disable()
    gc.freeze()  # what other tests have left is many times more, and is not looked at
    try:
        found = json.loads(answer(json.dumps(request)))
        assert gc.collect() == 0
    finally:
        gc.unfreeze()
        gc.enable()
    assert not found["problems"]
