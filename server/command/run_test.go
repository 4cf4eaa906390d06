package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"minibus/config"
	"minibus/internal/sas"
	"minibus/internal/tlsca"
	"minibus/server"
)

func TestRunServesUntilItIsToldToStop(t *testing.T) {
	data := filepath.Join(t.TempDir(), "bus.db")
	p := run(t, "--data", data)
	for name, port := range map[string]int{"amqp": p.ports.AMQP, "tls": p.ports.TLS, "http": p.ports.HTTP} {
		if code, body := get(t, local(port, "/health")); code != 200 || !strings.Contains(body, "healthy") {
			t.Errorf("%s port: %d %s", name, code, body)
		}
	}
	if err := p.end(t); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := os.Stat(data); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.ports.AMQP))); err == nil {
		t.Error("the port is still open")
	}
}

func TestBannerHasAtMostNineLinesAndTheReadyLineOnce(t *testing.T) {
	p := run(t, "--ephemeral")
	out := p.stdout.String()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) > 9 || strings.Count(out, readyLine) != 1 || lines[len(lines)-1] != readyLine {
		t.Errorf("banner:\n%s", out)
	}
	_, text, ok := strings.Cut(lines[2], "Connection string: ")
	c, err := sas.ParseConnection(text)
	if !ok || err != nil || c.Host() != "localhost:"+strconv.Itoa(p.ports.AMQP) || !c.Emulator || c.Key != "SAS_KEY_VALUE" {
		t.Errorf("connection string %q: %+v, %v", text, c, err)
	}
	if want := "Explorer: http://localhost:" + strconv.Itoa(p.ports.HTTP) + "/"; lines[1] != want {
		t.Errorf("found %q; want %q", lines[1], want)
	}
	if p.stderr.String() != "" {
		t.Errorf("log: %s", p.stderr.String())
	}
}

func TestEveryPortSpeaksTLSWithTheKeptAuthority(t *testing.T) {
	dir := t.TempDir()
	p := run(t, "--data", filepath.Join(dir, "bus.db"))
	pem, err := os.ReadFile(filepath.Join(dir, tlsca.CertificateFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
	for _, port := range []int{p.ports.AMQP, p.ports.TLS, p.ports.HTTP} {
		for _, host := range []string{"localhost", "127.0.0.1"} {
			resp, err := client.Get("https://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/health")
			if err != nil {
				t.Error(err)
				continue
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status %d", resp.StatusCode)
			}
		}
	}
}

// The ports file exists only while its ports serve. A start that finds a port in use leaves the file alone: it may belong to the Minibus
// that has the port. One that fails later removes the file of an earlier process.
func TestPortsFileIsThereOnlyWhileItsPortsServe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ports.json")
	gone := func(when string) {
		t.Helper()
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the ports file is there (%v)", when, err)
		}
	}
	p := run(t, "--ephemeral", "--ports-file", file)
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	if err := p.end(t); err != nil {
		t.Fatal(err)
	}
	gone("after the end")
	if err := writePorts(file, config.Ports{AMQP: 1}); err != nil { // as a Minibus that was killed leaves it
		t.Fatal(err)
	}
	busy := run(t, "--ephemeral", "--ports-file", file)
	err := Run(context.Background(), []string{"--amqp-port", strconv.Itoa(busy.ports.AMQP), "--ephemeral", "--ports-file", file}, nil, &output{}, &output{})
	if err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a start on a busy port: %v", err)
	}
	if kept, err := config.ReadPorts(file); err != nil || kept.AMQP != busy.ports.AMQP {
		t.Errorf("after a start on a busy port the file of the Minibus that runs has %+v, %v", kept, err)
	}
	if err := busy.end(t); err != nil {
		t.Fatal(err)
	}
	if err := writePorts(file, config.Ports{AMQP: 1}); err != nil {
		t.Fatal(err)
	}
	err = Run(context.Background(), append(slices.Clone(freePorts), "--data", t.TempDir(), "--ports-file", file), nil, &output{}, &output{})
	if err == nil {
		t.Error("a start with a directory as its database succeeds")
	}
	gone("after a start that failed with its ports bound")
}

