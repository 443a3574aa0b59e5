"""All commands, of the job, the GPU and the network, by name."""

from engine.form.commands import gpu, job, network
from engine.form.commands.command import Command

COMMANDS: dict[str, Command] = {**job.COMMANDS, **gpu.COMMANDS, **network.COMMANDS}
