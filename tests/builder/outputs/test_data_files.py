"""Data files: what a project's engine returns is published under `data/`."""

from builder.core.build_cache import BuildCache
from builder.outputs import root_files


class Keys:
    """Digests of code, of which there is one."""

    def digest_of(self, *paths):
        return "".join(paths)


def test_the_files_of_the_function_are_published():
    cache = BuildCache()
    files = root_files.output_files("engine.form.data_files.data_files", Keys(), cache)
    assert {"data/validation.csv", "data/whole-runs.csv"} <= set(files)
    assert files["data/validation.csv"].startswith(b"row_id,")


def test_a_project_without_the_setting_has_none():
    assert root_files.output_files("", Keys(), BuildCache()) == {}
