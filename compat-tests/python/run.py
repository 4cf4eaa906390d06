"""Runs the tests of this directory, many at a time: most of their time is spent waiting. Those that say alone = True come
first, one after another.

    python run.py                                     everything
    python run.py test_messages test_sessions.Sessions.test_peek   only these
    python run.py -test_sessions.Sessions.test_peek                everything but these
"""

import concurrent.futures
import importlib.metadata
import inspect
import logging
import os
import pathlib
import sys
import time
import unittest

AT_ONCE = 16


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def run(test):
    """Runs one test and returns it with its seconds and what went wrong."""
    result = unittest.TestResult()
    begin = time.monotonic()
    test(result)
    problems = [text for _, text in result.errors + result.failures]
    problems += [f"skipped: {why}" for _, why in result.skipped]
    return test, time.monotonic() - begin, problems


def note(test, directory):
    """Notes what a test that passed proves, for docs/parity.md."""
    method = getattr(test, test._testMethodName)
    version = importlib.metadata.version("azure-servicebus")
    column = os.environ.get("MINIBUS_COLUMN") or "python"
    file = f"compat-tests/python/{pathlib.Path(inspect.getsourcefile(method)).name}"
    with open(pathlib.Path(directory) / f"{column}.tsv", "a") as notes:
        for case in getattr(method, "proves", ()):
            print(column, version, case, file, test.id(), sep="\t", file=notes)


def main(names):
    # The SDK logs what it then raises.
    logging.disable(logging.CRITICAL)
    without = {name[1:] for name in names if name.startswith("-")}
    names = [name for name in names if not name.startswith("-")] or sorted(p.stem for p in pathlib.Path(__file__).parent.glob("test_*.py"))
    tests = list(flat(unittest.defaultTestLoader.loadTestsFromNames(names)))
    left_out = [test for test in tests if any(f"{test.id()}.".startswith(f"{name}.") for name in without)]
    if len(left_out) < len(without):
        raise SystemExit(f"not all of these are tests: {without}")
    tests = [test for test in tests if test not in left_out]
    alone = [test for test in tests if getattr(test, "alone", False)]
    failed, directory = 0, os.environ.get("MINIBUS_PARITY")
    for group, at_once in ((alone, 1), ([test for test in tests if test not in alone], AT_ONCE)):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for done in concurrent.futures.as_completed([pool.submit(run, test) for test in group]):
                test, seconds, problems = done.result()
                print(f"{'FAILED' if problems else 'ok    '} {seconds:5.1f} s  {test.id()}", *problems, sep="\n", flush=True)
                failed += bool(problems)
                if directory and not problems:
                    note(test, directory)
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
