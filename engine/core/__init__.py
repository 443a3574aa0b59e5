"""What all is written in: units, text, equations, inputs, views, discovery."""
