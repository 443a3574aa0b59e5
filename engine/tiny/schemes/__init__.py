"""Ways to train on several ranks; each file is one, and the folder is the registry."""
