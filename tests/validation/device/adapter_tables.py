"""What was measured of steps that train adapters, and what the engine says of the same."""

from collections.abc import Iterator
from functools import partial

from engine.catalog.models import MODELS
from engine.run.parallelism import Plan
from engine.simulate.layer.adapters import adapter_memory
from engine.simulate.memory.cast_weights import reserved_after_cast
from engine.simulate.memory.memory_moments import peak_tensor_bytes
from engine.simulate.step.step_time import step_time
from tests.validation.device.tables import Pair, cluster_of, table, training_of

RANK = 16  # as in lora.py, which needs PyTorch


def adapters() -> Iterator[Pair]:
    """Steps with adapters and, beside them, all parameters: time, memory allocated and reserved.

    FSDP1 with base and adapters in one unit is compared in memory alone.
    """
    for row in table("lora"):
        compiled, trained = row["compiled"] == "1", row["trained"]
        rank = 0 if trained == "full" else RANK
        training = training_of(
            row,
            framework="fsdp",
            compiled=compiled,
            recompute=row["recompute"],
            lora_rank=rank,
            lora_layers="all",
        )
        model, plan = MODELS[row["model"]], Plan(world_size=1, zero_stage=3)
        trapped = trained == "together"
        kind = "lora" if rank else "full"
        held = adapter_memory(model, plan, training, kind, trapped=trapped)
        after = partial(reserved_after_cast, model, plan, training)  # see `adapted` in lora.py
        names = ("model", "batch", "length", "recompute")
        facts = {"gpu": row["device"], "name": ", ".join(row[key] for key in names)}
        style = {"full": "all trained", "together": "one unit"}.get(
            trained, "compiled" if compiled else "eager"
        )
        yield Pair(
            kind=f"LoRA memory, {style}",
            measured=float(row["allocated"]),
            predicted=peak_tensor_bytes(model, plan, training, held),
            **facts,
        )
        yield Pair(
            kind=f"LoRA memory reserved, {style}",
            measured=float(row["reserved"]),
            predicted=after(held, trapped=trapped) if rank else held.reserved,
            **facts,
        )
        if not trapped:
            time = step_time(model, cluster_of(row["device"]), plan, training).total
            yield Pair(
                kind=f"LoRA time, {style}", measured=float(row["time"]), predicted=time, **facts
            )
