"""The theme's templates, compiled once and kept."""

from functools import cache
from pathlib import Path
from types import CodeType

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from builder.core.folders import seal, sealed
from engine.draw import line_breaking


class _Absent(jinja2.StrictUndefined):
    """What a template may ask for (`if view.handle`) but never print."""

    def __bool__(self) -> bool:  # type: ignore[override]
        return False


class _Compiled(jinja2.BytecodeCache):
    """Compiled templates by what they say: the themes of several projects have most in common."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept; what is damaged is compiled again."""
        if data := sealed(self.folder / bucket.key):
            bucket.bytecode_from_string(data)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        seal(self.folder / bucket.key, bucket.bytecode_to_string())

    def get_bucket(
        self, environment: jinja2.Environment, name: str, filename: str | None, source: str
    ) -> Bucket:
        """Return what is known of a template, as if it had been compiled where it lies."""
        checksum = self.get_source_checksum(source)
        key = self.get_cache_key(f"{name} {checksum} {jinja2.__version__}")
        bucket = Bucket(environment, key, checksum)
        self.load_bytecode(bucket)
        if bucket.code and filename:
            bucket.code = _placed(bucket.code, filename)
        return bucket


def _placed(code: CodeType, filename: str) -> CodeType:
    """Return compiled code that names this file where it fails."""
    inner = (_placed(one, filename) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=filename, co_consts=tuple(inner))


@cache
def templates_of(folder: Path, kept: Path) -> jinja2.Environment:
    """Return the templates of a folder; compiled ones are kept in a folder of the cache."""
    # Kept, since compiling templates is most of a small rebuild; changed files are read again.
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=_Absent,
        bytecode_cache=_Compiled(kept / "templates"),
    )
    # A text whose names and quantities stay whole, and one whose paths may go on in a new line.
    made.filters["whole"] = lambda text: Markup(_whole(str(escape(text))))
    made.filters["breaking"] = lambda text: Markup(
        _whole(line_breaking.breaking(str(escape(text))))
    )
    return made


def _whole(html: str) -> str:
    return line_breaking.whole(line_breaking.bound(html))
