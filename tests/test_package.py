"""The package as a whole: its names, what importing it costs, and habits that hold in every module."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import robustmkl

SOURCE = Path(robustmkl.__file__).parent
COMMANDS = "robustmkl.commands"  # needs the extra [cli]; robustmkl.cli imports it, or says so
FOUND = [module.name for module in pkgutil.walk_packages([str(SOURCE)], "robustmkl.")]
MODULES = [name for name in FOUND if not name.startswith(COMMANDS)]
FILES = sorted(SOURCE.rglob("*.py"))
WITH_ALL = [name for name in ("robustmkl", *MODULES) if hasattr(importlib.import_module(name), "__all__")]

PUBLIC = {
    "robustmkl": {"StPMKLClassifier", "SimpleMKLClassifier", "MiPMKLClassifier", "certificate"},
    "robustmkl.datasets": {"load_uci"},
    "robustmkl.noise": {"flip_labels"},
    "robustmkl.kernels": {"KernelDictionary", "Gaussian", "Polynomial", "Linear", "Precomputed"},
}
FACADES = ("robustmkl", "robustmkl.estimators", "robustmkl.kernels", "robustmkl.datasets", "robustmkl.noise")
HEAVY = {"matplotlib", "pandas", "polars", "pyarrow", "cvxpy", "torch", "plotly", "hypothesis", "pytest"}
HEAVY |= {"typer", "rich", "markdown_it"}


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names(package):
    module = importlib.import_module(package)
    assert PUBLIC[package] <= set(module.__all__)


@pytest.mark.parametrize("name", WITH_ALL)
def test_exported_names_exist(name):
    module = importlib.import_module(name)
    assert all(hasattr(module, exported) for exported in module.__all__)


def in_order(name):
    """Constants, classes, then functions: each in the order of the alphabet."""
    return (not name.isupper(), not name[0].isupper(), name)


@pytest.mark.parametrize("name", WITH_ALL)
def test_export_lists_are_sorted(name):
    names = list(importlib.import_module(name).__all__)
    assert names == sorted(set(names), key=in_order)


@pytest.mark.parametrize("package", FACADES)
def test_export_lists_are_complete(package):
    """What a package takes from its modules, it takes to hand it on."""
    module = importlib.import_module(package)
    imports = [node for node in ast.parse(Path(module.__file__).read_text()).body if isinstance(node, ast.ImportFrom)]
    taken = {alias.asname or alias.name for node in imports for alias in node.names if node.module != "__future__"}
    assert taken == {name for name in module.__all__ if not name.startswith("__")}


def test_everything_imported_by_star_is_public():
    names = {}
    exec("from robustmkl import *", names)
    assert PUBLIC["robustmkl"] <= set(names)


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert robustmkl.__version__ == version("robustmkl")


def test_types_are_announced():
    assert (SOURCE / "py.typed").exists()


def test_package_works_without_any_extra():
    code = f"""
import importlib, sys
class NotInstalled:
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in {HEAVY}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NotInstalled)
for name in {["robustmkl", *(name for name in MODULES if not name.endswith("__main__"))]}:
    importlib.import_module(name)
X, y = importlib.import_module("robustmkl.datasets").load_uci("heart", return_X_y=True)
sys.modules["robustmkl"].StPMKLClassifier(tol=1e-2).fit(X[::5], y[::5])
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_module_imports_an_extra_at_its_top(path):
    if path.parent.name == "commands":
        pytest.skip("loaded by robustmkl.cli alone")
    top = ast.parse(path.read_text(encoding="utf-8")).body
    names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in top if isinstance(node, ast.ImportFrom) and node.module}
    assert not HEAVY & {name.split(".")[0] for name in names}


def nodes(path):
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_print_and_no_assert(path):
    """Input is validated by errors that stay under -O, and progress goes to the logger."""
    printed = [n.lineno for n in nodes(path) if isinstance(n, ast.Call) and getattr(n.func, "id", None) == "print"]
    asserted = [n.lineno for n in nodes(path) if isinstance(n, ast.Assert)]
    assert (printed, asserted) == ([], [])


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_nothing_is_logged_unless_asked(capsys):
    robustmkl.StPMKLClassifier(kernels="precomputed").fit([[[1.0, 0.0], [0.0, 1.0]]], [0, 1])
    out, err = capsys.readouterr()
    assert out == err == ""


def test_progress_goes_to_the_logger(caplog):
    with caplog.at_level("INFO", logger="robustmkl"):
        robustmkl.StPMKLClassifier(verbose=1).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert "20 kernels of 3 rows" in caplog.text
    assert "gap" in caplog.text
