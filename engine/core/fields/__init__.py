"""Input field types, one module each; calculators import them from `engine.core.inputs`."""
