"""What a launch script runs: commands with their words, as a shell reads it, and none is run.

A variable is what the text assigns to it; a default in `${NAME:-8}` counts, and what nothing
assigns stays `$NAME`. Of `if` and `case` the branch is taken that the values of the text decide.
Where they decide none, every branch is read and its words carry the condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from engine.run.importers.import_report import TextError
from engine.run.importers.shell_expansion import Branch, Environment, Field, ShellWord
from engine.run.importers.shell_records import Choice, Command, Script
from engine.run.importers.shell_sums import evaluate_sum
from engine.run.importers.shell_tests import decide_sum, decide_test, matches
from engine.run.importers.shell_words import Token, shell_tokens

_CLOSING = ("then", "elif", "else", "fi", "do", "done", "esac", "}")
_DECLARING = ("export", "local", "declare", "readonly", "typeset")
_REDIRECTIONS = ("<<<", "&>>", "<<", ">>", "&>", ">&", "<&", ">|", "<", ">")
_PRINTING = ("echo", "printf", "cat")
_SHELLS = ("bash", "sh")
_PROGRAM = re.compile(r"(?<![\w$])(?:python3?|torchrun|deepspeed|accelerate)\b")
_CONSTANTS = {"true": True, ":": True, "false": False}
_DEEPEST = 8  # calls of functions
_MOST = 4000  # commands
_MOST_ROUNDS = 1000  # of all loops that count


def run_script(
    text: str, first_line: int = 1, known: Mapping[str, tuple[str, int]] | None = None
) -> Script:
    """Return the commands and variables of a script.

    Args:
        text: of the script.
        first_line: its number.
        known: variables that the script finds: name -> value and the line that says it.
    """
    reader = _Reader(shell_tokens(text, first_line))
    for name, (value, line) in (known or {}).items():
        reader.script.environment.values[name] = [Field(value, line, False)]
    try:
        while reader.place < len(reader.tokens):
            before = reader.place
            reader.list_until(())
            reader.place = max(reader.place, before + 1)  # a word that closes nothing
    except RecursionError:
        raise TextError(f"line {first_line}: a script that is nested too deeply") from None
    return reader.script


class _Reader:
    """Reads tokens and follows them; `active` is false in branches that are not taken."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens, self.place = tokens, 0
        self.script = Script()
        self.active = True
        self.functions: dict[str, tuple[int, int]] = {}
        self.depth = 0
        self.branches = self.rounds = 0

    # Tokens

    def peek(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def next_is(self, *words: str) -> bool:
        token = self.peek()
        if token is None:
            return False
        word = token.plain if token.kind == "word" else token.text
        return word in words

    def skip_lines(self) -> None:
        while (token := self.peek()) and (
            token.kind == "line" or (token.kind == "operator" and token.text in (";", "&"))
        ):
            self.place += 1

    def accept(self, word: str) -> None:
        self.skip_lines()
        if self.next_is(word):
            self.place += 1

    # Lists

    def list_until(self, ends: Sequence[str]) -> bool | None:
        """Follow commands up to one of `ends`; return what the last one decides."""
        status: bool | None = True
        while True:
            self.skip_lines()
            if self.peek() is None or self.next_is(*ends, *_CLOSING, ")", ";;", ";&", ";;&"):
                return status
            before = self.place
            status = self.chain()
            if self.place == before:
                self.place += 1

    def chain(self) -> bool | None:
        """Follow commands joined by && and ||."""
        first = self.place
        status = self.pipeline()
        while self.next_is("&&", "||"):
            wanted = self.next_is("&&")
            line = self.tokens[self.place].line
            source = self.source(first, self.place)
            condition = f"{'' if wanted else 'not '}{source} (line {line})"
            self.place += 1
            while (token := self.peek()) and token.kind == "line":
                self.place += 1
            decided = None if status is None else status is wanted
            status = (
                self.guarded(decided, condition, self.pipeline)
                if decided is not False
                else (self.skipped(self.pipeline, status))
            )
        return status

    def skipped(self, follow: Callable[[], bool | None], status: bool | None) -> bool | None:
        active, self.active = self.active, False
        follow()
        self.active = active
        return status

    def guarded(
        self, decided: bool | None, condition: str, follow: Callable[[], bool | None]
    ) -> bool | None:
        """Follow what runs if a condition holds; if nothing decides it, as a branch of two."""
        if decided is not None or not self.active:
            return follow()
        self.branches += 1
        before = self.script.environment.copy()
        branch = Branch(self.branches, 0, condition)
        self.script.environment.enter(branch)
        follow()
        self.script.environment.leave()
        after = self.script.environment
        self.script.environment = before
        self.script.environment.merge([(branch, after)], whole=False)
        return None

    def pipeline(self) -> bool | None:
        negated = self.next_is("!")
        self.place += negated
        status = self.command()
        while self.next_is("|"):
            self.place += 1
            while (token := self.peek()) and token.kind == "line":
                self.place += 1
            self.command()
            status = None
        return status if not negated or status is None else not status

    # Commands

    def command(self) -> bool | None:
        token = self.peek()
        if token is None:
            return True
        compound = {
            "if": self.conditional,
            "case": self.cases,
            "for": self.loop,
            "select": self.loop,
            "while": self.repeated,
            "until": self.repeated,
            "[[": self.double_test,
            "{": lambda: self.group("}"),
            "(": lambda: self.group(")"),
            "function": self.named,
        }.get(token.plain if token.kind == "word" else token.text)
        if compound and token.kind in ("word", "operator"):
            self.place += 1
            return compound()
        if token.kind == "sum":
            self.place += 1
            return decide_sum(self.script.environment.sum_text(token.text)) if self.active else None
        return self.simple()

    def group(self, end: str) -> bool | None:
        status = self.list_until((end,))
        self.accept(end)
        return status

    def simple(self) -> bool | None:
        tokens: list[Token] = []
        while (token := self.peek()) and token.kind not in ("line", "sum"):
            if token.kind == "operator":
                if token.text == "(" and len(tokens) == 1 and self.is_definition():
                    return self.define(tokens[0].plain)
                if token.text not in _REDIRECTIONS:
                    break
                if tokens and tokens[-1].plain.isdigit() and len(tokens[-1].plain) == 1:
                    tokens.pop()  # a file descriptor
                self.place += 2
                continue
            tokens.append(token)
            self.place += 1
        return self.perform(tokens) if self.active and tokens else None

    def is_definition(self) -> bool:
        following = self.tokens[self.place + 1 : self.place + 2]
        return bool(following) and following[0].text == ")"

    def named(self) -> bool | None:
        """Note the function behind the word `function`."""
        token = self.peek()
        self.place += 1
        return self.define(token.plain if token else "")

    def define(self, name: str) -> bool | None:
        """Note where the body of a function stands."""
        if self.next_is("("):
            self.place += 2
        self.skip_lines()
        start = self.place
        self.skipped(self.command, True)
        self.functions[name] = (start, self.place)
        return True

    def perform(self, tokens: Sequence[Token]) -> bool | None:
        """Assign, decide a test, call a function, or note a command."""
        command_tokens = self.assigned(tokens)
        environment = self.script.environment
        expanded = set(environment.used)
        words = environment.words(command_tokens)
        if not words:
            return True
        first = words[0].text
        if first in _PRINTING:  # what is printed is not handed on
            environment.used.intersection_update(expanded)
        if first in ("[", "test", "printf", *_CONSTANTS):
            return self.built_in(first, words)
        if first in self.functions and self.depth < _DEEPEST:
            return self.call(first, words)
        for part in self.handed_on(words):
            if len(self.script.commands) < _MOST:
                self.script.commands.append(Command(tuple(part), command_tokens[0].line))
        return True

    def built_in(self, first: str, words: Sequence[ShellWord]) -> bool | None:
        """Decide a test, or let `printf -v` assign."""
        if first in ("[", "test"):
            inner = words[1:-1] if first == "[" and words[-1].text == "]" else words[1:]
            return decide_test([word.text for word in inner])
        if first == "printf" and len(words) > 3 and words[1].text == "-v":
            text = words[3].text
            for word in words[4:]:
                text = text.replace("%s", word.text, 1)
            self.script.environment.values[words[2].text] = [Field(text, words[2].line, False)]
        return _CONSTANTS.get(first, True)

    def handed_on(self, words: Sequence[ShellWord]) -> Iterator[Sequence[ShellWord]]:
        """Yield a command, and the one in single quotes behind `bash -c`, with its variables."""
        shells = [at for at, word in enumerate(words) if word.text.rpartition("/")[2] in _SHELLS]
        index = next(
            (at for at, word in enumerate(words) if re.fullmatch(r"-\w*c", word.text)), len(words)
        )
        inside = words[index + 1].text if shells and shells[0] < index < len(words) - 1 else ""
        if "$" not in inside or _PROGRAM.search(inside):
            yield words
            return
        yield words[:index]
        tokens = shell_tokens(inside, words[index].line)
        yield self.script.environment.words([token for token in tokens if token.kind == "word"])

    def assigned(self, tokens: Sequence[Token]) -> list[Token]:
        """Assign what stands first in a command; return the rest of it."""
        environment, left_tokens = self.script.environment, list(tokens)
        declares = left_tokens[0].plain in _DECLARING
        if declares:
            if left_tokens[0].plain == "export":
                environment.exported |= {token.text.partition("=")[0] for token in left_tokens[1:]}
            left_tokens = [token for token in left_tokens[1:] if not token.plain.startswith("-")]
        while left_tokens and environment.assign(left_tokens[0]):
            left_tokens.pop(0)
        return [] if declares else left_tokens

    def call(self, name: str, words: Sequence[ShellWord]) -> bool | None:
        """Follow the body of a function with its arguments."""
        start, end = self.functions[name]
        return_to, self.place = self.place, start
        self.depth += 1
        environment = self.script.environment
        kept = {key: value for key, value in environment.values.items() if key.isdigit()}
        for number, word in enumerate(words[1:], 1):
            environment.values[str(number)] = [Field.of(word)]
        status = self.command() if start < end else True
        for number in range(1, len(words)):
            self.script.environment.values.pop(str(number), None)
        self.script.environment.values |= kept
        self.depth -= 1
        self.place = return_to
        return status

    # Branches

    def conditional(self) -> bool | None:
        """Follow `if`: the branch that is decided, or each with its condition."""
        choice = self.choice()
        while True:
            first = self.place
            status = self.condition(choice.entered and not choice.chosen)
            condition = self.source(first, self.place)
            self.accept("then")
            self.clause(choice, condition, status)
            self.skip_lines()
            if not self.next_is("elif"):
                break
            self.place += 1
        if self.next_is("else"):
            self.place += 1
            choice.closed = True
            self.clause(choice, f"not {choice.unknown[0]}" if choice.unknown else "", status=True)
        self.accept("fi")
        self.settle(choice, whole=choice.closed or choice.chosen)
        return None

    def choice(self) -> Choice:
        self.branches += 1
        line = self.tokens[self.place - 1].line
        start = self.script.environment.copy()
        return Choice(self.branches, line, start, self.active)

    def clause(self, choice: Choice, condition: str, status: bool | None) -> None:
        """Follow one branch, of which `status` is whether it is taken."""
        taken = choice.entered and not choice.chosen and status is not False
        if taken and (status is None or choice.unknown):
            choice.unknown.append(condition)
            label = f"{condition} (line {choice.line})"
            branch = Branch(choice.identifier, len(choice.results), label)
            choice.results.append(self.branch(branch, choice.start))
        else:
            self.followed(active=taken)
        choice.chosen = choice.chosen or (taken and status is True)

    def settle(self, choice: Choice, *, whole: bool) -> None:
        """Go on with one environment for all branches that were followed."""
        if choice.results:
            self.script.environment = choice.start
            self.script.environment.merge(choice.results, whole=whole)
            count = len(choice.results) + (not whole)
            self.script.environment.counts[choice.identifier] = count

    def condition(self, active: bool) -> bool | None:
        kept, self.active = self.active, active
        status = self.list_until(("then",))
        self.active = kept
        return status

    def source(self, first: int, end: int) -> str:
        """Return the words of a condition as the text has them."""
        words = [_source(token) for token in self.tokens[first:end] if token.kind != "line"]
        return " ".join(word for word in words if word != ";")[:80]

    def followed(self, *, active: bool) -> None:
        kept, self.active = self.active, active
        self.list_until(("elif", "else", "fi"))
        self.active = kept

    def branch(self, branch: Branch, start: Environment) -> tuple[Branch, Environment]:
        """Follow one branch of several with an environment of its own."""
        self.script.environment = start.copy()
        self.script.environment.enter(branch)
        self.list_until(("elif", "else", "fi", "esac"))
        self.script.environment.leave()
        return branch, self.script.environment

    def cases(self) -> bool | None:
        """Follow `case WORD in PATTERN) ... ;; esac`."""
        choice, subject = self.choice(), self.peek()
        words = self.script.environment.words([subject]) if subject and self.active else []
        value = " ".join(word.text for word in words)
        source = _source(subject) if subject else ""
        self.place += 1
        self.accept("in")
        while True:
            self.skip_lines()
            if self.peek() is None or self.next_is("esac"):
                break
            patterns = self.patterns()
            hit = None if "$" in value else any(matches(value, pattern) for pattern in patterns)
            self.clause(choice, f"case {source} is {'|'.join(patterns)[:40]}", hit)
            if self.next_is(";;", ";&", ";;&"):
                self.place += 1
        self.accept("esac")
        self.settle(choice, whole=choice.chosen)
        return None

    def patterns(self) -> list[str]:
        patterns: list[str] = []
        while (token := self.peek()) and not (token.kind == "operator" and token.text == ")"):
            if token.kind == "word":
                patterns.append(token.text)
            self.place += 1
            if token.kind == "line":
                break
        if self.next_is(")"):
            self.place += 1
        return patterns

    # Loops

    def loop(self) -> bool | None:
        """Follow the body of `for` once; with several values its variable is none of them."""
        token = self.peek()
        if token and token.kind == "sum":
            self.place += 1
            return self.counted(token.text)
        name = token.plain if token and token.kind == "word" else ""
        self.place += 1
        values: list[ShellWord] = []
        self.skip_lines()
        if self.next_is("in"):
            self.place += 1
            words = []
            while (token := self.peek()) and token.kind in ("word", "array"):
                words.append(token)
                self.place += 1
            values = self.script.environment.words(words) if self.active else []
        if self.active and name:
            self.script.environment.set_loop(name, values)
        self.accept("do")
        self.list_until(("done",))
        self.accept("done")
        return True

    def counted(self, head: str) -> bool | None:
        """Follow the body of `for ((i=0; i<N; i++))` as often as it is run."""
        parts = re.fullmatch(
            r"\s*([A-Za-z_]\w*)\s*=([^;]{1,80});([^;]{1,80});\s*\1\s*(?:\+\+|\+=\s*(\d{1,4}))\s*",
            head,
        )
        self.accept("do")
        start = self.place
        value = self.number(parts[2]) if parts and self.active else None
        for _ in range(_MOST_ROUNDS):
            if not parts or value is None or self.rounds > _MOST_ROUNDS:
                break
            self.rounds += 1
            self.script.environment.values[parts[1]] = [Field(str(value), 0, False)]
            if self.number(parts[3]) != 1:
                break
            self.place = start
            self.list_until(("done",))
            value += int(parts[4] or 1)
        else:
            parts = None
        self.place = start
        known = parts is not None and value is not None
        active, self.active = self.active, self.active and not known
        self.list_until(("done",))
        self.active = active
        self.accept("done")
        return True

    def number(self, text: str) -> int | None:
        return evaluate_sum(self.script.environment.sum_text(text))

    def repeated(self) -> bool | None:
        """Follow the body of `while` once, unless its condition is false."""
        status = self.list_until(("do",))
        self.accept("do")
        active, self.active = self.active, self.active and status is not False
        self.list_until(("done",))
        self.active = active
        self.accept("done")
        return True

    def double_test(self) -> bool | None:
        """Decide `[[ ... ]]`."""
        tokens: list[Token] = []
        while (token := self.peek()) and not self.next_is("]]"):
            tokens.append(token)
            self.place += 1
        self.place += 1
        if not self.active:
            return None
        texts = []
        for token in tokens:
            if token.kind == "word":
                words = self.script.environment.words([token])
                texts.append(" ".join(word.text for word in words))
            elif token.kind != "line":
                texts.append(token.text)
        return decide_test(texts)


def _source(token: Token) -> str:
    """Return a token as the text has it, nearly."""
    templates = {"variable": "${%s}", "sum": "$((%s))", "command": "$(%s)"}
    parts = [
        bit.text if bit.kind == "text" else templates[bit.kind] % bit.text for bit in token.bits
    ]
    return "".join(parts) or token.text
