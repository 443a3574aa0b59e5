"""Pipeline schedules: simulation, bubbles and memory."""
