"""Linear kernels: the columns are their own features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from .family import FeatureMap, FittedFamily, FittedFeatures, KernelFamily, Size


@dataclass(frozen=True)
class Identity(FeatureMap):
    """The columns themselves."""

    def __call__(self, X: Floats) -> Floats:
        return X


@dataclass(frozen=True)
class Linear(KernelFamily):
    """The linear kernel ``x'x'``: one a column, or with ``joint=True`` one on all the columns together."""

    joint: bool = False

    def fit(self, X: Floats, label: str, exact: bool = False) -> FittedFamily:
        return FittedFeatures(Identity(), np.eye(X.shape[1])[None], (f"linear({label})",))

    def size(self, n: int, d: int, exact: bool = False) -> Size:
        return Size(1, d, identity=False)
