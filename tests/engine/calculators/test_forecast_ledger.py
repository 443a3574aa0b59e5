"""The table of forecasts: steps of different batches are comparable."""

import json

from engine.calculators.reference.forecast_ledger import open_table
from engine.catalog.forecasts import forecasts
from engine.core.numbers import format_value
from engine.core.units import TOKEN_RATE
from engine.core.views import cell_text


def test_the_rate_of_a_row_follows_from_its_batch_and_its_step():
    table, row = open_table(), next(iter(forecasts()))
    run = json.loads(row.run)
    tokens = run["training"]["global_batch_size"] * run["sequence_length"]
    rate = tokens / row.step / run["parallelism"]["world_size"]
    assert cell_text(table.rows[0][table.columns.index("Per GPU")]) == format_value(
        rate, TOKEN_RATE
    )
