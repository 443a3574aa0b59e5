"""The command line: one module for each verb of build.py."""
