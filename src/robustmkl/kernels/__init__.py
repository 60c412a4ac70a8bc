"""Kernel families and the dictionary that puts them on the columns of a table."""

from .bank import KernelBank
from .dictionary import FittedDictionary, KernelDictionary, paper_dictionary
from .family import FeatureMap, FittedFamily, FittedFeatures, FittedGram, GramKernel, KernelFamily, Part, Size
from .gaussian import Gaussian
from .linear import Linear
from .nystrom import Nystrom
from .polynomial import Polynomial
from .precomputed import Precomputed, PrecomputedKernels

__all__ = [
    "FeatureMap",
    "FittedDictionary",
    "FittedFamily",
    "FittedFeatures",
    "FittedGram",
    "Gaussian",
    "GramKernel",
    "KernelBank",
    "KernelDictionary",
    "KernelFamily",
    "Linear",
    "Nystrom",
    "Part",
    "Polynomial",
    "Precomputed",
    "PrecomputedKernels",
    "Size",
    "paper_dictionary",
]
