"""Label noise: simulate it."""

from robustmkl.noise.flip import flip_labels

__all__ = ["flip_labels"]
