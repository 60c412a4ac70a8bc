"""Sphinx configuration. The build needs no network."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any

from sphinx.ext import autosummary

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "robustmkl"
author = "The robustmkl developers"
copyright = author
release = installed_version("robustmkl")
version = release

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build", "constraints/*.md"]  # the second: a part of constraints.md
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_default_options = {"members": True, "member-order": "bysource", "show-inheritance": True}
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"robustmkl {release}"


# What the package itself exports and these modules define is documented with the modules.
DEFINED_ELSEWHERE = ("robustmkl.problem", "robustmkl.solvers", "robustmkl.uncertainty")


def skip_member(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out second copies, and the methods that scikit-learn generates for metadata routing."""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    home = str(getattr(obj, "__module__", ""))
    on_package = what == "module" and app.env.docname == "api/generated/robustmkl"
    return True if on_package and home.startswith(DEFINED_ELSEWHERE) else None


def plain_property(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from reading what stands before a colon as the type of a property."""
    if what == "property" and lines:
        lines[0] = lines[0].replace(": ", " -- ", 1)


def display_formulas(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show indented blocks of a module's docstring as they are: formulas and small tables in plain text."""
    if what != "module":
        return
    out: list[str] = []
    for line in lines:
        starts_block = line.startswith("    ") and out and not out[-1]
        above = next((text for text in reversed(out) if text), "")
        if starts_block and not above.startswith("    "):
            out += ["::", ""]
        out.append(line)
    lines[:] = out


def setup(app: Sphinx) -> None:
    """Connect the handlers; those of docstrings before napoleon, which has the priority 500."""
    autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.",)  # "eq. (11)" does not end a sentence
    app.connect("autodoc-skip-member", skip_member)
    for handler in (plain_property, display_formulas):
        app.connect("autodoc-process-docstring", handler, priority=400)
