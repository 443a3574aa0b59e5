"""The planner: every valid plan of a job, timed, checked for memory, ranked and explained."""
