package release

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// npmPlatforms are the names that Node.js has for the targets of a release.
var npmPlatforms = map[target]string{
	{"linux", "amd64"}: "linux-x64", {"linux", "arm64"}: "linux-arm64", {"darwin", "amd64"}: "darwin-x64", {"darwin", "arm64"}: "darwin-arm64",
	{"windows", "amd64"}: "win32-x64", {"windows", "arm64"}: "win32-arm64",
}

// npm packs the packages for npm from the release's binaries, installs those for Linux without a network, and starts a server with
// each binary.
func (d *dist) npm(t *testing.T) {
	dir := t.TempDir()
	programs, out := filepath.Join(dir, "dist"), filepath.Join(dir, "out")
	binaries := make(map[target][]byte)
	for g := range npmPlatforms {
		binaries[g] = []byte("a stand-in, as CI builds only those for Linux")
		if slices.Contains(d.targets, g) {
			binaries[g] = unpack(t, filepath.Join(d.dir, g.archive()))[g.binary()]
		}
		if err := harness.WriteFiles(programs, map[string]string{"id_" + g.String() + "_v1/" + g.binary(): string(binaries[g])}); err != nil {
			t.Fatal(err)
		}
	}
	command(t, root(t), nil, "packaging/npm.sh", "pack", tag, programs, out)
	var main struct{ OptionalDependencies map[string]string }
	if err := json.Unmarshal(unpack(t, filepath.Join(out, "minibus-"+released+".tgz"))["package/package.json"], &main); err != nil {
		t.Fatal(err)
	}
	for g, platform := range npmPlatforms {
		archive := filepath.Join(out, "minibus-"+platform+"-"+released+".tgz")
		files := unpack(t, archive)
		var described struct {
			Name, Version string
			OS, CPU       []string
		}
		if err := json.Unmarshal(files["package/package.json"], &described); err != nil {
			t.Fatal(err)
		}
		system, processor, _ := strings.Cut(platform, "-")
		if described.Name != "@minibus/"+platform || described.Version != released || !slices.Equal(described.OS, []string{system}) ||
			!slices.Equal(described.CPU, []string{processor}) || main.OptionalDependencies[described.Name] != released {
			t.Errorf("%s is %+v; minibus wants %v", archive, described, main.OptionalDependencies)
		}
		if string(files["package/bin/"+g.binary()]) != string(binaries[g]) || len(files["package/LICENSE"]) == 0 {
			t.Errorf("%s has another binary, or no license", archive)
		}
		if list := command(t, dir, nil, "tar", "-tvzf", archive, "package/bin/"+g.binary()); !strings.HasPrefix(list, "-rwxr-xr-x") {
			t.Errorf("the binary is not executable: %s", list)
		}
		if g.os == "linux" {
			startsFromNpm(t, out, g, platform)
		}
	}
	if len(main.OptionalDependencies) != len(npmPlatforms) {
		t.Errorf("minibus wants %v", main.OptionalDependencies)
	}
}

// startsFromNpm installs the package for a platform in a project of its own, and starts its binary by the kit.
func startsFromNpm(t *testing.T, out string, g target, platform string) {
	t.Helper()
	project := t.TempDir()
	install := []string{"install", "--offline", "--no-audit", "--no-fund", filepath.Join(out, "minibus-"+released+".tgz"),
		filepath.Join(out, "minibus-"+platform+"-"+released+".tgz")}
	if g.arch != runtime.GOARCH {
		install = append(install, "--force") // npm refuses it for this processor
	}
	command(t, project, nil, "npm", install...)
	binary := filepath.Join(project, "node_modules", "@minibus", platform, "bin", "minibus")
	if g.arch != runtime.GOARCH {
		binary = emulated(t, binary)
	}
	const program = `require("minibus").Minibus.start({ queues: ["orders"] }).then(async (bus) => {
		await bus.send("orders", { body: "x" });
		console.log((await bus.counts("orders")).active, "message");
	})`
	if out := command(t, project, []string{"MINIBUS_PATH=" + binary}, "node", "-e", program); out != "1 message" {
		t.Errorf("with the binary for %s the program prints %s", platform, out)
	}
}

// npmStandIn notes what it is asked for. Of the package for linux-x64 it says that it is there already.
const npmStandIn = `#!/usr/bin/env bash
echo "$*" >>"$CALLS"
[[ $1 != view || $2 != @minibus/linux-x64@* ]] || echo "` + released + `-rc.1"
[[ $1 != publish ]] || cat "$NPM_CONFIG_USERCONFIG" >"$CALLS.npmrc"
`

// TestThePackagesForNpmArePushed runs the script of the release with a stand-in for npm: the packages for platforms come first, and
// those that are there already are left out.
func TestThePackagesForNpmArePushed(t *testing.T) {
	harness.NeedAll(t, "to run the script of the packages for npm")
	dir := t.TempDir()
	out, calls := filepath.Join(dir, "out"), filepath.Join(dir, "calls")
	files := map[string]string{"tools/npm": npmStandIn}
	for g := range npmPlatforms {
		files["dist/id_"+g.String()+"_v1/"+g.binary()] = "a program"
	}
	if err := harness.WriteFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "tools", "npm"), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	script := filepath.Join(root(t), "packaging", "npm.sh")
	harness.Run(t, nil, script, "pack", tag+"-rc.1", filepath.Join(dir, "dist"), out)
	environ := []string{"CALLS=" + calls, "PATH=" + filepath.Join(dir, "tools") + string(os.PathListSeparator) + os.Getenv("PATH"), "NPM_TOKEN=a-token",
		"NPM_REGISTRY=https://registry.example.org/", "ACTIONS_ID_TOKEN_REQUEST_URL=https://example.org"}
	relative, err := filepath.Rel(root(t), out)
	if err != nil {
		t.Fatal(err)
	}
	harness.Run(t, environ, script, "push", relative)
	noted, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(noted)) {
		if words := strings.Fields(line); words[0] == "publish" {
			got = append(got, strings.TrimPrefix(words[1], out+"/")+" "+strings.Join(words[2:], " "))
		}
	}
	const flags = "-" + released + "-rc.1.tgz --access public --registry https://registry.example.org/ --tag next --provenance"
	want := []string{"minibus-linux-arm64" + flags, "minibus-darwin-x64" + flags, "minibus-darwin-arm64" + flags,
		"minibus-win32-x64" + flags, "minibus-win32-arm64" + flags, "minibus" + flags}
	if !slices.Equal(got, want) {
		t.Errorf("published are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rc, err := os.ReadFile(calls + ".npmrc"); err != nil || string(rc) != "//registry.example.org/:_authToken=${NPM_TOKEN}\n" {
		t.Errorf("npm reads %q: %v", rc, err)
	}
	if output, err := harness.Output(nil, script, "pack", "1.2", dir, out); err == nil || !strings.Contains(output, "no version") {
		t.Errorf("a bad version: %v\n%s", err, output)
	}
}
