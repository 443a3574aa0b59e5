"""Reads the TeX of an equation as arithmetic, as a reader of the page would."""

import math
import re

_TOKEN = re.compile(
    r"\\v\{(?P<symbol>\w+)\}|(?P<number>\d+(?:\.\d+)?)"
    r"|\\(?:lceil|rceil|lfloor|rfloor|frac|max|min|log_2|sqrt)|[-+^(){}=,/e]"
)
_SILENT = re.compile(r"\\(?:left|right|cdot|[,;! ])")
_STARTS = ("(", "{", "e", r"\lceil", r"\lfloor", r"\frac", r"\log_2", r"\max", r"\min", r"\sqrt")
_CLOSING = {"(": ")", "{": "}", r"\lceil": r"\rceil", r"\lfloor": r"\rfloor"}


def is_arithmetic(tex):
    """Whether the equation can be worked out: no integral, no inequality."""
    return not re.search(r"\\(int|le)(?![a-z])", tex)


def statements(tex, symbols):
    """(symbol on the left, value of the right side) of each of the equations in `tex`."""
    for part in re.split(r",\s*\\q?quad", tex):
        left, right = part.split("=", 1)
        yield re.search(r"\\v\{(\w+)\}", left)[1], evaluated(right, symbols)


def evaluated(tex, symbols):
    """The value of a right side; factors side by side are multiplied."""
    reader = _Reader(tex, symbols)
    value = reader.sum()
    assert reader.peek() is None, f"{reader.peek()} is left over in {tex}"
    return value


class _Reader:
    """One pass over the tokens; spaces, products and the size of brackets are none."""

    def __init__(self, tex, symbols):
        self.at = 0
        self.tokens = []
        for found in _TOKEN.finditer(_SILENT.sub(" ", tex)):
            if found["symbol"]:
                self.tokens.append(float(symbols[found["symbol"]]))
            else:
                self.tokens.append(float(found[0]) if found["number"] else found[0])

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.peek()
        assert wanted in (None, token), f"{token} where {wanted} was expected"
        self.at += 1
        return token

    def sum(self):
        total = -self.product() if self.peek() == "-" and self.take() else self.product()
        while self.peek() in ("+", "-"):
            total += self.product() if self.take() == "+" else -self.product()
        return total

    def product(self):
        result = self.power()
        while isinstance(self.peek(), float) or self.peek() in (*_STARTS, "/"):
            if self.peek() == "/":
                self.take()
                result /= self.power()
            else:
                result *= self.power()
        return result

    def power(self):
        base = self.atom()
        if self.peek() != "^":
            return base
        self.take()
        exponent = self.atom()
        try:
            return base**exponent
        except OverflowError:
            return math.inf

    def atom(self):
        token = self.take()
        if isinstance(token, float):
            return token
        if token in _CLOSING:
            inside = self.sum()
            self.take(_CLOSING[token])
            return {r"\lceil": math.ceil, r"\lfloor": math.floor}.get(token, float)(inside)
        return self.named(token)

    def named(self, name):
        if name == "e":
            return math.e
        if name == r"\frac":
            above, below = self.atom(), self.atom()
            return above / below if below else math.copysign(math.inf, above)
        if name in (r"\max", r"\min"):
            self.take("(")
            first = self.sum()
            self.take(",")
            second = self.sum()
            self.take(")")
            return max(first, second) if name == r"\max" else min(first, second)
        return {r"\log_2": math.log2, r"\sqrt": math.sqrt}[name](self.atom())
