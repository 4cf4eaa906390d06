package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// dist is a release that was built and not published.
type dist struct {
	dir, commit string
	targets     []target
}

type target struct{ os, arch string }

func (g target) String() string { return g.os + "_" + g.arch }

// archive returns the name of the target's archive.
func (g target) archive() string {
	end := ".tar.gz"
	if g.os == "windows" {
		end = ".zip"
	}
	return "minibus_" + released + "_" + g.String() + end
}

// binary returns the name of the target's binary.
func (g target) binary() string {
	if g.os == "windows" {
		return "minibus.exe"
	}
	return "minibus"
}

// build checks the configuration and builds a release with all but publishing it. Compiling for macOS and Windows takes minutes, so only
// .ci/nightly does that.
func build(t *testing.T) *dist {
	t.Helper()
	tool := os.Getenv("MINIBUS_GORELEASER")
	if tool == "" {
		t.Fatal("MINIBUS_GORELEASER must name the program goreleaser; .ci/run setup release installs and names it")
	}
	dir, commit := checkout(t)
	command(t, dir, nil, tool, "check")
	d := &dist{dir: filepath.Join(dir, "dist"), commit: commit, targets: []target{{"linux", "amd64"}, {"linux", "arm64"}}}
	skip, environ := "publish,announce", []string{"GOFLAGS=", "CGO_ENABLED=0", "GITHUB_REPOSITORY_OWNER=someone", "TAP_TOKEN="}
	if os.Getenv("MINIBUS_NIGHTLY") == "" {
		skip, environ = skip+",scoop", append(environ, "LINUX_ONLY=1")
	} else {
		for _, system := range []string{"darwin", "windows"} {
			d.targets = append(d.targets, target{system, "amd64"}, target{system, "arm64"})
		}
	}
	t.Log(command(t, dir, environ, tool, "release", "--clean", "--skip="+skip))
	return d
}

func TestRelease(t *testing.T) {
	harness.NeedAll(t, "to build a release")
	d := build(t)
	t.Run("checksums", d.checksums)
	for _, g := range d.targets {
		t.Run(g.String(), func(t *testing.T) {
			files := unpack(t, filepath.Join(d.dir, g.archive()))
			for _, name := range []string{"LICENSE", "README.md", thirdParty, g.binary()} {
				if len(files[name]) == 0 {
					t.Errorf("%s has no %s", g.archive(), name)
				}
			}
			if len(files) != 4 {
				t.Errorf("%s has %d files", g.archive(), len(files))
			}
			namesModules(t, string(files[thirdParty]), files[g.binary()])
			isFor(t, g, files[g.binary()])
			d.documented(t, g, files[g.binary()])
		})
	}
	t.Run("deb", d.deb)
	t.Run("rpm", d.rpm)
	t.Run("arm64", d.arm64)
	t.Run("wheels", d.wheels)
	t.Run("npm", d.npm)
	t.Run("manifests", d.manifests)
}

// file reads a file of the release.
func (d *dist) file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sums returns the checksums of the release by file.
func (d *dist) sums(t *testing.T) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for line := range strings.Lines(string(d.file(t, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	return sums
}

// checksums wants the right one of every file that people download.
func (d *dist) checksums(t *testing.T) {
	sums := d.sums(t)
	var want []string
	for _, g := range d.targets {
		want = append(want, g.archive(), "minibus_"+released+"_"+g.String()+".cdx.json")
		if g.os == "linux" {
			want = append(want, "minibus_"+released+"_"+g.String()+".deb", "minibus_"+released+"_"+g.String()+".rpm")
		}
	}
	for _, name := range want {
		if got := sha256.Sum256(d.file(t, name)); sums[name] != hex.EncodeToString(got[:]) {
			t.Errorf("%s: the checksum is %x, checksums.txt says %q", name, got, sums[name])
		}
	}
	if len(sums) != len(want) {
		t.Errorf("checksums.txt has %d files, not %d:\n%s", len(sums), len(want), d.file(t, "checksums.txt"))
	}
}

// unpack returns the files of an archive by name.
func unpack(t *testing.T, path string) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = readAll(t, r)
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == "minibus" && header.Mode != 0o755 {
			t.Errorf("the binary in %s has the mode %o", path, header.Mode)
		}
		files[header.Name] = readAll(t, r)
	}
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// isFor looks into the header of a binary: for which system and processor it is, and that it needs no libraries on Linux.
func isFor(t *testing.T, g target, binary []byte) {
	t.Helper()
	var got, want string
	switch r := bytes.NewReader(binary); g.os {
	case "linux":
		f, err := elf.NewFile(r)
		if err != nil {
			t.Fatal(err)
		}
		libraries, _ := f.ImportedLibraries() // an error for a static binary
		got, want = fmt.Sprint(f.Machine, libraries), map[string]string{"amd64": "EM_X86_64[]", "arm64": "EM_AARCH64[]"}[g.arch]
		want = strings.Replace(want, "[", " [", 1)
	case "darwin":
		f, err := macho.NewFile(r)
		if err != nil {
			t.Fatal(err)
		}
		got, want = f.Cpu.String(), map[string]string{"amd64": "CpuAmd64", "arm64": "CpuArm64"}[g.arch]
	case "windows":
		f, err := pe.NewFile(r)
		if err != nil {
			t.Fatal(err)
		}
		got, want = fmt.Sprintf("%#x", f.Machine), map[string]string{"amd64": "0x8664", "arm64": "0xaa64"}[g.arch]
	}
	if got != want {
		t.Errorf("the binary for %s is for %s, not %s", g, got, want)
	}
}

// documented compares the list of modules of a target with what the go command finds in the binary.
func (d *dist) documented(t *testing.T, g target, binary []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), g.binary())
	if err := os.WriteFile(path, binary, 0o600); err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(command(t, d.dir, nil, "go", "version", "-m", path) + "\n") {
		if fields := strings.Fields(line); fields[0] == "dep" {
			want = append(want, fields[1]+"@"+fields[2])
		}
	}
	var document struct {
		Metadata struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(d.file(t, "minibus_"+released+"_"+g.String()+".cdx.json"), &document); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range document.Components {
		if c.Name != "stdlib" {
			got = append(got, c.Name+"@"+c.Version)
		}
	}
	if c := document.Metadata.Component; c.Name != harness.Module(t) || c.Version != released || len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("the document is of %v and lists\n%v\nnot\n%v", c, got, want)
	}
}
