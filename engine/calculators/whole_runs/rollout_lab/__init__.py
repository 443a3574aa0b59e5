"""A step of reinforcement learning, simulated."""
