"""The planner in words: what the terminal and the calculators say of plans."""
