"""`check --links`: external links against their last recorded HTTP status.

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

from builder.core.folders import Folders, files, write_atomically
from builder.core.problem import Problem
from builder.core.progress import pluralize
from builder.pages.html_facts import parse_facts

FILE = "links.json"
GONE_STATUSES = (404, 410)
PARALLEL_REQUESTS, TIMEOUT = 8, 20  # questions at a time, seconds for each
USER_AGENT = "Mozilla/5.0 (compatible; link check of a static site)"
Answers = Mapping[str, tuple[int, str]]  # address -> (status, 0 without an answer; date)
Ask = Callable[[str], int]


def external_urls(output: Mapping[str, bytes], prefixes: Iterable[str]) -> list[str]:
    """Return the URLs of other sites in the pages, without fragments.

    Args:
        output: of the build.
        prefixes: URL prefixes of this project's site and repository.
    """
    pages = (parse_facts(data.decode()) for path, data in output.items() if path.endswith(".html"))
    own_prefixes = tuple(prefix for prefix in prefixes if prefix)
    urls = {url.partition("#")[0] for page in pages for url in page.urls}
    return sorted(
        url for url in urls if url.startswith("https://") and not url.startswith(own_prefixes)
    )


def load_answers(root: Path) -> Answers:
    """Return the recorded answers, none if the file is missing or invalid."""
    try:
        statuses = json.loads((root / FILE).read_text("utf-8"))
        return {str(url): (int(status), str(date)) for url, (status, date) in statuses.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def ask_all(root: Path, addresses: Iterable[str], today: datetime.date, ask: Ask) -> Answers:
    """Request every URL and save the answers; answers of other URLs are dropped."""
    urls = list(addresses)
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        statuses = list(pool.map(ask, urls))
    answers = {url: (status, str(today)) for url, status in zip(urls, statuses, strict=True)}
    lines = (
        f"{json.dumps(url)}: {json.dumps(list(answer))}" for url, answer in sorted(answers.items())
    )
    write_atomically(root / FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    return answers


def fetch_status(url: str) -> int:
    """Return the HTTP status of a URL now, 0 without an answer."""
    status = _request_status(url, "HEAD")
    return _request_status(url, "GET") if status >= 400 else status  # some servers reject HEAD


def _request_status(url: str, method: str) -> int:
    try:
        request = urllib.request.Request(url, method=method, headers={"User-Agent": USER_AGENT})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError, http.client.HTTPException):  # invalid URLs too
        return 0


def problems(folders: Folders, urls: Iterable[str], answers: Answers) -> list[Problem]:
    """Return problems for URLs that are gone, where they are used."""
    gone = {
        url: answers[url] for url in urls if url in answers and answers[url][0] in GONE_STATUSES
    }
    return sorted(
        Problem(*_first_use(folders, url), f"{url} answered {status} on {date}")
        for url, (status, date) in gone.items()
    )


def unanswered_message(addresses: Iterable[str], answers: Answers) -> str:
    """Return a sentence on the URLs without a clear answer, "" if there are none."""
    urls = list(addresses)
    never_asked = [url for url in urls if url not in answers]
    unclear = [url for url in urls if url in answers and not 200 <= answers[url][0] < 400]
    unclear = [url for url in unclear if answers[url][0] not in GONE_STATUSES]
    verb = "was" if len(urls) == 1 else "were"
    parts = (
        [f"{len(never_asked)} of {pluralize(len(urls), 'address')} {verb} never asked"]
        if never_asked
        else []
    )
    parts += [f"{len(unclear)} gave no clear answer, such as {unclear[0]}"] if unclear else []
    return f"{'; '.join(parts)}; --online asks" if parts else ""


def _first_use(folders: Folders, url: str) -> tuple[str, int]:
    """Return the file and line of a URL's first use."""
    paths = [
        *files(folders.content),
        *(path for folder in folders.engine_packages for path in files(folder)),
    ]
    for path in paths:
        if path.suffix in (".md", ".toml", ".py"):
            lines = path.read_text("utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                if url in line:
                    return folders.display_path(path), number
    return "site.toml", 1
