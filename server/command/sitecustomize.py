# Written by "minibus env --identity". Python imports it at the start, because its directory is in PYTHONPATH.
#
# The Service Bus SDK reads the authorities that it trusts over AMQP from the package certifi, whatever the environment
# says. So certifi returns a file with its own authorities and that of Minibus.

import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))


def _trust():
    try:
        import certifi
        import certifi.core
    except ImportError:
        return
    with open(os.path.join(os.path.dirname(_here), "minibus-ca.pem"), "rb") as f:
        ours = f.read()
    with open(certifi.where(), "rb") as f:
        text = f.read() + b"\n" + ours
    name = "minibus-certifi-" + hashlib.sha256(text).hexdigest()[:16] + ".pem"
    bundle = None
    for directory in (_here, tempfile.gettempdir()):
        bundle = os.path.join(directory, name)
        try:
            with open(bundle, "rb") as f:
                if f.read() == text:
                    break
        except OSError:
            pass
        try:
            handle, temporary = tempfile.mkstemp(dir=directory)
            with os.fdopen(handle, "wb") as f:
                f.write(text)
            os.chmod(temporary, 0o644)
            os.replace(temporary, bundle)
            break
        except OSError:
            bundle = None
    if bundle is not None:
        certifi.where = certifi.core.where = lambda: bundle
        certifi.contents = certifi.core.contents = lambda: text.decode("ascii")


def _next():
    # Another sitecustomize, which this one hides.
    path = [p for p in sys.path if os.path.abspath(p or ".") != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


try:
    _trust()
except OSError:
    pass
_next()
