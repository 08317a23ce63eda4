"""The API that follows the conventions of PyTorch."""
