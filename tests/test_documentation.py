"""The code in the documentation runs, word for word, and does what the text says."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


def run_blocks(name):
    """Run the Python blocks of a page one after the other, and return what they define."""
    text = (ROOT / name).read_text(encoding="utf-8")
    namespace = {}
    for code in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(code, name, "exec"), namespace)
    return namespace


def test_readme():
    found = run_blocks("README.md")
    assert found["model"].dual_ <= found["model"].primal_
    assert found["model"].result_.message == "Optimum proved: the duality gap is within the tolerance."


def test_guide():
    found = run_blocks("docs/guide.md")
    assert found["search"].best_params_["lam"] in {0.1, 0.03, 0.01, 0.003, 0.001}
    assert found["flipped"][found["suspects"]].mean() > 0.5


def test_recipes_for_contributors():
    found = run_blocks("CONTRIBUTING.md")
    model, recomputed, problem, result = (found[name] for name in ("model", "recomputed", "problem", "result"))
    assert len(model.kernel_names_) == 7
    assert recomputed.gap <= 1e-4 * recomputed.primal
    assert result.converged
    assert np.isclose(problem.certificate(result.alpha, result.f).gap, result.gap)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *map(str, Path("docs").glob("*.md"))])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert ((ROOT / page).parent / target).exists(), target