// A shell that names a ports file for its clients names it for every server that is started there too.
func TestPortsFileOfARunningMinibusIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ports.json")
	first := run(t, "--ephemeral", "--ports-file", file)
	untouched := func(when string) {
		t.Helper()
		if kept, err := config.ReadPorts(file); err != nil || kept.AMQP != first.ports.AMQP {
			t.Errorf("%s: the file has %+v, %v", when, kept, err)
		}
	}
	start := func(config string) error {
		return Run(context.Background(), append(slices.Clone(freePorts), "--ephemeral", "--ports-file", file, "--config", config), nil, &output{}, &output{})
	}
	err := start("")
	if err == nil || !strings.Contains(err.Error(), "the ports file "+file+" belongs to another Minibus") || !strings.Contains(err.Error(), "--ports-file") {
		t.Errorf("a second Minibus with the same ports file: %v", err)
	}
	untouched("after a second start")
	if err := start(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a start without its configuration succeeds")
	}
	untouched("after a start that failed")
	if err := writePorts(file, config.Ports{AMQP: 1}); err != nil {
		t.Fatal(err)
	}
	if err := first.end(t); err != nil {
		t.Fatal(err)
	}
	if kept, err := config.ReadPorts(file); err != nil || kept.AMQP != 1 {
		t.Errorf("the end removed a file that another program had put there: %+v, %v", kept, err)
	}
	last := run(t, "--ephemeral", "--ports-file", file) // nobody holds it
	if err := last.end(t); err != nil {
		t.Error(err)
	}
}

func TestHealthcheckCommand(t *testing.T) {
	p := run(t, "--ephemeral")
	ask := func(args ...string) error {
		return Run(context.Background(), append([]string{"healthcheck"}, args...), nil, &output{}, &output{})
	}
	if err := ask("--http-port", strconv.Itoa(p.ports.HTTP)); err != nil {
		t.Error(err)
	}
	if err := ask("--http-port", "off", "--amqp-port", strconv.Itoa(p.ports.AMQP)); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "ports.json")
	if err := writePorts(file, config.Ports{HTTP: p.ports.HTTP}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--http-port", "0", "--ports-file", file}, {"--ports-file", file}} {
		if err := ask(args...); err != nil {
			t.Errorf("healthcheck %q: %v", args, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(nobody)
	err = ask("--http-port", port)
	for _, want := range []string{"no Minibus listens on " + nobody, "minibus --http-port " + port, "--host", "--ports-file"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := ask("--http-port", "0", "--amqp-port", "0", "--tls-port", "0"); err == nil || !strings.Contains(err.Error(), "the port is not known") {
		t.Errorf("error %v", err)
	}
	if err := p.end(t); err != nil {
		t.Error(err)
	}
	if err := ask("--http-port", strconv.Itoa(p.ports.HTTP)); err == nil {
		t.Error("a stopped Minibus is healthy")
	}
}

func TestConfigCheckCommand(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name, text string
		want       []string
		fails      bool
	}{
		{"good.json", `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "a"}, {"Name": "b"}], "Topics": [{"Name": "t"}]}]}}`,
			[]string{"good.json: good: 2 queues, 1 topic with 0 subscriptions"}, false},
		{"warning.json", `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "a", "Propertis": {}}]}]}}`,
			[]string{"warning: $.UserConfig.Namespaces[0].Queues[0].Propertis", "did you mean Properties?", "good: 1 queue"}, false},
		{"bad.json", `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "a/"}, {"Name": 1}]}]}}`,
			[]string{"Queues[0].Name: found", "Queues[1].Name: found the number 1", "bad.json: 2 errors"}, true},
	} {
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout output
		err := Run(context.Background(), []string{"config", "check", path}, nil, &stdout, &output{})
		if (err != nil) != tt.fails || tt.fails && err.Error() != "" {
			t.Errorf("%s: error %v", tt.name, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("%s: %q is missing in:\n%s", tt.name, want, stdout.String())
			}
		}
	}
	if err := Run(context.Background(), []string{"config", "check", filepath.Join(dir, "none")}, nil, &output{}, &output{}); err == nil {
		t.Error("a missing file is good")
	}
}

func TestMistakesStopTheStart(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "a", "Properties": {"LockDuration": 5}}]}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	noDatabase := filepath.Join(dir, "text.db")
	if err := os.WriteFile(noDatabase, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	running := run(t, "--data", filepath.Join(dir, "held.db"))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--no-such-flag"}, "there is no flag"},
		{[]string{"--config", bad, "--ephemeral"}, "LockDuration: found the number 5"},
		{[]string{"--config", dir, "--ephemeral"}, "is a directory, not a file"},
		{[]string{"--config", filepath.Join(dir, "none.json"), "--ephemeral"}, "does not exist"},
		{[]string{"--amqp-port", strconv.Itoa(running.ports.AMQP), "--ephemeral"},
			"port " + strconv.Itoa(running.ports.AMQP) + " is in use by another program"},
		{[]string{"--host", "192.0.2.1", "--ephemeral"}, "192.0.2.1 is no address of this machine"},
		{[]string{"--data", noDatabase}, "text.db: this is not a Minibus database, or it is damaged: name another file with --data; one that does not exist is made"},
		{[]string{"--data", filepath.Join(dir, "held.db")}, "in use by another Minibus (process " + strconv.Itoa(os.Getpid()) + "): stop that one, or name another file with --data"},
		{[]string{"--data", dir}, "it is a directory"},
		{[]string{"--ephemeral", "--ports-file", filepath.Join(dir, "no", "dir")}, "write the ports file"},
		{[]string{bad}, "minibus --config " + bad},
		{[]string{"--root-key"}, "--root-key needs a value: --root-key KEY"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		var stdout output
		err := Run(ctx, append(append([]string{}, freePorts...), tt.args...), nil, &stdout, &output{})
		cancel()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", tt.args, err)
		}
		if strings.Contains(stdout.String(), readyLine) {
			t.Errorf("%v: it said that it was ready", tt.args)
		}
	}
}

