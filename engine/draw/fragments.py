"""HTML fragments of text views, rendered at build time and in the Worker."""

import re
from collections.abc import Iterable, Sequence

from engine.core.numbers import Display, format_value
from engine.core.text import Text
from engine.core.views import (
    Advice,
    Badge,
    CalculatorLink,
    Cell,
    Challenge,
    Citation,
    ColoredText,
    Remedy,
    Table,
    WebLink,
    table_texts,
)
from engine.draw.escape import escape
from engine.draw.line_breaking import bind_units, break_long_names, keep_names_whole, page_text

_LONG_SENTENCE = 150  # letters of a cell that gets twice the room of a sentence
_SHORT = 10  # letters of a row's name that fit on one line of a narrow table
_NUMBER = re.compile(r"\d[\d.,:/]*(?:\s?[^\s\d]{1,5})?")  # with its unit


def badge_fragment(view: Badge, display: Display) -> str:
    """Return the badge and its sentence as HTML."""
    return (
        f'<strong class="badge c-{view.color}">{escape(view.text)}</strong> '
        f"{_text_html(view.sentence, display)}"
    )


def _text_html(text: Text, display: Display) -> str:
    return keep_names_whole(escape(page_text(text, display)))


def table_fragment(
    view: Table, display: Display, cell_texts: Sequence[Sequence[str]] | None = None
) -> str:
    """Return the table as HTML; empty when there are no rows.

    `cell_texts` are the words of all cells, where they are known.
    """
    if not view.rows:
        return ""
    # A column without a name holds links that say for themselves what they open.
    head = "".join(
        f'<th scope="col">{escape(column)}</th>' if column else "<td></td>"
        for column in view.columns
    )
    cell_texts = cell_texts or table_texts(view, display)
    rows = [list(map(_cell, *pair)) for pair in zip(view.rows, cell_texts, strict=True)]
    kind = stack_class(view.columns, rows)
    names = view.columns if kind else ()
    numbered = all(row[0][:1].isdigit() for row in rows)
    body = "".join(
        _row(row, _row_attributes(view, i), names, numbered) for i, row in enumerate(rows)
    )
    caption = f"<caption>{escape(view.title)}</caption>" if view.title else ""
    note = f'<p class="caption">{_text_html(view.caption, display)}</p>' if view.caption else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(view.title)}">'
        f"{_table_tag(kind, names)}{caption}<thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>{note}"
    )


def _table_tag(kind: str, names: Sequence[str]) -> str:
    """Return the opening tag; the longest column name sets the width of cell names."""
    if not kind:
        return "<table>"
    # As blocks the rows are no table to a browser any more; the roles keep them one to a reader.
    longest = max(map(len, names[1:]), default=0)
    # Each column's name is told once: its cells show it where they stand below one another.
    column_names = "".join(
        f";--{i}:{_css_string(name)}" for i, name in enumerate(names[1:], 2) if name
    )
    return f'<table class="{kind}" role="table" style="--name:{longest}{column_names}">'


def _css_string(name: str) -> str:
    """Return a text as a CSS string for a style attribute."""
    bare = bind_units(name).replace("\\", "\\\\").replace("'", "\\'").replace('"', "\\22 ")
    return f"'{escape(bare, quote=False)}'"


def cite_links(keys: Iterable[str]) -> str:
    """Return citation links; the page replaces each key by "Author Year"."""
    return ", ".join(f'<a data-cite="{key}" href="#ref-{key}">{key}</a>' for key in keys)


def _cell(cell: Cell, cell_text: str) -> str:
    if isinstance(cell, CalculatorLink):
        query = escape(cell.query)
        kept = f' data-set="{query}"' if cell.keeps else ""
        kept += f' data-job="{escape(cell.job)}"' if cell.job else ""
        page = f"../../{cell.page}/" if cell.page else ""
        return f'<a href="{page}?{query}#{cell.calculator}"{kept}>{escape(cell.text)}</a>'
    if isinstance(cell, ColoredText):
        return f'<span class="c-{cell.color}">{escape(cell.text)}</span>'
    if isinstance(cell, WebLink):
        return f'<a href="{escape(cell.address)}">{escape(cell.text)}</a>'
    return cite_links(cell.keys) if isinstance(cell, Citation) else escape(cell_text)


