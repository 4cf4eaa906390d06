package archtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floor is one floor of the house: its packages, and which of ours each may import (tests aside).
type floor struct {
	name     string
	packages map[string][]string
}

// floors lists the whole house, from the top down. Every import goes to a lower floor, or from a package to one below its own path;
// only the leaves use each other. A package that is not listed must not exist, and a listed one must: a new one is a decision,
// written down here and in ARCHITECTURE.md. Code that may read a message may also use the type system under it, so
// internal/amqp is listed beside internal/amqp/message.
var floors = []floor{
	{"who runs it", map[string][]string{
		"cmd/minibus": {"server/command"},
		"sbtest":      {"server", "config", "emulator", "emulator/clock", "emulator/filter", "mgmt/control", "mgmt/control/api", "mgmt/control/receive", "internal/amqp/messagejson", "internal/amqp/message", "internal/amqp", "internal/dotnet", "internal/entitypath"},
	}},
	{"the command line of the program", map[string][]string{
		"server/command": {"server", "server/tracing", "config", "emulator", "emulator/clock", "store", "mgmt/control", "mgmt/manual", "export", "cli", "internal/sas", "internal/tlsca",
			"internal/hostname", "internal/filelock", "internal/discovery", "internal/printable", "internal/seed"},
	}},
	{"the whole, put together", map[string][]string{
		"server": {"config", "store", "emulator", "amqpserver", "export", "mgmt", "mgmt/arm", "mgmt/control", "mgmt/control/api", "mgmt/identity", "server/metrics",
			"internal/entra", "internal/sas", "internal/tlsca", "internal/hostname", "internal/listen", "internal/loglimit", "internal/secrets", "internal/seed", "internal/amqp/messagejson"},
		"server/metrics": {"emulator", "amqpserver", "store"},
		"server/tracing": {"emulator"},
	}},
	{"clients of servers", map[string][]string{
		"cli":     {"cli/mcp", "mgmt/control/api", "config", "internal/discovery", "internal/sas", "internal/secrets", "internal/printable", "internal/entitypath", "internal/amqp/messagejson", "internal/amqp", "internal/seed"},
		"cli/mcp": {"internal/printable", "internal/secrets"},
		"export":  {"config", "emulator", "mgmt/atom", "internal/entitypath", "internal/sas", "internal/secrets", "internal/printable"},
	}},
	{"adapters, strangers to each other", map[string][]string{
		"amqpserver": {"emulator", "emulator/filter", "internal/amqp", "internal/amqp/frames", "internal/amqp/message",
			"internal/entitypath", "internal/loglimit", "internal/sas", "amqpserver/cbs", "amqpserver/management", "internal/dotnet", "internal/printable"},
		"amqpserver/cbs":        {"internal/entitypath", "internal/amqp/message", "internal/amqp", "internal/printable"},
		"amqpserver/management": {"emulator", "internal/sas", "internal/amqp/message", "internal/amqp", "internal/printable"},
		"mgmt": {"emulator", "mgmt/arm", "mgmt/atom", "mgmt/control", "mgmt/control/api", "mgmt/control/receive", "mgmt/identity", "mgmt/rest", "mgmt/ui", "internal/amqp/message",
			"internal/entitypath", "internal/loglimit", "internal/sas", "internal/hostname", "internal/dotnet"},
		"mgmt/arm": {"emulator", "mgmt/atom", "internal/entitypath", "internal/template", "internal/jsontree", "internal/dotnet", "internal/entra", "internal/sas"},
		"mgmt/control": {"emulator", "emulator/filter", "mgmt/control/api", "mgmt/control/receive", "internal/amqp/messagejson", "internal/amqp/message", "internal/amqp", "internal/dotnet",
			"internal/entitypath", "internal/printable", "internal/sas", "internal/strictjson"},
		"mgmt/control/receive": {"emulator"},
		"mgmt/control/api":     {"internal/amqp/messagejson"},
		"mgmt/rest":            {"internal/amqp/messagejson", "internal/amqp/message", "internal/amqp", "internal/dotnet", "internal/printable"},
		"mgmt/identity":        {"internal/entra"},
		"mgmt/manual":          {"docs"},
		"mgmt/ui":              {},
		"store":                {"emulator", "internal/filelock"},
		"store/storetest":      {"emulator"},
		"config":               {"emulator", "internal/template", "internal/jsontree", "internal/entitypath", "internal/dotnet", "internal/printable"},
	}},
	{"documents that adapters share", map[string][]string{
		"mgmt/atom": {"emulator", "internal/amqp", "internal/dotnet", "internal/printable"},
	}},
	{"the domain", map[string][]string{
		"emulator":        {"emulator/filter", "emulator/clock", "internal/amqp/message", "internal/amqp", "internal/entitypath", "internal/dotnet"},
		"emulator/filter": {"internal/dotnet"},
		"emulator/clock":  {},
	}},
	{leaves, map[string][]string{
		"internal/amqp":             {},
		"internal/amqp/frames":      {"internal/amqp"},
		"internal/amqp/message":     {"internal/amqp"},
		"internal/amqp/messagejson": {"internal/amqp", "internal/amqp/message", "internal/dotnet", "internal/printable", "internal/strictjson"},

		"internal/seed": {"internal/amqp/messagejson", "internal/printable", "internal/strictjson"},

		"docs":                {}, // embeds the pages
		"internal/filelock":   {},
		"internal/discovery":  {"internal/filelock"},
		"internal/hostname":   {},
		"internal/dotnet":     {},
		"internal/entitypath": {},
		"internal/printable":  {},
		"internal/jsontree":   {"internal/printable"},
		"internal/template":   {"internal/jsontree", "internal/printable"},
		"internal/strictjson": {"internal/printable"},
		"internal/entra":      {"internal/hostname", "internal/sas", "internal/tlsca"},
		"internal/sas":        {"internal/entitypath", "internal/hostname", "internal/printable"},
		"internal/secrets":    {},
		"internal/tlsca":      {"internal/hostname"},
		"internal/loglimit":   {},
		"internal/listen":     {"internal/loglimit"},
		"internal/amqptest":   {"internal/amqp", "internal/amqp/frames", "internal/listen"}, // for tests only
		"internal/archtest":   {},
		"internal/rules":      {},
	}},
}

