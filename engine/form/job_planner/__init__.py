"""The planner as a tool: any job on any machines, from a question to a plan to a date."""
