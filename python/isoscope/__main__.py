"""Runs the program with the same arguments: `python -m isoscope check history.json`."""

import os
import sys

from ._program import Error, program


def main() -> None:
    """Becomes the program. Ends with exit code 2 if there is none."""
    try:
        path = program()
        os.execv(path, ["isoscope", *sys.argv[1:]])
    except (Error, OSError) as failure:
        print(f"isoscope: {failure}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
