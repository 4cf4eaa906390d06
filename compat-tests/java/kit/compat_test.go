// Package kit tests the packages for Java as users get them: packed into a Maven repository, whose programs are the built binary for this
// machine and stand-ins for the others.
package kit

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if packed.dir != "" {
		_ = os.RemoveAll(packed.dir)
		forget()
	}
	harness.Cleanup()
	os.Exit(code)
}

// version is another in each run, since Maven keeps a release for ever once it has it.
var version = fmt.Sprintf("0.0.0-test.%d", os.Getpid())

var packed struct {
	sync.Once
	dir string
	err error
	out string
}

// repository packs the packages, at the first call, and returns the URL of the repository.
func repository(t *testing.T) string {
	t.Helper()
	packed.Do(func() {
		if packed.dir, packed.err = os.MkdirTemp("", "minibus-java-"); packed.err == nil {
			packed.err = pack(t)
		}
	})
	if packed.err != nil {
		t.Fatalf("%v\n%s", packed.err, packed.out)
	}
	return "file://" + filepath.ToSlash(filepath.Join(packed.dir, "repository"))
}

func pack(t *testing.T) error {
	t.Helper()
	files := make(map[string]string)
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			name := filepath.Join("dist", "id_"+system+"_"+processor+"_v1", "minibus")
			if system == "windows" {
				name += ".exe"
			}
			files[name] = "a stand-in"
			if system == runtime.GOOS && processor == runtime.GOARCH {
				program, err := os.ReadFile(harness.Binary(t))
				if err != nil {
					return err
				}
				files[name] = string(program)
			}
		}
	}
	if err := harness.WriteFiles(packed.dir, files); err != nil {
		return err
	}
	var err error
	packed.out, err = harness.Output(environ, script(t), "pack", "v"+version,
		filepath.Join(packed.dir, "dist"), filepath.Join(packed.dir, "repository"))
	return err
}

func script(t *testing.T) string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "packaging", "java.sh")
}

// environ is that of Maven: it lives for seconds, and no other Minibus is meant.
var environ = []string{"MAVEN_OPTS=-XX:TieredStopAtLevel=1", "MINIBUS_PATH=", "MINIBUS_URL=", "SERVICEBUS_CONNECTION_STRING="}

// group returns the directory of the packages in a repository.
func group() string {
	root, err := harness.Root()
	if err != nil {
		return ""
	}
	pom, err := os.ReadFile(filepath.Join(root, "packaging", "java", "pom.xml"))
	if found := regexp.MustCompile(`<groupId>([\w.-]+)</groupId>`).FindSubmatch(pom); err == nil && found != nil {
		return strings.ReplaceAll(string(found[1]), ".", "/")
	}
	return ""
}

// forget removes what Maven has copied into the local repository.
func forget() {
	home, err := os.UserHomeDir()
	if err != nil || group() == "" {
		return
	}
	for _, name := range []string{"minibus", "minibus-binary", "minibus-parent"} {
		_ = os.RemoveAll(filepath.Join(home, ".m2", "repository", filepath.FromSlash(group()), name, version))
	}
}

// surroundings are the variables of a test: the program is copied into a cache of the test's own.
func surroundings(t *testing.T) []string {
	t.Helper()
	return append([]string{"XDG_CACHE_HOME=" + t.TempDir()}, environ...)
}

// TestTheKit runs the tests of all that the kit offers, with Azure's SDK and Spring Cloud Azure.
func TestTheKit(t *testing.T) {
	harness.NeedAll(t, "to run the packages for Java")
	url := repository(t)
	harness.Maven(t, ".", surroundings(t), "-Dminibus.repository="+url, "-Dminibus.version="+version)
}

// TestTheFirstTest makes the project that docs/java.md begins with, and runs its tests in one command.
func TestTheFirstTest(t *testing.T) {
	harness.NeedAll(t, "to run the packages for Java")
	recipe, err := harness.ReadRecipe(harness.ReadPage(t, "docs/java.md"), "## First test")
	if err != nil {
		t.Fatal(err)
	}
	pom := recipe.Files["pom.xml"]
	recipe.Files["pom.xml"] = strings.Replace(strings.Replace(pom, "<version>1.2.3</version>", "<version>"+version+"</version>", 1),
		"<dependencies>", "<repositories><repository><id>packed</id><url>"+repository(t)+"</url></repository></repositories>\n<dependencies>", 1)
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, recipe.Files); err != nil {
		t.Fatal(err)
	}
	out := harness.Run(t, surroundings(t), "mvn", "--batch-mode", "--file", dir, "test")
	if !strings.Contains(out, "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0") {
		t.Error("want that one test runs")
	}
}

// released returns the files of a release, below the directory of the group.
func released() []string {
	files := []string{"minibus-parent/" + version + "/minibus-parent-" + version + ".pom"}
	for name, endings := range map[string][]string{
		"minibus": {".pom", ".jar", "-sources.jar", "-javadoc.jar"},
		"minibus-binary": {".pom", "-none.jar", "-linux-x86_64.jar", "-linux-aarch_64.jar", "-osx-x86_64.jar", "-osx-aarch_64.jar",
			"-windows-x86_64.jar", "-windows-aarch_64.jar"},
	} {
		for _, ending := range endings {
			files = append(files, name+"/"+version+"/"+name+"-"+version+ending)
		}
	}
	return files
}

// standIns are for what signs and uploads. The upload notes the token and keeps the bundle.
var standIns = map[string]string{
	"gpg": "#!/bin/sh\nfor file; do :; done\necho signature >\"$file.asc\"\n",
	"curl": "#!/bin/sh\nfor argument; do\n  case $argument in\n    bundle=@*) cp \"${argument#bundle=@}\" \"$UPLOADED\" ;;\n" +
		"    *Bearer*) echo \"$argument\" >\"$UPLOADED.token\" ;;\n  esac\ndone\n",
}

// TestThePush signs and uploads what was packed, with stand-ins: every file with its checksums and its signature.
func TestThePush(t *testing.T) {
	harness.NeedAll(t, "to pack the packages for Java")
	repository(t)
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, standIns); err != nil {
		t.Fatal(err)
	}
	for name := range standIns {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	bundle := filepath.Join(dir, "bundle.zip")
	path := "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
	if out, err := harness.Output([]string{path}, script(t), "push", packed.dir); err == nil || !strings.Contains(out, "CENTRAL_TOKEN") {
		t.Errorf("without a token: %v\n%s", err, out)
	}
	harness.Run(t, []string{path, "CENTRAL_TOKEN=a-token", "UPLOADED=" + bundle}, script(t), "push", filepath.Join(packed.dir, "repository"))
	if token, err := os.ReadFile(bundle + ".token"); err != nil || !strings.Contains(string(token), "Bearer a-token") {
		t.Errorf("the upload has the token %q: %v", token, err)
	}
	archive, err := zip.OpenReader(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	in := make(map[string]bool)
	for _, file := range archive.File {
		in[file.Name] = true
		if strings.Contains(file.Name, "metadata") {
			t.Errorf("the bundle has %s", file.Name)
		}
	}
	for _, file := range released() {
		for _, more := range []string{"", ".md5", ".sha1", ".asc"} {
			if !in[group()+"/"+file+more] {
				t.Errorf("the bundle lacks %s", file+more)
			}
		}
	}
}
