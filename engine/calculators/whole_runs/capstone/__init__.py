"""Capstone: four jobs on 64 GPUs."""
