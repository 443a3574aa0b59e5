"""Project settings: the record that is read from `site.toml`."""

import re
from dataclasses import dataclass

UNITS = ("bytes", "links")  # GB or GiB; links one way or summed over both


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """A link of the header: label, address in the site or elsewhere, line in `site.toml`."""

    label: str
    address: str
    line: int

    @property
    def is_external(self) -> bool:
        """Whether the link leads to another site."""
        return self.address.startswith("https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The settings of a project, as in its `site.toml`; "" where a key is missing.

    Attributes:
        name: of the site.
        engine: the package with its calculators, a folder beside `site.toml`.
        summary: one sentence, for the home page that the build makes where there is none.
        language: of its texts, as in `<html lang>`.
        address: where it will be published, with a slash at its end; `--base-url` goes before it.
        repository: address of its public repository; `--repository` goes before it.
        notice: what the foot of every page says of its numbers.
        license: name of the license of its texts and figures.
        license_address: where that license can be read.
        code_license: name of the license of its code.
        takes: a function of its engine, `package.module.function`, that says for (calculator, its
            inputs) which of them are filled by what a reader keeps as their own.
        data: a function of its engine, likewise, that returns the data files to publish, by name;
            a file belongs to the page whose name its own begins with.
        version: of the site, for citations.
        released: date of that version, such as 2026-11-29; of pages without a date of their own.
        packages: what its engine imports of other packages, such as "css-inline==1.0".
        travels: modules of these packages that go to the browser, such as "ruamel.yaml.parser"; a
            package of which none is named travels whole.
        wheels: a folder, from the project's, in which they are looked for first.
        units: of `UNITS`, the switches that its pages offer for how numbers are written.
        navigation: the links of the header, in their order; none for those that a site usually has.
        placed: whether a calculator that stands on no page is a problem.
    """

    name: str
    engine: str
    summary: str = ""
    language: str = "en"
    address: str = ""
    repository: str = ""
    notice: str = ""
    license: str = ""
    license_address: str = ""
    code_license: str = ""
    takes: str = ""
    data: str = ""
    version: str = ""
    released: str = ""
    packages: tuple[str, ...] = ()
    travels: tuple[str, ...] = ()
    wheels: str = ""
    units: tuple[str, ...] = ()
    navigation: tuple[NavigationLink, ...] = ()
    placed: bool = True

    @property
    def calculators(self) -> str:
        """The dotted name of the package of the project's calculators."""
        return f"{self.engine}.calculators"

    @property
    def key(self) -> str:
        """The name as an identifier: "My Site" is "my_site"."""
        return re.sub(r"[^a-z0-9]+", "_", self.name.lower()).strip("_")
