"""Overlap schedules."""
