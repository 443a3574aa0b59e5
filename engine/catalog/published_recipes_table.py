"""The text of `published_recipes_table.tsv` beside this file; in a browser, the text itself."""

from pkgutil import get_data

TEXT = (get_data(__package__, "published_recipes_table.tsv") or b"").decode()
