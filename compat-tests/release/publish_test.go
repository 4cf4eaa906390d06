package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestPublishAs names the repository in a copy, which then builds, and whose sbtest another module imports by its
// address. It moves to another repository in the same way.
func TestPublishAs(t *testing.T) {
	harness.NeedAll(t, "to build everything under another name")
	dir := t.TempDir()
	copyTree(t, dir, "")
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	for _, address := range []string{"github.com/Acme-Tools/minibus", "github.com/someone/local-bus"} {
		command(t, dir, nil, "packaging/publish-as", address)
		wantNamed(t, dir, address)
	}
	flags := []string{"GOFLAGS=-buildvcs=false -trimpath", "CGO_ENABLED=0"}
	command(t, dir, flags, "go", "build", "./...")
	command(t, dir, flags, "go", "vet", "./sbtest", "./internal/archtest", "./compat-tests/docs")

	shop := t.TempDir()
	if err := harness.WriteFiles(shop, map[string]string{"shop_test.go": shopTest}); err != nil {
		t.Fatal(err)
	}
	harness.GoModuleWith(t, shop, dir)
	command(t, shop, append(harness.OwnModule, "CGO_ENABLED=0"), "go", "test", ".")
}

const shopTest = `package shop

import (
	"testing"

	"github.com/someone/local-bus/sbtest"
)

func TestOrders(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	bus.Send(t, "orders", sbtest.Message{Body: []byte("two coffees")})
	if n := bus.Counts(t, "orders").Active; n != 1 {
		t.Errorf("%d messages", n)
	}
}
`

// wantNamed fails if the address is not everywhere.
func wantNamed(t *testing.T, dir, address string) {
	t.Helper()
	repository := strings.TrimPrefix(address, "github.com/")
	owner, _, _ := strings.Cut(repository, "/")
	group := "io.github." + strings.ToLower(owner)
	for name, texts := range map[string][]string{
		"go.mod":                     {"module " + address + "\n"},
		"packaging/sbom/go.mod":      {"module " + address + "/packaging/sbom\n"},
		"mgmt/ui/bundle/go.mod":      {"module " + address + "/mgmt/ui/bundle\n"},
		"cmd/minibus/main.go":        {"\"" + address + "/server/command\""},
		"Dockerfile":                 {" -X " + address + "/server.version="},
		".goreleaser.yaml":           {" -X " + address + "/server.version="},
		"docs/install.md":            {"https://" + address + "/releases", "ghcr.io/" + strings.ToLower(repository) + ":"},
		"docs/ci.md":                 {"uses: " + repository + "@v1.2.3"},
		"docs/go.md":                 {"go get " + address, "\"" + address + "/sbtest\""},
		"packaging/npm/package.json": {"git+https://" + address + ".git"},
		"docs/java.md":               {"<groupId>" + group + "</groupId>"},
		"packaging/java/pom.xml":     {"<groupId>" + group + "</groupId>", "<url>https://" + address + "</url>"},
		"packaging/python/wheel.py":  {"\"https://" + address + "\""},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range texts {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
	for _, left := range []string{"OWNER/minibus", "OWNER/tap", "io.github.OWNER", "no public release", `"minibus/server`, `"minibus/compat-tests`} {
		found := exec.Command("git", "grep", "-nF", "--", left, ":!packaging/publish-as", ":!compat-tests/release/publish_test.go")
		found.Dir = dir
		if out, err := found.Output(); err == nil {
			t.Errorf("%q is left:\n%s", left, out)
		}
	}
}
