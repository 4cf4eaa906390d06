package harness

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The time of a test suite in another language, and of one that .ci/nightly runs.
const (
	patience        = 8 * time.Minute
	nightlyPatience = 20 * time.Minute
)

// Main is the TestMain of a package that runs the binary.
func Main(m *testing.M) {
	code := m.Run()
	Cleanup()
	os.Exit(code)
}

// MainAtOnce is Main with AtOnce.
func MainAtOnce(m *testing.M, tests int) {
	AtOnce(tests)
	Main(m)
}

// AtOnce lets so many parallel tests run at once, however many processors there are, for tests that wait most of their time. Without
// MINIBUS_COMPAT=all those that compute most don't run, so twice as many do.
func AtOnce(tests int) {
	if !All() {
		tests *= 2
	}
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic(err) // the flag is the testing package's
	}
}

// All reports whether all tests must run, whatever they need and however long they take. Continuous integration always sets
// MINIBUS_COMPAT=all.
func All() bool { return os.Getenv("MINIBUS_COMPAT") == "all" }

// NeedAll skips the test unless MINIBUS_COMPAT=all, because it needs more than Go, or takes long.
func NeedAll(t testing.TB, what string) {
	t.Helper()
	if !All() {
		t.Skip("set MINIBUS_COMPAT=all " + what)
	}
}

// Lack skips a test that can't run here, with the reason. With MINIBUS_COMPAT=all the test fails.
func Lack(t testing.TB, format string, args ...any) {
	t.Helper()
	if All() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Environ returns variables that tell a client in another language where the server is: MINIBUS_CONNECTION_STRING, MINIBUS_ADDR
// (host:port of AMQP), MINIBUS_PORT_AMQP, _TLS and _HTTP, MINIBUS_CA, the file of the authority's certificate, and MINIBUS_NAMESPACE, the
// name of the namespace.
func (s *Server) Environ() []string {
	return []string{
		"MINIBUS_CONNECTION_STRING=" + s.ConnectionString(), "MINIBUS_ADDR=" + s.Addr(),
		"MINIBUS_PORT_AMQP=" + strconv.Itoa(s.Ports.AMQP), "MINIBUS_PORT_TLS=" + strconv.Itoa(s.Ports.TLS),
		"MINIBUS_PORT_HTTP=" + strconv.Itoa(s.Ports.HTTP), "MINIBUS_CA=" + s.CA(), "MINIBUS_NAMESPACE=" + s.Name(),
	}
}

// CA returns the file of the authority's certificate: in the directory that the options name, or beside the database. It is empty for
// a server with neither, which uses the user's authority.
func (s *Server) CA() string {
	const file = "minibus-ca.pem"
	switch o := s.options; {
	case o.CADir != "":
		return filepath.Join(o.CADir, file)
	case o.Data != "":
		return filepath.Join(filepath.Dir(o.Data), file)
	}
	return ""
}

// ExportCA exports the certificate of the authority in dir to a file there, with the binary's own command, and returns its path. The
// authority need not exist yet.
func ExportCA(t testing.TB, dir, file string, args ...string) string {
	t.Helper()
	path := filepath.Join(dir, file)
	args = append([]string{"cert", "export", "--ca-dir", dir, "--out", path}, args...)
	if out, err := exec.Command(Binary(t), args...).CombinedOutput(); err != nil {
		t.Fatalf("export the authority: %v\n%s", err, out)
	}
	return path
}

// Output runs a program with further environment variables and returns what it prints.
func Output(environ []string, program string, args ...string) (string, error) {
	limit := patience
	if os.Getenv("MINIBUS_NIGHTLY") != "" {
		limit = nightlyPatience
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("run %s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
	}
	return string(out), err
}

// Run is Output for a test. If the program fails, the test fails and shows what the program printed.
func Run(t testing.TB, environ []string, program string, args ...string) string {
	t.Helper()
	out, err := Output(environ, program, args...)
	t.Log(out)
	if err != nil {
		t.Error(err)
	}
	return out
}
