"""python -m minibus: the program with the same arguments."""

import os
import subprocess
import sys

from ._binary import find_binary
from ._wire import MinibusError


def main() -> int:
    try:
        program = find_binary()
    except MinibusError as missing:
        print(missing, file=sys.stderr)
        return 1
    arguments = [program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(program, arguments)
    try:
        return subprocess.run(arguments).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
