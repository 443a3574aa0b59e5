"""A drawing of a page without what only browsers know: variables, lists of selectors, percentages.

What makes a PNG of an SVG knows the drawing's elements and plain rules of style. The theme's rules
use more, and charts stretch their marks to the width that they get; here that width is known.
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
_MOVED = re.compile(r'style="transform:translate\(([-\d.]+)px,([-\d.]+)px\)[^"]*"')
Frame = tuple[float, float, float, float]  # width, height, stretch across, stretch down
_SHARE = re.compile(r' (x|y|x1|x2|y1|y2|cx|cy|width|height)="([-\d.]+)%"')


def style(sheet: str, sans: str) -> str:
    """Return the rules of a sheet that hold everywhere, in light colors, without variables.

    Args:
        sheet: CSS; `var(--sans)` is the family of words in figures.
        sans: the family to take for it.
    """
    bare = _outside_of_conditions(_COMMENT.sub("", sheet))
    rules = [(selector.strip(), body) for selector, body in _RULE.findall(bare)]
    known = {
        name: value.strip()
        for selector, body in rules
        if selector == ":root"
        for name, value in re.findall(r"(--[\w-]+):([^;]*)", body)
    } | {"--sans": sans}
    found = []
    for selector, body in rules:
        plain = [one for one in _each(selector) if not re.search(r"[:>~+\[]", one)]
        if plain:
            found.append(f"{','.join(plain)}{{{_without_variables(body, known)}}}")
    return "".join(found)


def needed(rules: str, drawn: str) -> str:
    """Return those of the plain rules that concern elements by classes that are there."""
    there = {name for names in re.findall(r'class="([^"]*)"', drawn) for name in names.split()}
    kept = []
    for selectors, body in _RULE.findall(rules):
        some = [one for one in selectors.split(",") if {*re.findall(r"\.([\w-]+)", one)} <= there]
        if some:
            kept.append(f"{','.join(some)}{{{body}}}")
    return "".join(kept)


def drawing(picture: str) -> tuple[str, float, float]:
    """Return (a group of plain elements, width, height) of a picture from `openings.pictures`."""
    box = re.search(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"', picture)
    left, top, width, height = map(float, box.groups() if box else ("0", "0", "600", "400"))
    inside = picture[picture.index("<g class=") : picture.rindex("</svg>")]
    inside = _MOVED.sub(r'transform="translate(\1,\2)"', _without_frames(inside))
    inside = _VARIABLE.sub(r"\2", inside)
    return f'<g transform="translate({-left:g},{-top:g})">{inside}</g>', width, height


def _outside_of_conditions(sheet: str) -> str:
    """Return the sheet without what holds only in some windows."""
    kept, depth, start = [], 0, 0
    for brace in re.finditer(r"@[^{]*\{|\{|\}", sheet):
        if depth == 0 and brace[0].startswith("@"):
            kept.append(sheet[start : brace.start()])
            depth = 1
        elif depth:
            depth += -1 if brace[0] == "}" else 1
            start = brace.end()
    return "".join(kept) + sheet[start:]


def _each(selector: str) -> list[str]:
    """Return the selectors of a list, with the lists inside of them told one by one."""
    if match := _LIST.search(selector):
        before, after = selector[: match.start()], selector[match.end() :]
        return [
            plain for one in match[1].split(",") for plain in _each(f"{before}{one.strip()}{after}")
        ]
    return [one.strip() for one in selector.split(",")]


def _without_variables(body: str, known: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: known.get(match[1], match[2] or ""), body)


def _without_frames(inside: str) -> str:
    """Return the elements with every inner frame as a group, its shares and stretches in pixels."""
    frames: list[Frame] = []
    parts, start = [], 0
    for tag in _SVG.finditer(inside):
        parts.append(_placed(inside[start : tag.start()], frames))
        start = tag.end()
        if tag[1] is None:
            frames.pop()
            parts.append("</g>")
            continue
        frames.append(_frame(tag[1], frames))
        x, y = _number(tag[1], "x", 0), _number(tag[1], "y", 0)
        parts.append(f'<g transform="translate({x:g},{y:g})">')
    return "".join(parts) + inside[start:]


def _frame(attributes: str, outer: list[Frame]) -> Frame:
    """Return (width, height, stretch across, stretch down) of a frame in a frame."""
    wide, high = outer[-1][:2] if outer else (0.0, 0.0)
    width, height = _number(attributes, "width", wide), _number(attributes, "height", high)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', attributes)
    if box is None:
        return width, height, 1.0, 1.0
    return width, height, width / float(box[1]), height / float(box[2])


def _number(attributes: str, name: str, whole: float) -> float:
    found = re.search(rf' {name}="([-\d.]+)(%?)"', attributes)
    if found is None:
        return whole
    return float(found[1]) * (whole / 100 if found[2] else 1)


def _placed(text: str, frames: list[Frame]) -> str:
    """Return elements of the innermost frame, in pixels."""
    if not frames:
        return text
    width, height, across, down = frames[-1]

    def share(match: re.Match[str]) -> str:
        whole = height if match[1] in ("y", "y1", "y2", "cy", "height") else width
        return f' {match[1]}="{float(match[2]) * whole / 100:g}"'

    def path(match: re.Match[str]) -> str:
        return f'{match[1]}{_stretched(match[2], across, down)}"'

    text = _SHARE.sub(share, text)
    return text if across == down == 1 else _PATH.sub(path, text)


def _stretched(steps: str, across: float, down: float) -> str:
    """Return the steps of a path of straight lines, stretched; its strokes keep their width."""

    def one(match: re.Match[str]) -> str:
        scales = {"H": (across,), "V": (down,)}.get(match[1].upper(), (across, down))
        numbers = [float(number) for number in _NUMBER.findall(match[2])]
        moved = (value * scales[at % len(scales)] for at, value in enumerate(numbers))
        return match[1] + " ".join(f"{value:.2f}" for value in moved)

    return _STEP.sub(one, steps)
