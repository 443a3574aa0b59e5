"""Parsing of a reader's configuration, cached for its check and its results."""

from dataclasses import replace
from functools import lru_cache

from engine.catalog.nodes import NODES
from engine.catalog.reader_constants import parse_constants
from engine.run.importers.assemble import ImportDefaults, ImportedRun, import_run

AS_SAID = "as-said"


@lru_cache(maxsize=4)
def parse_job_text(
    text: str,
    model: str = AS_SAID,
    node: str = "dgx-h100",
    gpus: int = 0,
    own_constants: str = "",
    leave_out: bool = False,
) -> ImportedRun:
    """Return the job in a text; model, machines and GPUs are its defaults.

    `own_constants` are constants that the reader measured on the machines; `leave_out` says that
    texts which no reader takes may stay unread.
    """
    machine = NODES[node]
    cluster: dict[str, object] = {
        "gpu": machine.gpu,
        "gpus_per_node": machine.gpus_per_node,
        "nics_per_node": machine.nics_per_node,
        "nic_bandwidth": machine.nic_bandwidth,
    }
    known = "" if model == AS_SAID else model
    defaults = ImportDefaults(
        model=known, cluster=cluster, world_size=gpus, leave_out=("all",) if leave_out else ()
    )
    job = import_run(text, defaults)
    if job.run is None or not own_constants:
        return job
    cluster_of_run = replace(job.run.cluster, own_constants=parse_constants(own_constants))
    return replace(job, run=replace(job.run, cluster=cluster_of_run))
