package archtest

import (
	"slices"
	"strings"
	"testing"
)

// allowed is the dependency table: package -> packages of ours that its code (tests aside) may import.
// A package that is not listed must not exist: a new one is a decision, written down here and in ARCHITECTURE.md.
// Whoever may read a message may also use the type system it is made of, so internal/amqp stands beside
// internal/amqp/message.
var allowed = map[string][]string{
	"internal/amqp":     {},
	"internal/sas":      {"internal/hostname"},
	"internal/hostname": {},
	"internal/tlsca":    {"internal/hostname"},
	"internal/listen":   {"internal/loglimit"},
	"internal/loglimit": {},
	"emulator/filter":   {},
	"internal/rules":    {},
	"internal/archtest": {},

	"internal/amqp/frames":  {"internal/amqp"},
	"internal/amqp/message": {"internal/amqp"},

	"emulator": {"emulator/filter", "internal/amqp/message", "internal/amqp"},

	"store":           {"emulator"},
	"store/storetest": {"emulator"},
	"config":          {"emulator"},
	"mgmt/atom":       {"emulator"},
	"mgmt/rest":       {"internal/amqp/message", "internal/amqp"},
	"mgmt/ui":         {"emulator", "internal/amqp/message", "internal/amqp"},

	"amqpserver/cbs":        {"emulator", "internal/sas", "internal/amqp/message", "internal/amqp"},
	"amqpserver/management": {"emulator", "internal/sas", "internal/amqp/message", "internal/amqp"},
	"amqpserver": {"emulator", "internal/amqp", "internal/amqp/frames", "internal/amqp/message",
		"internal/loglimit", "internal/sas", "amqpserver/cbs", "amqpserver/management"},
	"mgmt": {"emulator", "mgmt/atom", "mgmt/rest", "mgmt/ui", "internal/amqp/message", "internal/amqp",
		"internal/loglimit", "internal/sas", "internal/hostname"},

	"internal/metrics": {"emulator", "amqpserver", "store"},
	"internal/export":  {"config", "emulator", "mgmt/atom", "internal/sas"},

	"internal/app": {"config", "store", "emulator", "amqpserver", "mgmt", "internal/export", "internal/metrics", "internal/sas",
		"internal/tlsca", "internal/listen", "internal/loglimit"},
	"sbtest":      {"internal/app", "config", "emulator"},
	"cmd/minibus": {"internal/app"},

	// For tests only: nothing of the server imports them (see TestTestPackagesStayInTests).
	"internal/amqptest": {"internal/amqp", "internal/amqp/frames", "internal/amqp/message"},
}

// TestDependencyTable proves that imports only point down and that the adapters stay strangers.
func TestDependencyTable(t *testing.T) {
	for _, p := range loadPackages(t) {
		path := p.path()
		if strings.HasPrefix(path, "compat-tests/") {
			checkBlackBox(t, p)
			continue
		}
		may, known := allowed[path]
		if !known {
			t.Errorf("package %s is not in the dependency table", path)
			continue
		}
		for _, imported := range p.Imports {
			dep := ours(imported)
			if dep != "" && !slices.Contains(may, dep) {
				t.Errorf("%s imports %s; the table allows %v", path, dep, may)
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

// onlyIn names libraries that belong to one package (and its sub-packages' tests).
var onlyIn = []struct{ prefix, owner, why string }{
	{"modernc.org/sqlite", "store", "SQLite stays behind the journal"},
	{"database/sql", "store", "SQL stays behind the journal"},
	{"github.com/gorilla/mux", "mgmt", "routing belongs to the HTTP side"},
	{"github.com/gorilla/websocket", "amqpserver", "a WebSocket is one way to carry AMQP"},
	{"github.com/prometheus", "internal/metrics", "a message's path counts in plain fields"},
}

// TestLibrariesStayWithTheirOwner covers code and tests alike.
func TestLibrariesStayWithTheirOwner(t *testing.T) {
	for _, p := range loadPackages(t) {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for _, rule := range onlyIn {
				if !under(imported, rule.prefix) || under(p.path(), rule.owner) || strings.HasPrefix(p.path(), "compat-tests/") {
					continue
				}
				t.Errorf("%s imports %s: %s", p.path(), imported, rule.why)
			}
		}
	}
}

// clients are libraries of the other side of the wire.
var clients = []string{"github.com/Azure"}

// TestServerNeverImportsClients allows SDKs in tests, compat-tests and the benchmark only.
func TestServerNeverImportsClients(t *testing.T) {
	for _, p := range loadPackages(t) {
		if strings.HasPrefix(p.path(), "compat-tests/") {
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
// sbtest and storetest are test helpers by purpose.
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
