"""The text of `nccl_tuner_table.tsv` beside this file; in a browser, the text itself."""

from pkgutil import get_data

TEXT = (get_data(__package__, "nccl_tuner_table.tsv") or b"").decode()
