"""Runs commands of az in one process, since each start takes a second: a JSON list of arguments a line, and a JSON object as answer."""

import io
import json
import sys

from azure.cli.core import get_default_cli


class Errors(io.StringIO):
    """The standard error of all commands: their log keeps the one that it found first."""

    def take(self):
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


answers, errors = sys.stdout, Errors()
sys.stderr = errors


def run(arguments):
    out = io.StringIO()
    sys.stdout = out
    try:
        code = get_default_cli().invoke(arguments, out_file=out)
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout = answers
    return {"code": code or 0, "out": out.getvalue(), "err": errors.take()}


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), file=answers, flush=True)
