"""The cost model, the simulators and the calculators: the only Python a reader's browser runs."""
