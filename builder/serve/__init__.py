"""The local server with live reload."""
