"""The runtime of the browser: Pyodide, byte code and archives."""
