# Written by "minibus env --identity". Python imports it at the start, because its directory is in PYTHONPATH.
#
# The Service Bus SDK reads the authorities that it trusts over AMQP from the package certifi, whatever the environment
# says. So certifi returns a file with its own authorities and that of Minibus.

import glob
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import time

_here = os.path.dirname(os.path.abspath(__file__))
_prefix = "minibus-certifi-"


def _trust():
    try:
        import certifi
        import certifi.core
    except ImportError:
        return
    original = certifi.where()
    with open(os.path.join(os.path.dirname(_here), "minibus-ca.pem"), "rb") as f:
        ours = f.read()
    with open(original, "rb") as f:
        text = f.read() + b"\n" + ours

    def where():
        return _bundle(text) or original

    _clean()
    certifi.where = certifi.core.where = where
    certifi.contents = certifi.core.contents = lambda: text.decode("ascii")


def _clean():
    # Bundles of earlier certificates. A program that still needs one makes it anew.
    yesterday = time.time() - 24 * 60 * 60
    for bundle in glob.glob(os.path.join(glob.escape(_here), _prefix + "*.pem")):
        try:
            if os.path.getmtime(bundle) < yesterday:
                os.remove(bundle)
        except OSError:
            pass


def _bundle(text):
    name = _prefix + hashlib.sha256(text).hexdigest()[:16] + ".pem"
    for directory in (_here, tempfile.gettempdir()):
        bundle = os.path.join(directory, name)
        try:
            with open(bundle, "rb") as f:
                if f.read() == text:
                    return bundle
        except OSError:
            pass
        try:
            handle, temporary = tempfile.mkstemp(dir=directory)
            with os.fdopen(handle, "wb") as f:
                f.write(text)
            os.chmod(temporary, 0o644)
            os.replace(temporary, bundle)
            return bundle
        except OSError:
            pass
    return None


def _is_minibus(directory):
    try:
        with open(os.path.join(directory, "sitecustomize.py"), "rb") as f:
            return b'"minibus env --identity"' in f.readline()
    except OSError:
        return False


def _next():
    # Another sitecustomize, which this one hides. Those of other Minibuses would change certifi again.
    path = [p for p in sys.path if not _is_minibus(p or ".")]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if not hasattr(sys, "_minibus_trusts"):
    sys._minibus_trusts = _here
    try:
        _trust()
    except OSError:
        pass
    _next()
