from tests.layers import upward

# From the ground up: what every room uses, one site, what pages are made with, pages, verbs.
ROOMS = (
    "core",
    "project",
    "theme",
    "runtime",
    "content",
    "calculators",
    "markdown",
    "figures",
    "pages",
    "outputs",
    "serve",
    "pipeline",
    "cli",
)


def test_no_room_of_the_builder_imports_from_one_above():
    assert list(upward("builder", ROOMS)) == []
