"""What mpiexec calls in place of ssh: `_agent.py [options] HOST COMMAND...`. Hands the command to the msrun that started mpiexec, and
ends as the command does."""

import json
import os
import socket
import sys


def main() -> int:
    """The status of the command."""
    words = sys.argv[1:]
    while words and words[0].startswith("-"):
        words.pop(0)
    if len(words) < 2:
        return 255
    with socket.socket(socket.AF_UNIX) as msrun:
        msrun.connect(os.environ["MSRUN_AGENTS"])
        message = {"host": words[0], "command": " ".join(words[1:])}
        msrun.sendall(json.dumps(message).encode() + b"\n")
        answer = msrun.makefile().readline()
    return int(json.loads(answer)["status"]) if answer else 255


if __name__ == "__main__":
    sys.exit(main())