func TestBeingToldToStopDuringTheStartIsNoFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout output
	if err := Run(ctx, append([]string{"--ephemeral"}, freePorts...), nil, &stdout, &output{}); err != nil || stdout.String() != "" {
		t.Errorf("%v, %s", err, stdout.String())
	}
}

// TestWhatAzureRefusesIsLogged at the start, entity by entity up to a number.
func TestWhatAzureRefusesIsLogged(t *testing.T) {
	var queues []string
	for i := range maxRefusals + 2 {
		queues = append(queues, fmt.Sprintf(`{"Name": "q%d", "Properties": {"DefaultMessageTimeToLive": "PT0.5S"}}`, i))
	}
	queues = append(queues, `{"Name": "large", "Properties": {"MaxMessageSizeInKilobytes": 2048}}`)
	p := run(t, "--ephemeral", "--config-json", `{"UserConfig": {"Namespaces": [{"Name": "ns", "Queues": [`+strings.Join(queues, ",")+`]}]}}`)
	log := p.stderr.String()
	if n := strings.Count(log, `level=WARN msg="Azure would refuse this entity" namespace=ns entity=q`); n != maxRefusals {
		t.Errorf("%d warnings, want %d\n%s", n, maxRefusals, log)
	}
	if !strings.Contains(log, "more=2") || strings.Contains(log, "entity=large") {
		t.Errorf("the log is\n%s", log)
	}
}

func TestWarningsOfTheConfigurationAreLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	text := `{"UserConfig": {"Namespaces": [{"Name": "mine", "Entities": [], "Queues": [{"Name": "a", "Properties": {"MaxDeliveryCount": 100, "Status": "Enabled"}}]}]}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, "--ephemeral", "--config", path, "--log-format", "json")
	for want, at := range map[string]*output{
		`"level":"WARN"`: &p.stderr, `unknown key \"Entities\"`: &p.stderr, "Active is taken instead": &p.stderr,
		`"level":"INFO"`: &p.stdout, "does not take": &p.stdout,
	} {
		if !strings.Contains(at.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, at.String())
		}
	}
	if strings.Contains(p.stderr.String(), "INFO") || strings.Contains(p.stdout.String(), "WARN") {
		t.Errorf("standard output:\n%s, standard error:\n%s", p.stdout.String(), p.stderr.String())
	}
	if !strings.Contains(p.stdout.String(), "Entities: 1 queue ("+path+")") {
		t.Errorf("banner:\n%s", p.stdout.String())
	}
}

