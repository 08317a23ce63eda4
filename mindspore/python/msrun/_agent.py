"""What mpiexec calls in place of ssh: `_agent.py [options] HOST COMMAND...`. Hands the command to the msrun that started mpiexec, and
ends as the command does."""

import json
import os
import socket
import sys
from collections.abc import Callable


def by_path(call: Callable[[str], None], path: str) -> None:
    """Binds or connects a socket there. Its path may have 107 bytes, temporary folders have longer ones: it goes by the folder's
    descriptor."""
    folder = os.open(os.path.dirname(path), os.O_PATH)
    try:
        call(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
    finally:
        os.close(folder)


def main() -> int:
    """The status of the command."""
    words = sys.argv[1:]
    while words and words[0].startswith("-"):
        words.pop(0)
    if len(words) < 2:
        return 255
    with socket.socket(socket.AF_UNIX) as msrun:
        by_path(msrun.connect, os.environ["MSRUN_AGENTS"])
        message = {"host": words[0], "command": " ".join(words[1:])}
        msrun.sendall(json.dumps(message).encode() + b"\n")
        answer = msrun.makefile().readline()
    return int(json.loads(answer)["status"]) if answer else 255


if __name__ == "__main__":
    sys.exit(main())
