package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// packaged are the files of a package.
var packaged = []string{"/usr/bin/minibus", "/usr/lib/systemd/user/minibus.service", "/usr/share/doc/minibus/README.md", "/usr/share/doc/minibus/THIRD-PARTY-LICENSES.txt",
	"/usr/share/doc/minibus/copyright"}

// builtHere is the version of a release's binary for this machine.
func (d *dist) builtHere() string { return wantVersion(released, d.commit, commitDate) }

// deb installs the package with dpkg into a directory, runs what is in it there, and removes it.
func (d *dist) deb(t *testing.T) {
	file := filepath.Join(d.dir, "minibus_"+released+"_linux_"+runtime.GOARCH+".deb")
	root := t.TempDir()
	admin := filepath.Join(root, "var/lib/dpkg")
	for _, dir := range []string{"updates", "info", "triggers"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) string {
		return command(t, root, nil, "dpkg", append([]string{"--root=" + root, "--force-not-root", "--log=/dev/null"}, args...)...)
	}
	dpkg("--install", file)
	d.installed(t, root)
	if status := dpkg("--status", "minibus"); !strings.Contains(status, "Status: install ok installed") || !strings.Contains(status, "Version: "+released) ||
		!strings.Contains(status, "Homepage: https://github.com/someone/minibus") {
		t.Errorf("dpkg says\n%s", status)
	}
	dpkg("--purge", "minibus")
	for _, name := range packaged {
		if _, err := os.Stat(filepath.Join(root, name)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for arch, want := range map[string]string{"amd64": "amd64", "arm64": "arm64"} {
		got := command(t, root, nil, "dpkg-deb", "--field", filepath.Join(d.dir, "minibus_"+released+"_linux_"+arch+".deb"), "Architecture")
		if got != want {
			t.Errorf("the package for %s is for %s", arch, got)
		}
	}
}

// rpm installs the package with rpm into a directory, runs what is in it there, and removes it.
func (d *dist) rpm(t *testing.T) {
	file := filepath.Join(d.dir, "minibus_"+released+"_linux_"+runtime.GOARCH+".rpm")
	root := t.TempDir()
	run := func(args ...string) string {
		return command(t, root, nil, "rpm", append([]string{"--root", root, "--dbpath", "/rpm"}, args...)...)
	}
	run("--initdb")
	run("--install", "--force-debian", file) // Debian's rpm refuses to install anything otherwise
	d.installed(t, root)
	if got, want := run("--query", "--list", "minibus"), strings.Join(packaged, "\n"); got != want {
		t.Errorf("the package has\n%s\nnot\n%s", got, want)
	}
	if got := run("--query", "--queryformat", "%{VERSION} %{LICENSE} %{URL}", "minibus"); got != released+" MIT https://github.com/someone/minibus" {
		t.Errorf("rpm says %s", got)
	}
	run("--erase", "minibus")
	if _, err := os.Stat(filepath.Join(root, packaged[0])); !os.IsNotExist(err) {
		t.Errorf("the binary is still there: %v", err)
	}
	for arch, want := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		got := command(t, root, nil, "rpm", "--query", "--package", "--queryformat", "%{ARCH}", filepath.Join(d.dir, "minibus_"+released+"_linux_"+arch+".rpm"))
		if got != want {
			t.Errorf("the package for %s is for %s", arch, got)
		}
	}
}

// installed looks at the files of a package, below a directory.
func (d *dist) installed(t *testing.T, root string) {
	t.Helper()
	for _, name := range packaged {
		want := os.FileMode(0o644)
		if name == "/usr/bin/minibus" {
			want = 0o755
		}
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if got := command(t, root, nil, filepath.Join(root, "usr/bin/minibus"), "version"); got != d.builtHere() {
		t.Errorf("the installed binary is\n%s\nnot\n%s", got, d.builtHere())
	}
	verifyUnit(t, root)
}

// verifyUnit has systemd read the unit, with the path of the installed binary in it. Only .ci/nightly installs systemd for that.
func verifyUnit(t *testing.T, root string) {
	t.Helper()
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/user/minibus.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/usr/bin/minibus serve\n") {
		t.Fatalf("the unit is %q, %v", unit, err)
	}
	if os.Getenv("MINIBUS_NIGHTLY") == "" {
		return
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		harness.Lack(t, "the unit needs systemd-analyze: %v", err)
	}
	moved := filepath.Join(t.TempDir(), "minibus.service")
	if err := os.WriteFile(moved, []byte(strings.Replace(string(unit), "/usr/bin/minibus", filepath.Join(root, "usr/bin/minibus"), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := command(t, root, []string{"XDG_RUNTIME_DIR=" + t.TempDir()}, "systemd-analyze", "verify", "--user", "--man=no", moved); out != "" {
		t.Errorf("systemd says of the unit:\n%s", out)
	}
}

// manifests compares those for Homebrew and Scoop with the archives.
func (d *dist) manifests(t *testing.T) {
	const address = "https://github.com/someone/minibus/releases/download/"
	sums, cask := d.sums(t), string(d.file(t, "homebrew/Casks/minibus.rb"))
	for _, g := range d.targets {
		if g.os == "windows" {
			continue
		}
		name := strings.ReplaceAll(g.archive(), released, "#{version}")
		if !strings.Contains(cask, `sha256 "`+sums[g.archive()]+"\"\n      url \""+address+"v#{version}/"+name+`"`) {
			t.Errorf("the cask lacks %s:\n%s", g.archive(), cask)
		}
	}
	if os.Getenv("MINIBUS_NIGHTLY") == "" {
		return
	}
	var scoop struct {
		Version, Homepage, License string
		Architecture               map[string]struct {
			URL, Hash string
			Bin       []string
		}
	}
	if err := json.Unmarshal(d.file(t, "scoop/minibus.json"), &scoop); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]target{"64bit": {"windows", "amd64"}, "arm64": {"windows", "arm64"}} {
		a := scoop.Architecture[name]
		if a.URL != address+tag+"/"+g.archive() || a.Hash != sums[g.archive()] || len(a.Bin) != 1 || a.Bin[0] != "minibus.exe" {
			t.Errorf("scoop's manifest has %+v for %s", a, name)
		}
	}
	if scoop.Version != released || scoop.Homepage != "https://github.com/someone/minibus" || scoop.License != "MIT" {
		t.Errorf("scoop's manifest is %+v", scoop)
	}
}