func TestPortsFileAppearsComplete(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ports.json")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writePorts(file, config.Ports{AMQP: 1, HTTP: 3}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || string(data) != "{\"amqp\":1,\"http\":3}\n" {
		t.Errorf("%q, %v", data, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are left, %v", len(entries), err)
	}
}

func TestTheCollectorLeavesRoomForLittleMemoryAndNoneForMuch(t *testing.T) {
	for live, want := range map[uint64]int{0: mostRatio, 4 << 20: mostRatio, 40 << 20: 100, 400 << 20: leastRatio, 1 << 40: leastRatio} {
		if got := ratioFor(live); got != want {
			t.Errorf("%d bytes live: %d, want %d", live, got, want)
		}
	}
}

// Where any token is accepted, web tokens are too, and the log says so once.
func TestDEC10_WebTokensAreNoted(t *testing.T) {
	p := run(t, "--ephemeral")
	for range 2 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, local(p.ports.HTTP, "/queue.1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer eyJ.e.s")
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close()
	}
	if n := strings.Count(p.stdout.String(), "web token (JWT)"); n != 1 {
		t.Errorf("noted %d times in:\n%s", n, p.stdout.String())
	}
}

// TestBannerHidesAKeyThatIsTheUsersOwn, since the output ends up in logs.
func TestBannerHidesAKeyThatIsTheUsersOwn(t *testing.T) {
	for _, flag := range []string{"", "mine"} {
		c := server.Config{NoNetwork: true, Topology: config.DefaultTopology(), Settings: config.Settings{Ephemeral: true, RootKey: flag}}
		if text := banner(start(t, c), &c, "built in"); strings.Contains(text, "SharedAccessKey=...") != (flag != "") || strings.Contains(text, "mine") {
			t.Errorf("with the key %q: %s", flag, text)
		}
	}
}

// TestBannerNamesPortsOfNamespaces, which clients need.
func TestBannerNamesPortsOfNamespaces(t *testing.T) {
	topology, report := config.Parse("Config.json", []byte(severalJSON), config.ProfileRelaxed)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	c := server.Config{Topology: topology, Settings: config.Settings{Ephemeral: true, NamespacePorts: "0"}}
	a := start(t, c)
	served := a.Ports().Namespaces
	text := banner(a, &c, "Config.json")
	want := fmt.Sprintf("Namespaces: orders %d, stock-1 %d\n", served["orders"], served["stock-1"])
	if !strings.Contains(text, want) || !strings.Contains(text, "3 queues, in 3 namespaces") || strings.Count(text, "\n") > 9 {
		t.Errorf("the banner has no %q:\n%s", want, text)
	}
}

// TestPageOfNamespaces_Commands reads the command lines of the page, and runs its export.
func TestPageOfNamespaces_Commands(t *testing.T) {
	data, err := os.ReadFile("../../docs/namespaces.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^    (minibus [^|>$\n]+)$`).FindAllSubmatch(data, -1)
	root := (&program{}).root()
	for _, line := range lines {
		if _, _, err := root.Find(strings.Fields(string(line[1]))[1:]); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
	}
	words := regexp.MustCompile("`minibus (export [^`]+)`").FindSubmatch(data)
	if words == nil || len(lines) == 0 {
		t.Fatalf("the page has the commands %q and the export %q", lines, words)
	}
	var example []byte
	for _, block := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAll(data, -1) {
		if bytes.HasPrefix(bytes.TrimSpace(block), []byte("{")) && bytes.Contains(block, []byte(`"UserConfig"`)) {
			example = block
		}
	}
	topology, report := config.Parse("the page", example, config.ProfileRelaxed)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	for _, one := range topology.Others {
		one.Port = 0
	}
	a := start(t, server.Config{Topology: topology, Settings: config.Settings{Ephemeral: true, TLSPort: config.PortOff, HTTPPort: config.PortOff, NamespacePorts: "0"}})
	var stdout output
	args := append(strings.Fields(string(words[1])), connectionTo(a.Ports().AMQP, "UseDevelopmentEmulator=true"))
	if err := Run(context.Background(), args, nil, &stdout, io.Discard); err != nil || !strings.Contains(stdout.String(), `"Name": "billing"`) {
		t.Errorf("%v\n%s", err, stdout.String())
	}
}
