"""Old path of the helper that tells PIL images from arrays."""

from mindspore.dataset.vision.image import is_pil

__all__ = ["is_pil"]
