"""Multiple kernel learning from noisy labels, with a certificate of the optimum.

>>> from robustmkl import StPMKLClassifier
>>> from robustmkl.datasets import load_uci
>>> X, y = load_uci("heart", return_X_y=True)
>>> model = StPMKLClassifier(lam=0.01, rho=0.9).fit(X, y)
>>> bool(model.gap_ <= 1e-4 * model.primal_)
True
"""

from .estimators import MiPMKLClassifier, SimpleMKLClassifier, StPMKLClassifier, StPMKLClassifierCV
from .problem import Certificate, KernelFunction, Problem, certificate
from .solvers import SolveResult, Status, mkl_path, solve
from .uncertainty import Budget, ChanceBudget, ProbabilityBudget

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Certificate",
    "ChanceBudget",
    "KernelFunction",
    "MiPMKLClassifier",
    "ProbabilityBudget",
    "Problem",
    "SimpleMKLClassifier",
    "SolveResult",
    "StPMKLClassifier",
    "StPMKLClassifierCV",
    "Status",
    "__version__",
    "certificate",
    "mkl_path",
    "solve",
]