const leaves = "leaves and tools"

// home returns the floor of a package, counted from the top, and what it may import.
func home(path string) (at int, imports []string, known bool) {
	for i, f := range floors {
		if imports, known := f.packages[path]; known {
			return i, imports, true
		}
	}
	return 0, nil, false
}

// TestDependencyTable compares the table with the code in both directions.
func TestDependencyTable(t *testing.T) {
	exist := make(map[string]bool)
	for _, p := range loadPackages(t) {
		path := p.path()
		if strings.HasPrefix(path, "compat-tests/") {
			checkBlackBox(t, p)
			continue
		}
		exist[path] = true
		_, may, known := home(path)
		if !known {
			t.Errorf("package %s is on no floor", path)
			continue
		}
		var does []string
		for _, imported := range p.Imports {
			if dep := ours(imported); dep != "" {
				does = append(does, dep)
			}
		}
		for _, dep := range does {
			if !slices.Contains(may, dep) {
				t.Errorf("%s imports %s; the table allows %v", path, dep, may)
			}
		}
		for _, dep := range may {
			if !slices.Contains(does, dep) {
				t.Errorf("%s does not import %s; the table says that it does", path, dep)
			}
		}
	}
	for _, f := range floors {
		for path := range f.packages {
			if !exist[path] {
				t.Errorf("package %s is in the table and does not exist", path)
			}
		}
	}
}

// TestImportsRunDown checks the table itself: no import goes up, and none sideways except to a package below one's own path or between
// leaves.
func TestImportsRunDown(t *testing.T) {
	for from, f := range floors {
		for path, imports := range f.packages {
			for _, dep := range imports {
				to, _, known := home(dep)
				switch {
				case !known:
					t.Errorf("%s may import %s, which is on no floor", path, dep)
				case to < from:
					t.Errorf("%s, on the floor of %s, may import %s, which is above it", path, f.name, dep)
				case to == from && !under(dep, path) && f.name != leaves:
					t.Errorf("%s may import its neighbour %s", path, dep)
				}
			}
		}
	}
}

// checkBlackBox keeps the compat tests outside the server: they see a binary and a socket. The frame codec is the one
// exception, since captured frames are decoded with it.
func checkBlackBox(t *testing.T, p goPackage) {
	t.Helper()
	for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
		dep := ours(imported)
		if dep == "" || strings.HasPrefix(dep, "compat-tests/") || strings.HasPrefix(dep, "internal/amqp") {
			continue
		}
		t.Errorf("%s imports %s; a black-box test must not look inside", p.path(), dep)
	}
}

