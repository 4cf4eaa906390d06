package release

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// sendsInPython sends a message through the program that the package minibus finds.
const sendsInPython = `from minibus import Minibus
with Minibus.start(queues=["orders"], timeout=60) as bus:
    bus.send("orders", "hello")
    print(bus.messages("orders")[0].body, bus.clock.now() < bus.clock.advance("1h"))
`

// wheels makes the wheels of the release, installs the one for Linux on arm64, and sends a message through its program.
func (d *dist) wheels(t *testing.T) {
	out, installed := t.TempDir(), t.TempDir()
	var environ []string
	if len(d.targets) == 2 {
		environ = append(environ, "LINUX_ONLY=1")
	}
	made := command(t, filepath.Dir(d.dir), environ, "packaging/python.sh", "pack", tag, d.dir, out)
	if n := strings.Count(made, "minibus-"+released+"-py3-none-"); n != len(d.targets) {
		t.Errorf("%d wheels are made, not %d:\n%s", n, len(d.targets), made)
	}
	command(t, out, nil, "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-compile",
		"--find-links", out, "--only-binary", ":all:", "--platform", "manylinux2014_aarch64", "--target", installed, "minibus")
	licenses := filepath.Join(installed, "minibus-"+released+".dist-info", "licenses", thirdParty)
	if _, err := os.Stat(licenses); err != nil {
		t.Error(err)
	}
	binary := filepath.Join(installed, "bin", "minibus")
	if runtime.GOARCH != "arm64" {
		binary = emulated(t, binary)
	}
	if got := command(t, out, []string{"PYTHONPATH=" + installed, "MINIBUS_PATH=" + binary}, "python3", "-c", sendsInPython); got != "hello True" {
		t.Errorf("it prints %q", got)
	}
}