def _row_attributes(view: Table, index: int) -> str:
    """Return the link attributes of a row; the first linked row is in the tab order."""
    links = view.links[index] if view.links else ()
    if not links:
        return ""
    first = index == next(i for i, names in enumerate(view.links) if names)
    return f' data-links="{escape(" ".join(links))}" tabindex="{0 if first else -1}"'


def _row(cells: list[str], attributes: str, names: Sequence[str], numbered: bool) -> str:
    """Return a table row; with column `names` its cells can be stacked."""
    first, *others = cells
    # A header without a word is none to a screen reader.
    head = f'<th scope="row"{_width(first)}>{_long_cell(first)}</th>' if first else "<td></td>"
    data = list(map(_data_cell, others))
    if not names:
        return f"<tr{attributes}>{head}{''.join(data)}</tr>"
    # A number as the name of a row says nothing without that of its column; a sentence does.
    bare = numbered or _NUMBER.fullmatch(first)
    label = f' data-label="{escape(bind_units(names[0]))}"' if bare else ""
    head = head.replace('<th scope="row"', f'<th role="rowheader"{label}', 1).replace(
        "<td", '<td role="cell"', 1
    )
    labeled = "".join(cell.replace("<td", '<td role="cell"', 1) for cell in data)
    return f'<tr role="row"{attributes}>{head}{labeled}</tr>'


def _width(head: str) -> str:
    """Return the class attribute of a row header: "short" stays on one line, "long" is wide."""
    if len(head) <= _SHORT:
        return ' class="short"'
    return ' class="long"' if len(head) > 2 * _SHORT else ""


def _data_cell(cell: str) -> str:
    # Numbers stay on one line; words, and what is as long as a sentence, may break.
    shown = visible_length(cell)
    if shown > LINE:
        more = " longer" if shown > _LONG_SENTENCE else ""
        return f'<td class="long{more}">{_long_cell(cell)}</td>'
    kind = "" if stays_on_line(cell, shown) else ' class="words"'
    return f"<td{kind}>{_short_cell(cell) if shown <= WORDS else _long_cell(cell)}</td>"


def _short_cell(cell: str) -> str:
    """Return a cell whose number keeps its unit on the same line; links are unchanged."""
    return cell if cell.startswith("<") else bind_units(cell)


def _long_cell(cell: str) -> str:
    """Return a cell that wraps between words or inside long names; links are unchanged."""
    return cell if cell.startswith("<") else keep_names_whole(break_long_names(bind_units(cell)))


def advice_fragment(view: Advice, display: Display) -> str:
    """Return the verdict and the remedies as HTML, most effective first."""
    ordered = sorted(view.remedies, key=lambda remedy: remedy.after)
    items = "".join(_remedy(remedy, view, display) for remedy in ordered)
    return f'<p class="verdict">{_text_html(view.verdict, display)}</p><ul>{items}</ul>'


def _remedy(remedy: Remedy, view: Advice, display: Display) -> str:
    after = format_value(remedy.after, view.quantity, display)
    change = remedy.after / view.now - 1 if view.now else 0.0
    sign = "±" if abs(change) < 5e-4 else ("+" if change > 0 else "\N{MINUS SIGN}")
    side = _text_html(remedy.side_effect, display)
    return (
        f'<li data-key="{remedy.key}"><span class="remedy">{_text_html(remedy.label, display)}'
        f'</span> <span class="effect">{after}</span> '
        f'<span class="change">{sign}{abs(change) * 100:.1f} %</span> '
        f'<button type="button" data-apply="{remedy.key}">Apply</button>'
        + (f'<span class="side">{side}</span>' if side else "")
        + "</li>"
    )


