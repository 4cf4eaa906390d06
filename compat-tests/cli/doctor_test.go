package cli

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// finding has what these tests read of doctor.
type finding struct{ Level, About, Detail, Fix string }

// diagnose runs doctor with flags of the server and returns what it says about each thing.
func (b *bench) diagnose(code int, flags ...string) map[string]finding {
	b.Helper()
	cmd := b.command(append([]string{"doctor", "-o", "jsonl", "--"}, flags...)...)
	r := b.finish(cmd)
	if r.code != code {
		b.Errorf("doctor ended with %d, want %d: %s%s", r.code, code, r.out, r.errors)
	}
	all := make(map[string]finding)
	for _, f := range lines[finding](b, r.out) {
		all[f.About] = f
	}
	return all
}

// says fails unless doctor says something with this level and text.
func (b *bench) says(all map[string]finding, about, level, text string) {
	b.Helper()
	if f := all[about]; f.Level != level || !strings.Contains(f.Detail+" -> "+f.Fix, text) {
		b.Errorf("doctor says of the %s: %+v, want %s: %s", about, f, level, text)
	}
}

// TestDoctorOfARunningServer finds nothing wrong, and with the wrong flags that the server does not serve the ports.
func TestDoctorOfARunningServer(t *testing.T) {
	b := start(t, queue("orders"))
	_, port, ok := strings.Cut(strings.TrimPrefix(strings.Split(b.connection, ";")[0], "Endpoint=sb://"), ":")
	if !ok {
		t.Fatalf("no port in %q", b.connection)
	}
	flags := []string{"--ephemeral", "--amqp-port", port, "--tls-port", "off", "--http-port", port}
	all := b.diagnose(0, flags...)
	b.says(all, "server", "good", "is ready on port "+port)
	b.says(all, "port "+port, "good", "Minibus ")
	b.says(all, "database", "good", "in memory")
	text := b.run(append([]string{"doctor", "--"}, flags...)...)
	if !strings.Contains(text, "good  server") || strings.Contains(text, "wrong") {
		t.Errorf("doctor prints %q", text)
	}
	b.says(all, "clients", "good", "0 open connections")
	b.says(all, "refused", "good", "no client was refused")
	if r := b.try("conn", "refused"); r.code != 0 || r.out != "" || r.errors != "nothing was refused\n" {
		t.Errorf("conn refused of nothing: %+v", r)
	}
	b.fails(3, []string{"ordres"}, "peek", "ordres")
	sender, err := b.client.NewSender("orders", nil)
	b.must("make a sender", err)
	b.must("send", sender.SendMessage(b.ctx, &azservicebus.Message{}, nil))
	all = b.diagnose(0, flags...)
	b.says(all, "clients", "good", "1 open connection: 1 with MSGolangClient")
	b.says(all, "refused", "note", "for ordres, the last one at ")
	b.says(all, "refused", "note", "-> create the entity, or correct its name")
	type refusal struct{ Operation, Entity, Condition, Text string }
	list := lines[refusal](b, b.run("conn", "refused", "-o", "jsonl"))
	if len(list) == 0 || list[0].Entity != "ordres" || list[0].Condition != "amqp:not-found" {
		t.Errorf("conn refused prints %+v", list)
	}
	if table := b.run("conn", "refused"); !regexp.MustCompile(`^TIME +WHAT +ENTITY +CONDITION +CONNECTION +REMOTE +CONTAINER +TEXT\n\S+Z +(attach|put-token) +ordres +amqp:not-found +c\d+ `).MatchString(table) {
		t.Errorf("conn refused prints\n%s", table)
	}
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "conn", "refused")
	extra := unused(t)
	b.says(b.diagnose(1, append(flags, "--extra-ports", extra)...), "port "+extra, "wrong", "does not serve it (--extra-ports)")
}

// unused returns a port on which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// TestDoctorWithoutServer finds a port that is taken, a Config.json with a mistake, a broken certificate and a database that can't be written.
func TestDoctorWithoutServer(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := &bench{T: t, ctx: t.Context(), connection: "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true"}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	b.must("listen", err)
	defer func() { _ = l.Close() }()
	taken := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	dir := t.TempDir()
	file := filepath.Join(dir, "Config.json")
	b.must("write", os.WriteFile(file, []byte(`{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [{}]}]}}`), 0o600))
	b.must("write", os.WriteFile(filepath.Join(dir, "minibus-ca.pem"), []byte("nothing"), 0o600))
	all := b.diagnose(1, "--config", file, "--data", filepath.Join(dir, "bus.db"), "--amqp-port", taken, "--tls-port", "off", "--http-port", unused(t))
	b.says(all, "configuration", "wrong", "-> minibus config check "+file)
	b.says(all, "server", "note", "no Minibus answers")
	b.says(all, "database", "good", "makes it at its first start")
	b.says(all, "CA certificate", "wrong", "no certificate in PEM form")
	b.says(all, "disk", "good", "are free")
	by := "another program"
	if runtime.GOOS == "linux" {
		by = "(process " + strconv.Itoa(os.Getpid()) + ")"
	}
	b.says(all, "port "+taken, "wrong", by)
	all = b.diagnose(1, "--data", dir, "--amqp-port", "off", "--tls-port", "off", "--http-port", unused(t))
	b.says(all, "database", "wrong", "it is a directory")
	b.fails(2, []string{"doctor: ", "--no-such-flag"}, "doctor", "--", "--no-such-flag")
	b.fails(2, []string{"flags of the server come after --"}, "doctor", "orders")
	b.fails(2, []string{`the word "export"`}, "doctor", "--", "export")
}
