"""The classifiers: thin scikit-learn adapters around problem, kernels and solvers."""

from .cv import StPMKLClassifierCV
from .mipmkl import MiPMKLClassifier
from .stpmkl import SimpleMKLClassifier, StPMKLClassifier

__all__ = ["MiPMKLClassifier", "SimpleMKLClassifier", "StPMKLClassifier", "StPMKLClassifierCV"]
