"""The package's version: the one place that states it; the wheel's metadata is read from here.

Major and minor follow the public MindSpore API that this release implements.
"""

__version__ = "2.10.0.dev0"
