"""How the model is checked."""
