"""What a certified classifier can be asked to prove: its certificate anew, and Theorem 1's bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..kernels import PrecomputedKernels
from ..problem import Certificate, Problem
from ..solvers import Point
from ..theory import RiskBound, generalization_bound
from .base import MKLClassifier
from .validation import check_labels


class CertifiedClassifier(MKLClassifier):
    """A classifier whose training problem is convex, so that its optimum can be proved."""

    def certificate(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate | list[Certificate]:
        """Recompute the certificate from the training data by another way than the fit took.

        The losses use :meth:`decision_function` on the training rows, the dual value exact Gram matrices: neither
        touches the representation that the solver worked on. The norms are those of the result. A list, one a class,
        for more than two. To recompute all of it from its definition see :meth:`problem`.
        """
        check_is_fitted(self)
        return self._as_fitted()._certify(X, y, sample_weight)

    def problem(self, X: Any, y: Any, sample_weight: Any = None) -> list[tuple[Problem, Point]]:
        """Return the training problem and its solution, one pair a class (one for two classes).

        The rows stand in canonical order, equal ones merged, those of weight 0 left out, and so do the entries of the
        solution: ``robustmkl.certificate(problem, *solution)`` recomputes the certificate from its definition.
        """
        check_is_fitted(self)
        model = self._as_fitted()
        table, classes, codes, s = model._check_training(X, y, sample_weight, reset=False)
        self._check_same_rows(codes.size, classes)
        return list(zip(model._pose(table, classes, codes, s)[-1], self._points, strict=True))

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> Certificate | list[Certificate]:
        table, classes, codes, s = self._check_training(X, y, sample_weight, reset=False)
        self._check_same_rows(codes.size, classes)
        kept = np.flatnonzero(s > 0.0)
        values = np.atleast_2d(self.decision_function(X).T)[:, kept]
        if self._is_precomputed:
            bank = PrecomputedKernels(table, kept).bank()
        else:
            bank = self._dictionary().fit(table[kept], self._column_names(), exact=True).bank(table[kept])
        budget, found = self._budget(float(s.sum())), []
        for c, (f, result) in enumerate(zip(values, self._results, strict=True)):
            y_c = 2.0 * (codes[kept] == (c if len(values) > 1 else 1)) - 1.0
            problem = Problem(bank, y_c, s[kept], self.lam, budget, self.fit_intercept)
            risk = budget.support(1.0 - y_c * f, problem.s) / problem.total
            primal, dual = problem.penalty.value(result.norms) + risk, problem.dual(result.alpha[kept])
            found.append(Certificate(primal, dual, primal - dual))
        return found if len(found) > 1 else found[0]

    def _check_same_rows(self, n: int, classes: np.ndarray) -> None:
        """Refuse rows that cannot be those of the fit."""
        if n != self.alpha_.shape[-1] or not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"{n} rows with the classes {classes.tolist()} are not the training rows: the model was fitted on "
                f"{self.alpha_.shape[-1]} rows with the classes {self.classes_.tolist()}. Give the data of the fit."
            )

    def risk_bound(self, X: Any, y: Any, noise_level: float, epsilon: float = 0.05, delta: float = 0.05) -> RiskBound:
        """Return the paper's formula of Theorem 1 for the expected hinge loss, from the training rows.

        The theorem states it, with probability ``1 - delta``, for solutions of eq. (10), ``budget="p"`` with the
        same noise_level and epsilon, without intercept, with unit weights, kernels with ``k(x, x) <= 1`` and at most
        ``noise_level n`` wrong labels; of these only the intercept is checked here. It is not true for many kernels
        (the formula does not depend on their number), and on tables of some hundred rows it exceeds 1 and says
        nothing: see ``is_vacuous``.
        """
        check_is_fitted(self)
        fitted = self._as_fitted()
        if fitted.fit_intercept:
            raise ValueError("Theorem 1 is about f without intercept: fit with fit_intercept=False.")
        if len(self.classes_) > 2:
            raise ValueError(f"Theorem 1 is about two classes, this model has {len(self.classes_)}.")
        values = self.decision_function(X)
        labels, codes = check_labels(y, values.size)
        self._check_same_rows(values.size, labels)
        signs = 2.0 * codes - 1.0
        losses = np.maximum(0.0, 1.0 - signs * values)
        return generalization_bound(losses, noise_level, epsilon, fitted.lam, delta)
