"""The text of `forecast_scores_table.tsv` beside this file; in a browser, the text itself."""

from pkgutil import get_data

TEXT = (get_data(__package__, "forecast_scores_table.tsv") or b"").decode()
