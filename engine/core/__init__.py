"""Framework of calculators: units, text, equations, inputs, views, module discovery."""
