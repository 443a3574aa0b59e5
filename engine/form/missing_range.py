"""Assumptions that explain why a step time has no range."""

NO_RANGE = "No published step was compared with this computation, so it has no range."
SYNTHETIC_JOB = "The job is made up: nobody measured it, so it has no range."
