"""What higher layers give to lower ones when they are imported, so that imports only go down.

`compiler` is the package mindspore.compile, for library code that meets a user's function while a
graph is being traced. `cell_class` is nn.Cell, for the front end; while nn has not been imported
there are no cells, and `isinstance(x, ())` is false. `parameter_class` is Parameter. `undecided`
are the front end's classes of what stands for values that are not known while compiling.
"""

from __future__ import annotations

from typing import Any

compiler: Any = None
cell_class: Any = ()
parameter_class: Any = ()
undecided: Any = ()