def challenge_fragment(view: Challenge, display: Display) -> str:
    """Return the goal, conditions and hints as HTML."""
    conditions = "".join(
        f'<li data-met="{"yes" if c.met else "no"}">'
        f'<span class="mark" aria-hidden="true">{"✓" if c.met else "○"}</span> '
        f'{_text_html(c.text, display)} <span class="quiet">'
        f"({'met' if c.met else 'not yet'})</span></li>"
        for c in view.conditions
    )
    hints = "".join(
        f"<details><summary>Hint {i}</summary><p>{_text_html(hint, display)}</p></details>"
        for i, hint in enumerate(view.hints, 1)
    )
    done = all(condition.met for condition in view.conditions)
    return (
        f"<p>{_text_html(view.goal, display)}</p><ul>{conditions}</ul>"
        + ('<p class="won">Solved.</p>' if done else "")
        + hints
    )


# Responsive tables: which ones stack their cells on narrow pages.

LINE = 32  # letters of a cell that need not break
WORDS = 14  # letters of words in a cell that need not break
_SENTENCES = 90  # letters from which a column counts three times
_MANY = 5  # columns, those of sentences counted twice, fit a narrow page
_PHONE = 40  # letters, with one between two columns, that a table has on a phone
_TABLET = 105  # likewise on a tablet
_SENTENCE = 17  # letters of a line of a sentence on a phone, as 57-stack.css has it
_NAME = 12  # letters of a line of a name that may break
_NAMES = 48  # letters up to which what names a row is a name, and no sentence
_FIGURES = re.compile(r"[\d,.]{13,}")  # which do not break
_TAG = re.compile(r"<[^>]*>")


def stack_class(names: Sequence[str], rows: list[list[str]]) -> str:
    """Return the CSS class of a table: "stack" on narrow pages, "stack few" on phones, or "".

    Those of many columns and sentences do on every narrow page, and so does what is wider than a
    tablet. What is wider than a phone, most often numbers in more than four columns, does there.
    """
    columns = list(zip(*rows, strict=True))
    longest = [max(len(cell) for cell in (*column, "") if cell[:1] != "<") for column in columns]
    long = sum((most > LINE) + (most > _SENTENCES) for most in longest)
    if any(most > LINE for most in longest[1:]) and len(columns) + long > _MANY:
        return "stack"
    # The names of rows may break, and so may what stands last.
    inner = [False, *[True] * (len(columns) - 2), False]
    limits = [_NAMES, *[LINE] * (len(columns) - 1)]
    least = sum(map(_column_width, names, columns, inner, limits)) + len(columns) - 1
    if least > _TABLET:
        return "stack"
    return "stack few" if least > _PHONE and len(columns) > 2 else ""


def _column_width(name: str, column: Sequence[str], inner: bool, limit: int) -> int:
    """Return the minimum width of a column in letters; cells past `limit` are sentences."""
    words = max(map(len, name.split()), default=0)
    return max(words, *(_cell_width(cell, visible_length(cell), inner, limit) for cell in column))


def _cell_width(cell: str, shown: int, inner: bool, limit: int) -> int:
    if "data-cite" in cell:
        return _NAME
    if shown > limit:
        return _SENTENCE
    if inner and stays_on_line(cell, shown):
        return shown
    return max(min(shown, _NAME), *map(len, _FIGURES.findall(cell)), 0)


def stays_on_line(cell: str, shown: int) -> bool:
    """Return whether a cell stays on one line: a number, a link, a word or two."""
    return shown <= WORDS or cell.startswith("<") or any(map(str.isdigit, cell))


def visible_length(cell: str) -> int:
    """Return the number of visible letters of a cell."""
    # The page puts shorter names in place of a citation's keys.
    return 0 if "data-cite" in cell else len(_TAG.sub("", cell))
