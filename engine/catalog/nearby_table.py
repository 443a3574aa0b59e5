"""The text of `nearby_table.tsv` beside this file; in a browser, the text itself."""

from pkgutil import get_data

TEXT = (get_data(__package__, "nearby_table.tsv") or b"").decode()
