"""The classifiers: thin scikit-learn adapters around problem, kernels and solvers."""

from .mipmkl import MiPMKLClassifier
from .stpmkl import SimpleMKLClassifier, StPMKLClassifier

__all__ = ["MiPMKLClassifier", "SimpleMKLClassifier", "StPMKLClassifier"]
