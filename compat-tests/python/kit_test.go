package python

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// wheels makes the wheels of a release and returns their directory. The program for this platform is a link to the one that is
// named; the others are stand-ins.
func wheels(t *testing.T, program string) string {
	t.Helper()
	dist := t.TempDir()
	files := make(map[string]string)
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			name := filepath.Join("id_"+system+"_"+processor+"_v1", "minibus")
			if system == "windows" {
				name += ".exe"
			}
			files[name] = "a program for " + system
		}
	}
	here := filepath.Join("id_"+runtime.GOOS+"_"+runtime.GOARCH+"_v1", "minibus")
	if err := harness.WriteFiles(dist, files); err != nil {
		t.Fatal(err)
	}
	if program != "" {
		if err := errors.Join(os.Remove(filepath.Join(dist, here)), os.Symlink(program, filepath.Join(dist, here))); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	harness.Run(t, nil, "../../packaging/python.sh", "pack", "v1.2.3-rc.1", dist, out)
	return out
}

// environment makes a virtual environment with minibus from a directory of wheels alone. It also sees the packages of python.
func environment(t *testing.T, python, wheels string) (interpreter string) {
	t.Helper()
	dir := t.TempDir()
	harness.Run(t, nil, python, "-m", "venv", "--without-pip", dir)
	harness.Run(t, nil, python, "-m", "pip", "--python", dir, "install", "--quiet", "--disable-pip-version-check",
		"--no-compile", "--no-index", "--find-links", wheels, "--pre", "minibus")
	where, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "lib", "python*", "site-packages"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	if err := os.WriteFile(filepath.Join(found[0], "packages.pth"), where, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "bin", "python")
}

// TestPythonKit installs the wheel for this platform from a directory. It runs the tests of the kit and of the page, and the checker of
// types.
func TestPythonKit(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the kit for Python")
	made := wheels(t, harness.Binary(t))
	python := environment(t, harness.Python(t, "kit"), made)
	pytest := []string{"-m", "pytest", "-q", "-p", "no:cacheprovider"}
	t.Run("verbs", func(t *testing.T) {
		run(t, python, nil, append(pytest, "-n", "6", "kit")...)
	})
	t.Run("page", func(t *testing.T) {
		page := harness.ReadPage(t, "docs/python.md")
		for section, name := range map[string]string{"## Dead letters and time": "test_example.py", "## asyncio": "test_asyncio.py"} {
			recipe, err := harness.ReadRecipe(page, section)
			text, errRead := os.ReadFile(filepath.Join("kit", name))
			if err != nil || errRead != nil || recipe.Files[name] != "# "+name+"\n"+string(text) {
				t.Errorf("the page has another %s than kit: %v, %v\n%s", name, err, errRead, recipe.Files[name])
			}
		}
		recipe, err := harness.ReadRecipe(page, "## First test")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := harness.WriteFiles(dir, recipe.Files); err != nil {
			t.Fatal(err)
		}
		for _, workers := range []string{"0", "3"} {
			args := append(pytest, "-n", workers, "--rootdir", dir, dir)
			out := harness.Run(t, []string{"PYTHONDONTWRITEBYTECODE=1"}, python, args...)
			if !strings.Contains(out, "1 passed") {
				t.Error("want that one test passes")
			}
		}
	})
	t.Run("types", func(t *testing.T) {
		cache := filepath.Join(os.TempDir(), "minibus-mypy")
		mypy := []string{"-m", "mypy", "--strict", "--cache-dir", cache, "--python-version"}
		run(t, python, nil, append(mypy, "3.10", "-p", "minibus")...)
		run(t, python, nil, append(mypy, "3.11", "kit/typed.py")...)
	})
}

// TestWheels wants one wheel for each platform, and the same bytes from the same input.
func TestWheels(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to make the wheels")
	made := wheels(t, "")
	want := []string{
		"macosx_12_0_arm64", "macosx_12_0_x86_64",
		"manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64",
		"manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64", "win_amd64", "win_arm64",
	}
	files, err := os.ReadDir(made)
	if err != nil || len(files) != len(want) {
		t.Fatalf("%v: %v", files, err)
	}
	again := wheels(t, "")
	for i, file := range files {
		if name := "minibus-1.2.3rc1-py3-none-" + want[i] + ".whl"; file.Name() != name {
			t.Errorf("found %s, want %s", file.Name(), name)
		}
		first, err := os.ReadFile(filepath.Join(made, file.Name()))
		second, errAgain := os.ReadFile(filepath.Join(again, file.Name()))
		if err != nil || errAgain != nil || string(first) != string(second) {
			t.Errorf("%s has other bytes when it is made again: %v, %v", file.Name(), err, errAgain)
		}
	}
	out, err := harness.Output(nil, "python3", "-B", "../../packaging/python/wheel.py", "1.2", "win_amd64", "kit_test.go", made)
	if err == nil || !strings.Contains(out, "1.2 is no version") {
		t.Errorf("a bad version: %v\n%s", err, out)
	}
}
