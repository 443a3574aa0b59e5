"""The text of `trace_sample.json` beside this file; in a browser, the text itself."""

from pkgutil import get_data

TEXT = (get_data(__package__, "trace_sample.json") or b"").decode()