// onlyIn names libraries that belong to one package, or to some with blanks between, and to those below.
var onlyIn = []struct{ prefix, owner, why string }{
	{"modernc.org/sqlite", "store", "SQLite stays behind the journal"},
	{"database/sql", "store", "SQL stays behind the journal"},
	{"github.com/gorilla/mux", "mgmt", "routing belongs to the HTTP side"},
	{"github.com/danielgtaylor/huma", "mgmt/control", "it describes the control API"},
	{"github.com/gorilla/websocket", "amqpserver", "a WebSocket is one way to carry AMQP"},
	{"github.com/spf13/cobra", "cli server/command", "sbtest has no command line"},
	{"github.com/modelcontextprotocol", "cli/mcp", "it is how assistants call the commands, nothing else"},
	{"go.opentelemetry.io", "server/tracing", "who is not traced links nothing of it"},
	{"github.com/prometheus", "server/metrics", "a message's path counts in plain fields"},
}

// TestLibrariesStayWithTheirOwner covers code and tests alike.
func TestLibrariesStayWithTheirOwner(t *testing.T) {
	for _, p := range loadPackages(t) {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for _, rule := range onlyIn {
				owns := func(owner string) bool { return under(p.path(), owner) }
				if !under(imported, rule.prefix) || slices.ContainsFunc(strings.Fields(rule.owner), owns) ||
					strings.HasPrefix(p.path(), "compat-tests/") {
					continue
				}
				t.Errorf("%s imports %s: %s", p.path(), imported, rule.why)
			}
		}
	}
}

// clients lists libraries for the client's side of the wire.
var clients = []string{"github.com/Azure"}

// clientPackage is the one package that is made with an SDK: the command line for namespaces in Azure too. A server that used one would
// prove by it that it agrees with itself.
const clientPackage = "cli"

// TestOnlyTheCommandLineImportsClients allows SDKs in one package, in tests, compat-tests and the benchmark.
func TestOnlyTheCommandLineImportsClients(t *testing.T) {
	for _, p := range loadPackages(t) {
		if strings.HasPrefix(p.path(), "compat-tests/") || p.path() == clientPackage {
			continue
		}
		for _, imported := range p.Imports {
			for _, client := range clients {
				if under(imported, client) {
					t.Errorf("%s imports the client library %s", p.path(), imported)
				}
			}
		}
	}
}

// TestSbtestIsLight keeps what only a command line needs out of every Go test that uses sbtest.
func TestSbtestIsLight(t *testing.T) {
	deps, err := exec.Command("go", "list", "-deps", module+"/sbtest").Output()
	if err != nil {
		t.Fatalf("list what sbtest imports: %v", err)
	}
	for dep := range strings.FieldsSeq(string(deps)) {
		for _, heavy := range []string{"github.com/Azure", "github.com/spf13/cobra", "github.com/modelcontextprotocol", "go.opentelemetry.io"} {
			if under(dep, heavy) {
				t.Errorf("sbtest imports %s", dep)
			}
		}
	}
}

// TestDomainHasNoIO keeps sockets, files, SQL and HTTP out of the domain.
func TestDomainHasNoIO(t *testing.T) {
	forbidden := []string{"net", "os", "io/fs", "io/ioutil", "database", "syscall", "embed", "golang.org/x/net", "golang.org/x/sys"}
	for _, p := range loadPackages(t) {
		if !under(p.path(), "emulator") && !under(p.path(), "internal/amqp") {
			continue
		}
		for _, imported := range p.Imports {
			for _, bad := range forbidden {
				if under(imported, bad) {
					t.Errorf("%s imports %s; it must do no I/O", p.path(), imported)
				}
			}
		}
	}
}

// TestTestPackagesStayInTests keeps helpers for tests, and the testing package itself, out of the binary.
// sbtest and storetest are meant as test helpers.
func TestTestPackagesStayInTests(t *testing.T) {
	helpers := []string{"testing", "minibus/internal/amqptest", "minibus/store/storetest", "minibus/sbtest", "minibus/compat-tests"}
	isHelper := func(path string) bool {
		return under(path, "sbtest") || under(path, "store/storetest") || under(path, "internal/amqptest") || under(path, "compat-tests")
	}
	for _, p := range loadPackages(t) {
		if isHelper(p.path()) {
			continue
		}
		for _, imported := range p.Imports {
			for _, helper := range helpers {
				if under(imported, helper) {
					t.Errorf("%s imports %s outside its tests", p.path(), imported)
				}
			}
		}
	}
}

// under reports whether path is prefix or lies below it.
func under(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
