"""Makes the wheels. It needs only Python, and the same input gives the same bytes.

    python wheel.py VERSION TAG PROGRAM OUT      the wheel of a platform, with its program

pip calls build_wheel, which makes one without a program.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NAME = "minibus"  # on PyPI
REPOSITORY = "https://github.com/OWNER/minibus"
IN_A_CLONE = "0.0.0"

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: A local Azure Service Bus in one binary, with a kit for tests and a pytest plugin
License-Expression: MIT
{licenses}Keywords: azure,service-bus,servicebus,emulator,amqp,testing,pytest
Requires-Python: >=3.10
Provides-Extra: testcontainers
Requires-Dist: testcontainers>=4.10; extra == 'testcontainers'
Classifier: Development Status :: 5 - Production/Stable
Classifier: Framework :: Pytest
Classifier: Intended Audience :: Developers
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Testing
Classifier: Typing :: Typed
Project-URL: Documentation, {repository}/blob/main/docs/python.md
Project-URL: Source, {repository}
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: minibus
Root-Is-Purelib: {pure}
{tags}"""

ENTRY_POINTS = "[pytest11]\nminibus = minibus.pytest_plugin\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of PEP 517."""
    return make(IN_A_CLONE, "any", None, Path(wheel_directory))


def make(version, tag, program, out):
    """Write a wheel and return its name. tag has the platforms, with dots between."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?", version)
    if not found:
        raise SystemExit(f"wheel.py: {version} is no version such as 1.2.3 or 1.2.3-rc.1")
    release, stage, number = found.groups()
    version = release if stage is None else release + {"alpha": "a", "beta": "b", "rc": "rc"}[stage] + number
    info = f"{NAME}-{version}.dist-info"

    sources = [path for path in sorted(HERE.glob("minibus/*")) if path.suffix == ".py" or path.name == "py.typed"]
    files = {f"minibus/{path.name}": path.read_bytes() for path in sources}
    if program:
        files[f"{NAME}-{version}.data/scripts/minibus{program.suffix}"] = program.read_bytes()
    licenses = [path for path in (ROOT / "LICENSE", ROOT / "bin" / "THIRD-PARTY-LICENSES.txt") if path.exists()]
    files |= {f"{info}/licenses/{path.name}": path.read_bytes() for path in licenses}
    files[f"{info}/METADATA"] = METADATA.format(
        name=NAME,
        version=version,
        licenses="".join(f"License-File: {path.name}\n" for path in licenses),
        repository=REPOSITORY,
        readme=(HERE / "README.md").read_text(encoding="utf-8"),
    ).encode()
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.split("."))
    files[f"{info}/WHEEL"] = WHEEL.format(pure="false" if program else "true", tags=tags).encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

    out.mkdir(parents=True, exist_ok=True)
    wheel = f"{NAME}-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(out / wheel, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if ".data/scripts/" in name else 0o100644) << 16
            entry.create_system = 3  # Unix, wherever it is made
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return wheel


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit("wheel.py: VERSION TAG PROGRAM OUT")
    print(make(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])))
