"""`check --links`: the addresses of other sites, against what they answered when last asked.

The answers stand in `links.json` beside `site.toml`, with their dates, so that a check needs no
network and says the same everywhere. `--online` asks again and keeps what it hears.
"""

import datetime
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from builder.core.folders import Folders, files, write_whole
from builder.core.problem import Problem
from builder.core.progress import count_of
from builder.pages.html_facts import facts

FILE = "links.json"
GONE = (404, 410)
AT_ONCE, PATIENCE = 8, 20  # questions at a time, seconds for each
AGENT = "Mozilla/5.0 (compatible; link check of a static site)"
Answers = Mapping[str, tuple[int, str]]  # address -> (status, 0 without an answer; date)
Ask = Callable[[str], int]


def addresses(output: Mapping[str, bytes], own: Iterable[str]) -> list[str]:
    """Return the addresses of other sites in the pages, without their anchors.

    Args:
        output: of the build.
        own: beginnings of addresses of this project: of its site, of its repository.
    """
    pages = (facts(data.decode()) for path, data in output.items() if path.endswith(".html"))
    mine = tuple(one for one in own if one)
    found = {url.partition("#")[0] for page in pages for url in page.urls}
    return sorted(url for url in found if url.startswith("https://") and not url.startswith(mine))


def kept(root: Path) -> Answers:
    """Return what was heard before; nothing where that cannot be read."""
    try:
        found = json.loads((root / FILE).read_text("utf-8"))
        return {str(url): (int(status), str(date)) for url, (status, date) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def asked(root: Path, wanted: Iterable[str], today: datetime.date, ask: Ask) -> Answers:
    """Ask every address and keep the answers; those of addresses that no page has are dropped."""
    urls = list(wanted)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(ask, urls))
    found = {url: (status, str(today)) for url, status in zip(urls, statuses, strict=True)}
    lines = (f"{json.dumps(url)}: {json.dumps(list(one))}" for url, one in sorted(found.items()))
    write_whole(root / FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    return found


def status_of(url: str) -> int:
    """Return the status with which an address answers now, 0 if it does not."""
    status = _status(url, "HEAD")
    return _status(url, "GET") if status >= 400 else status  # some know no HEAD


def _status(url: str, method: str) -> int:
    try:
        given = urllib.request.Request(url, method=method, headers={"User-Agent": AGENT})
        with urllib.request.urlopen(given, timeout=PATIENCE) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError, http.client.HTTPException):  # also what is no address
        return 0


def problems(folders: Folders, wanted: Iterable[str], answers: Answers) -> list[Problem]:
    """Return the addresses that are gone, where they are written."""
    gone = {url: answers[url] for url in wanted if url in answers and answers[url][0] in GONE}
    return sorted(
        Problem(*_place(folders, url), f"{url} answered {status} on {date}")
        for url, (status, date) in gone.items()
    )


def unheard(wanted: Iterable[str], answers: Answers) -> str:
    """Return a sentence on the addresses of which nothing is known; "" if there are none."""
    urls = list(wanted)
    never = [url for url in urls if url not in answers]
    silent = [url for url in urls if url in answers and not 200 <= answers[url][0] < 400]
    silent = [url for url in silent if answers[url][0] not in GONE]
    were = "was" if len(urls) == 1 else "were"
    parts = (
        [f"{len(never)} of {count_of(len(urls), 'address')} {were} never asked"] if never else []
    )
    parts += [f"{len(silent)} gave no clear answer, such as {silent[0]}"] if silent else []
    return f"{'; '.join(parts)}; --online asks" if parts else ""


def _place(folders: Folders, url: str) -> tuple[str, int]:
    """Return the file and the line in which an address is written first."""
    texts = [*files(folders.content), *(path for one in folders.engines for path in files(one))]
    for path in texts:
        if path.suffix in (".md", ".toml", ".py"):
            lines = path.read_text("utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                if url in line:
                    return folders.named(path), number
    return "site.toml", 1
