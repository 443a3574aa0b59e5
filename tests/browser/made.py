"""A page without an engine: views of one pipeline run, drawn by the site's own templates."""

import functools
import http.server
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from builder.figures import bokeh_documents, static_charts
from builder.theme.templates import load_templates
from engine.core.numbers import DEFAULT
from engine.core.units import BYTES, COUNT, SECONDS
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Chart,
    Frame,
    Lane,
    Rule,
    Scene,
    Segment,
    Series,
    Shape,
    Span,
    Table,
    Timeline,
)
from engine.draw.export_text import table_text
from engine.draw.reply_extras import chart_alt_text
from engine.draw.view_json import view_json
from tests.browser.hosting import hosting

THEME = Path(__file__).parents[2] / "theme"
POLICY = "script-src 'self'; style-src 'self' 'unsafe-inline'"
BOOT = """
import * as chart from "./charts/charts.js";
import { queryAll } from "./page/dom.js";
import { prepareScene } from "./player/scene.js";
import "./charts/linked_views.js";
window.chart = chart;
chart.prepareCharts();
for (const figure of queryAll("[data-kind=scene]")) prepareScene(figure);
"""


def schedule(stages=4, micro_batches=6, *, forward=1e-3, backward=2e-3):
    """All forwards, then all backwards, on every stage; each waits for its neighbor."""
    spans: dict[str, Span] = {}
    free = [0.0] * stages

    def run(name, kind, stage, number, time, after):
        start = max([free[stage], *(spans[key].end for key in after)])
        free[stage] = start + time
        spans[name] = Span(
            key=name,
            lane=f"stage{stage}",
            start=start,
            end=start + time,
            label=f"{kind}{number}",
            color="compute" if kind == "F" else "communication",
            links=(f"batch:{number}", f"stage:{stage}"),
            after=after,
        )

    for number in range(micro_batches):
        for stage in range(stages):
            before = (f"F{number}.{stage - 1}",) if stage else ()
            run(f"F{number}.{stage}", "F", stage, number, forward, before)
    for number in range(micro_batches):
        for stage in reversed(range(stages)):
            last = stage == stages - 1
            before = (f"F{number}.{stage}",) if last else (f"B{number}.{stage + 1}",)
            run(f"B{number}.{stage}", "B", stage, number, backward, before)
    return tuple(spans.values()), max(free)


def in_flight(spans, stage):
    """Micro-batches whose activations a stage holds, over time."""
    changes = sorted(
        (span.end, 1 if span.label[0] == "F" else -1)
        for span in spans
        if span.lane == f"stage{stage}"
    )
    held, x, y = 0, [0.0], [0.0]
    for time, change in changes:
        held += change
        x.append(time)
        y.append(float(held))
    return Series(
        key=str(stage), label=f"stage {stage}", x=tuple(x), y=tuple(y), color="activations"
    )


def views(stages=4, micro_batches=6, **times):
    """A timeline with a player, bars, a table and a scene of the same stages."""
    spans, end = schedule(stages, micro_batches, **times)
    segments = [
        Segment(key="w", label="weights", value=2e9, color="parameters", links=("layer:0",)),
        Segment(key="a", label="activations", value=1e9, color="activations"),
    ]
    shapes = tuple(
        Shape(
            key=f"s{i}",
            tag="rect",
            attributes={
                "class": "rank c-compute",
                "data-links": f"stage:{i}",
                **{"x": f"{20 + 90 * i}", "y": "20", "width": "80", "height": "50"},
            },
        )
        for i in range(min(stages, 8))
    )
    return {
        "run": Timeline(
            title="A pipeline",
            axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.03),
            lanes=tuple(
                Lane(key=f"stage{i}", label=f"stage {i}", links=(f"stage:{i}",))
                for i in range(stages)
            ),
            spans=spans,
            rules=(Rule(key="end", label="step ends", axis="x", at=end),),
            curves=(in_flight(spans, 0), in_flight(spans, stages - 1)),
            curve_axis=Axis(label="in flight", quantity=COUNT, low=0.0, high=micro_batches + 0.5),
            player=True,
        ),
        "memory": Bars(
            title="Memory",
            axis=Axis(label="bytes", quantity=BYTES, low=0.0, high=4e9),
            bars=tuple(
                Bar(key=str(i), label=f"stage {i}", links=(f"stage:{i}",), segments=tuple(segments))
                for i in range(min(stages, 4))
            ),
        ),
        "stages": Table(
            title="Stages",
            columns=("stage", "layers"),
            rows=tuple((f"stage {i}", f"{i}") for i in range(min(stages, 8))),
            links=tuple((f"stage:{i}",) for i in range(min(stages, 8))),
        ),
        "picture": Scene(
            title="Stages in a row",
            width=20 + 90 * min(stages, 8),
            height=90,
            frames=(Frame(caption="One.", shapes=shapes), Frame(caption="Two.", shapes=shapes)),
        ),
    }


def write_page(folder: Path, made, other=None) -> None:
    """Write the page and all it needs; `other.json` holds the views of another run."""
    sent = {name: view_json(view, DEFAULT) for name, view in made.items()}
    charts = {n: v for n, v in made.items() if isinstance(v, Chart)}
    drawn = static_charts.draw_charts(
        THEME,
        {n: {"view": sent[n], "spoken": chart_alt_text(v, DEFAULT)} for n, v in charts.items()},
    )
    tables = {n: table_text(v, DEFAULT) for n, v in charts.items()}
    extra = SimpleNamespace(svg=drawn, table=tables)
    ctx = SimpleNamespace(name="made", outputs=sent, fields=(), reply=SimpleNamespace(extra=extra))
    templates = load_templates(THEME / "templates", folder / "kept")
    macros = templates.get_template("calculator.html")
    told = templates.get_template("panels/live.html").render()
    blocks = "".join(str(macros.module.output_block(ctx, name)) for name in made)
    items = {
        f"made.{name}": bokeh_documents.json_item(f"made.{name}", view)
        if isinstance(made[name], Chart)
        else view
        for name, view in sent.items()
    }
    folder.mkdir(exist_ok=True)
    (folder / "figures.json").write_text(json.dumps(items), encoding="utf-8")
    another = {name: view_json(view, DEFAULT) for name, view in (other or made).items()}
    (folder / "other.json").write_text(json.dumps(another), encoding="utf-8")
    (folder / "bokeh.js").write_bytes(bokeh_documents.bokeh_js())
    (folder / "boot.js").write_text(BOOT, encoding="utf-8")
    shutil.copytree(THEME / "runtime", folder, dirs_exist_ok=True)
    css = "".join(path.read_text("utf-8") for path in sorted((THEME / "styles").glob("*.css")))
    (folder / "style.css").write_text(css, encoding="utf-8")
    (folder / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Made</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css">'
        '<body data-figures="figures.json" data-bokeh="bokeh.js">'
        f'<main id="main" class="sheet"><article><h1>Made</h1>{blocks}</article></main>'
        f"{macros.module.live_region()}{told}"
        '<script type="module" src="boot.js"></script>',
        encoding="utf-8",
    )


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A host that says nothing."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Yield the address of a folder."""
    handler = functools.partial(Quiet, directory=str(folder))
    with hosting(handler) as port:
        yield f"http://127.0.0.1:{port}/"
