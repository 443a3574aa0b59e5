"""Flattens SVG figures for the PNG renderer: resolves CSS variables, selector lists, percentages.

The PNG renderer supports SVG elements and simple CSS rules. The theme's rules use more, and charts
stretch their marks to the available width; here that width is fixed.
"""

import re

from builder.core import html_tree
from builder.core.html_tree import Element

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_VARIABLE = re.compile(r"var\((--[\w-]+)(?:,([^()]*))?\)")
_LIST = re.compile(r":is\(([^()]*)\)")
_STEP = re.compile(r"([MmLlHhVvZ])([-\d. ]*)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_TRANSLATED = re.compile(r"transform:translate\(([-\d.]+)px,([-\d.]+)px\)")
Frame = tuple[float, float, float, float]  # width, height, x scale, y scale
_ACROSS, _DOWN = ("x", "x1", "x2", "cx", "width"), ("y", "y1", "y2", "cy", "height")


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
    elements = html_tree.parse(drawing).elements()
    class_names = {name for element in elements for name in element.classes}
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
    root = html_tree.parse(figure)
    svg, group = root.first("svg"), root.first("g")
    if svg is None or group is None:
        return "", 600.0, 400.0
    left, top, width, height = map(float, (svg.get("viewbox") or "0 0 600 400").split())
    _flatten(group, None)
    move = f"translate({-left:g},{-top:g})"
    return f'<g transform="{move}">{group.html()}</g>', width, height


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


def _flatten(parent: Element, frame: Frame | None) -> None:
    """Put groups in place of nested <svg> frames, and lengths in pixels."""
    for element in [node for node in parent.children if isinstance(node, Element)]:
        if element.tag == "svg":
            x, y = _length(element, "x", 0, frame), _length(element, "y", 0, frame)
            _flatten(element, _frame(element, frame))
            move = f"translate({x:g},{y:g})"
            element.replace_with(Element("g", {"transform": move}, element.children))
            continue
        if frame:
            _set_pixels(element, frame)
        _set_plain_style(element)
        _flatten(element, frame)


def _set_plain_style(element: Element) -> None:
    """Resolve the variables of a style by their defaults; a move becomes an attribute."""
    style = element.get("style")
    if match := _TRANSLATED.match(style):
        element.drop("style")
        element.set("transform", f"translate({match[1]},{match[2]})")
    elif "var(" in style:
        element.set("style", _VARIABLE.sub(r"\2", style))


def _frame(svg: Element, outer: Frame | None) -> Frame:
    """Return (width, height, x scale, y scale) of a nested <svg> frame."""
    outer_width, outer_height = outer[:2] if outer else (0.0, 0.0)
    width = _length(svg, "width", outer_width, outer)
    height = _length(svg, "height", outer_height, outer)
    box = [float(number) for number in svg.get("viewbox").split()]
    if len(box) != 4:
        return width, height, 1.0, 1.0
    return width, height, width / box[2], height / box[3]


def _length(svg: Element, name: str, default: float, frame: Frame | None) -> float:
    """Return an attribute in pixels, a percentage of the frame's width or height."""
    value = svg.get(name)
    if not value:
        return default
    whole = (frame[1] if name in _DOWN else frame[0]) if frame else 0.0
    return float(value[:-1]) * whole / 100 if value.endswith("%") else float(value)


def _set_pixels(element: Element, frame: Frame) -> None:
    """Put the lengths of an element of a frame in pixels, and stretch its path."""
    for name in (*_ACROSS, *_DOWN):
        if element.get(name).endswith("%"):
            element.set(name, f"{_length(element, name, 0, frame):g}")
    if element.tag == "path" and frame[2:] != (1, 1):
        element.set("d", _stretch_path(element.get("d"), *frame[2:]))


def _stretch_path(path: str, x_scale: float, y_scale: float) -> str:
    """Return the scaled commands of a path of straight lines; strokes keep their width."""

    def scaled(match: re.Match[str]) -> str:
        scales = {"H": (x_scale,), "V": (y_scale,)}.get(match[1].upper(), (x_scale, y_scale))
        numbers = [float(number) for number in _NUMBER.findall(match[2])]
        moved = (value * scales[at % len(scales)] for at, value in enumerate(numbers))
        return match[1] + " ".join(f"{value:.2f}" for value in moved)

    return _STEP.sub(scaled, path)
