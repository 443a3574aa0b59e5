"""A whole job: failures, checkpoints, forecasts, data, reinforcement learning."""
