package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// dotnetStandIn notes what it is asked for, and makes the file of a package.
const dotnetStandIn = `#!/usr/bin/env bash
echo "$*" >>"$CALLS"
[[ $1 == pack ]] || exit 0
name=$(basename "$2") version=
for arg; do
  case $arg in
    -p:Version=*) version=${arg#*=} ;;
    -p:MinibusBinaries=*) binaries=${arg#*=} ;;
    -p:ToolRid=*) name=Minibus.${arg#*=}; [[ -e $binaries/${arg#*=}/minibus || -e $binaries/${arg#*=}/minibus.exe ]] || exit 1 ;;
  esac
done
mkdir -p "$4" && : >"$4/${name/Minibus.Tool/Minibus}.$version.nupkg"
`

// TestThePackagesForDotNet runs the script of the release with a stand-in for .NET: what it builds, tests, packs
// and pushes, in which order. The packages themselves are built where .NET is.
func TestThePackagesForDotNet(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		harness.Lack(t, "the script needs bash: %v", err)
	}
	dir := t.TempDir()
	dist, out, calls := filepath.Join(dir, "dist"), filepath.Join(dir, "out"), filepath.Join(dir, "calls")
	files := map[string]string{filepath.Join("tools", "dotnet"): dotnetStandIn}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, processor := range []string{"amd64", "arm64"} {
			name := filepath.Join("dist", "id_"+system+"_"+processor+"_v1", "minibus")
			if system == "windows" {
				name += ".exe"
			}
			files[name] = "a program"
		}
	}
	if err := harness.WriteFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "tools", "dotnet"), 0o755); err != nil {
		t.Fatal(err)
	}
	environ := []string{"CALLS=" + calls, "PATH=" + filepath.Join(dir, "tools") + string(os.PathListSeparator) + os.Getenv("PATH"), "NUGET_TOKEN=a-key"}
	script := filepath.Join(root(t), "packaging", "dotnet.sh")
	harness.Run(t, environ, script, "pack", tag, dist, out)
	harness.Run(t, environ, script, "push", out)
	noted, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`^(build|test|pack|nuget push) \S*?([^/ ]+?)(?:\.` + regexp.QuoteMeta(released) + `\.nupkg)?(?: .*?(?:-p:ToolRid=(\S+))?)?$`)
	var got []string
	for line := range strings.Lines(string(noted)) {
		got = append(got, strings.TrimSpace(word.ReplaceAllString(strings.TrimSpace(line), "$1 $2 $3")))
	}
	platforms := []string{"linux-x64", "linux-arm64", "osx-x64", "osx-arm64", "win-x64", "win-arm64"}
	want := []string{"build Minibus.slnx", "test Minibus.Testing.Tests", "test Minibus.Aspire.Tests",
		"pack Minibus.Testing", "pack Minibus.Aspire.Hosting", "pack Minibus.Server", "pack Minibus.Tool"}
	for _, platform := range platforms {
		want = append(want, "pack Minibus.Tool "+platform)
	}
	for _, platform := range platforms {
		want = append(want, "nuget push Minibus."+platform)
	}
	want = append(want, "nuget push Minibus", "nuget push Minibus.Server", "nuget push Minibus.Testing", "nuget push Minibus.Aspire.Hosting")
	if !slices.Equal(got, want) {
		t.Errorf("calls are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if output, err := harness.Output(environ, script, "pack", "1.2", dist, out); err == nil || !strings.Contains(output, "no version") {
		t.Errorf("a bad version: %v\n%s", err, output)
	}
}
