"""Flattens SVG figures for the PNG renderer: resolves CSS variables, selector lists, percentages.

The PNG renderer supports SVG elements and simple CSS rules. The theme's rules use more, and charts
stretch their marks to the available width; here that width is fixed.
"""

import re

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"var\((--[\w-]+)(?:,([^()]*))?\)")
_LIST = re.compile(r":is\(([^()]*)\)")
_SVG = re.compile(r"<svg\b([^>]*)>|</svg>")
_PATH = re.compile(r'(<path\b[^>]*? d=")([^"]*)"')
_STEP = re.compile(r"([MmLlHhVvZ])([-\d. ]*)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_TRANSLATED = re.compile(r'style="transform:translate\(([-\d.]+)px,([-\d.]+)px\)[^"]*"')
Frame = tuple[float, float, float, float]  # width, height, x scale, y scale
_PERCENTAGE = re.compile(r' (x|y|x1|x2|y1|y2|cx|cy|width|height)="([-\d.]+)%"')


def flatten_style(sheet: str, sans: str) -> str:
    """Return the unconditional rules of a style sheet in light colors, with variables resolved.

    Args:
        sheet: CSS; `var(--sans)` is the font family of text in figures.
        sans: the font family to use for it.
    """
    unconditional = _without_media_rules(_COMMENT.sub("", sheet))
    rules = [(selector.strip(), body) for selector, body in _RULE.findall(unconditional)]
    variables = {
        name: value.strip()
        for selector, body in rules
        if selector == ":root"
        for name, value in re.findall(r"(--[\w-]+):([^;]*)", body)
    } | {"--sans": sans}
    flattened = []
    for selector, body in rules:
        simple = [
            single for single in _split_selectors(selector) if not re.search(r"[:>~+\[]", single)
        ]
        if simple:
            flattened.append(f"{','.join(simple)}{{{_resolve_variables(body, variables)}}}")
    return "".join(flattened)


def needed_rules(rules: str, drawing: str) -> str:
    """Return the flattened rules whose classes occur in the drawing."""
    class_names = {
        name for names in re.findall(r'class="([^"]*)"', drawing) for name in names.split()
    }
    kept = []
    for selectors, body in _RULE.findall(rules):
        matching = [
            selector
            for selector in selectors.split(",")
            if {*re.findall(r"\.([\w-]+)", selector)} <= class_names
        ]
        if matching:
            kept.append(f"{','.join(matching)}{{{body}}}")
    return "".join(kept)


def flatten_drawing(figure: str) -> tuple[str, float, float]:
    """Return (flattened SVG group, width, height) of a figure from `hero_figures`."""
    box = re.search(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"', figure)
    left, top, width, height = map(float, box.groups() if box else ("0", "0", "600", "400"))
    inside = figure[figure.index("<g class=") : figure.rindex("</svg>")]
    inside = _TRANSLATED.sub(r'transform="translate(\1,\2)"', _flatten_frames(inside))
    inside = _VARIABLE.sub(r"\2", inside)
    return f'<g transform="translate({-left:g},{-top:g})">{inside}</g>', width, height


def _without_media_rules(sheet: str) -> str:
    """Return the style sheet without its at-rules such as media queries."""
    kept, depth, start = [], 0, 0
    for brace in re.finditer(r"@[^{]*\{|\{|\}", sheet):
        if depth == 0 and brace[0].startswith("@"):
            kept.append(sheet[start : brace.start()])
            depth = 1
        elif depth:
            depth += -1 if brace[0] == "}" else 1
            start = brace.end()
    return "".join(kept) + sheet[start:]


def _split_selectors(selector: str) -> list[str]:
    """Return the selectors of a list, with each `:is(...)` expanded."""
    if match := _LIST.search(selector):
        before, after = selector[: match.start()], selector[match.end() :]
        return [
            expanded
            for option in match[1].split(",")
            for expanded in _split_selectors(f"{before}{option.strip()}{after}")
        ]
    return [option.strip() for option in selector.split(",")]


def _resolve_variables(body: str, known: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match[1], match[2] or ""), body)


def _flatten_frames(inside: str) -> str:
    """Return the elements with nested <svg> frames as groups and with lengths in pixels."""
    frames: list[Frame] = []
    parts, start = [], 0
    for tag in _SVG.finditer(inside):
        parts.append(_in_pixels(inside[start : tag.start()], frames))
        start = tag.end()
        if tag[1] is None:
            frames.pop()
            parts.append("</g>")
            continue
        frames.append(_frame(tag[1], frames))
        x, y = _attribute_number(tag[1], "x", 0), _attribute_number(tag[1], "y", 0)
        parts.append(f'<g transform="translate({x:g},{y:g})">')
    return "".join(parts) + inside[start:]


def _frame(attributes: str, outer: list[Frame]) -> Frame:
    """Return (width, height, x scale, y scale) of a nested <svg> frame."""
    outer_width, outer_height = outer[-1][:2] if outer else (0.0, 0.0)
    width, height = (
        _attribute_number(attributes, "width", outer_width),
        _attribute_number(attributes, "height", outer_height),
    )
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', attributes)
    if box is None:
        return width, height, 1.0, 1.0
    return width, height, width / float(box[1]), height / float(box[2])


def _attribute_number(attributes: str, name: str, whole: float) -> float:
    match = re.search(rf' {name}="([-\d.]+)(%?)"', attributes)
    if match is None:
        return whole
    return float(match[1]) * (whole / 100 if match[2] else 1)


def _in_pixels(text: str, frames: list[Frame]) -> str:
    """Return the elements of the innermost frame with lengths in pixels."""
    if not frames:
        return text
    width, height, x_scale, y_scale = frames[-1]

    def percentage(match: re.Match[str]) -> str:
        whole = height if match[1] in ("y", "y1", "y2", "cy", "height") else width
        return f' {match[1]}="{float(match[2]) * whole / 100:g}"'

    def path(match: re.Match[str]) -> str:
        return f'{match[1]}{_stretch_path(match[2], x_scale, y_scale)}"'

    text = _PERCENTAGE.sub(percentage, text)
    return text if x_scale == y_scale == 1 else _PATH.sub(path, text)


def _stretch_path(path: str, x_scale: float, y_scale: float) -> str:
    """Return the scaled commands of a path of straight lines; strokes keep their width."""

    def scaled(match: re.Match[str]) -> str:
        scales = {"H": (x_scale,), "V": (y_scale,)}.get(match[1].upper(), (x_scale, y_scale))
        numbers = [float(number) for number in _NUMBER.findall(match[2])]
        moved = (value * scales[at % len(scales)] for at, value in enumerate(numbers))
        return match[1] + " ".join(f"{value:.2f}" for value in moved)

    return _STEP.sub(scaled, path)
