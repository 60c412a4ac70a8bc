"""The five UCI tables on which multiple kernel learning from noisy labels was studied."""

from robustmkl.datasets.uci import load_uci

__all__ = ["load_uci"]
