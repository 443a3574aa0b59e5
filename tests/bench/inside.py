"""What runs inside Pyodide begins alike: the engine's sources are written and can be imported."""

# The beginning of `run(text)`; its request has the "sources", path -> text.
BEGIN = """
import json, sys, time
from pathlib import Path

def run(text):
    request = json.loads(text)
    for path, source in request["sources"].items():
        target = Path("/wallclock", path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source)
    sys.path.insert(0, "/wallclock")
"""
