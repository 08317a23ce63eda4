"""What is raised and warned while a function is compiled, under the path that programs and the core name."""

from mindspore.compile.program.errors import (  # noqa: F401
    Inseparable,
    RunsEagerly,
    Unsupported,
    core_error,
    eager_error,
    note_zero_divisor,
)
