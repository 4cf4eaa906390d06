package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestEnv(t *testing.T) {
	b := start(t, queue("q"))
	// A shell reads what env writes, and the commands use it.
	cmd := exec.CommandContext(b.ctx, "sh", "-c", `set=$("$0" env) && unset SERVICEBUS_CONNECTION_STRING && eval "$set" && "$0" queue ls -o jsonl`, b.command().Path)
	cmd.Env = b.command().Env
	if r := b.finish(cmd); r.code != 0 || !strings.Contains(r.out, `"name":"q"`) {
		t.Errorf("eval of env gives %+v", r)
	}
	quoted := "Endpoint=sb://localhost:1;SharedAccessKeyName=n;SharedAccessKey=it's;UseDevelopmentEmulator=true;"
	b.connection = quoted
	cmd = exec.CommandContext(b.ctx, "sh", "-c", `eval "$("$0" env --name X)" && printf %s "$X"`, b.command().Path)
	cmd.Env = b.command().Env
	if r := b.finish(cmd); r.out != quoted {
		t.Errorf("a shell reads %q, want %q", r.out, quoted)
	}
	escaped := " = '" + strings.ReplaceAll(quoted, "'", "''") + "'\n"
	if got := b.run("env", "powershell"); got != "$env:SERVICEBUS_CONNECTION_STRING"+escaped {
		t.Errorf("env powershell prints %q", got)
	}
	if got := decode[map[string]string](b, b.run("env", "-o", "json")); got["SERVICEBUS_CONNECTION_STRING"] != quoted {
		t.Errorf("env -o json prints %v", got)
	}
	b.connection = ""
	settings := decode[struct{ ConnectionStrings map[string]string }](b, b.run("env", "appsettings", "--entity", "q"))
	if s := settings.ConnectionStrings; !strings.HasPrefix(s["ServiceBus"], "Endpoint=sb://localhost:5672;") || !strings.Contains(s["ServiceBus"], "EntityPath=q") || len(s) != 1 {
		t.Errorf("env appsettings prints %v", s)
	}
	type profile struct{ EnvironmentVariables map[string]string }
	launch := decode[struct{ Profiles map[string]profile }](b, b.run("env", "launchsettings", "--name", "ConnectionStrings__ServiceBus"))
	if v := launch.Profiles["minibus"].EnvironmentVariables; v["ConnectionStrings__ServiceBus"] == "" || len(v) != 1 {
		t.Errorf("env launchsettings prints %v", launch)
	}
	ports := file(t, `{"amqp":4001,"tls":0,"http":4002,"extra":[],"namespaces":{"orders":4003}}`)
	if got := b.run("env", "dotenv", "--ports-file", ports); !strings.HasPrefix(got, "SERVICEBUS_CONNECTION_STRING='Endpoint=sb://localhost:4001;") || strings.Count(got, "\n") != 1 {
		t.Errorf("env dotenv prints %q", got)
	}
	if got := b.run("env", "--ports-file", ports, "--namespace", "orders"); strings.Count(got, "localhost:4003;") != 1 {
		t.Errorf("env --namespace prints %q", got)
	}
	if got := b.run("env", "json", "-c", "Endpoint=sb://localhost;SharedAccessKeyName=n;SharedAccessKey=k;UseDevelopmentEmulator=true"); !strings.Contains(got, "sb://localhost:5672;") {
		t.Errorf("env of a string without a port prints %q", got)
	}
	if got := b.run("env", "-c", "Endpoint=sb://shop.servicebus.windows.net;SharedAccessKeyName=n;SharedAccessKey=k", "dotenv"); !strings.Contains(got, "sb://shop.servicebus.windows.net;") {
		t.Errorf("env of a namespace in Azure prints %q", got)
	}
	b.fails(3, []string{`"none"`}, "env", "--ports-file", ports, "--namespace", "none")
	b.fails(2, []string{"--ports-file"}, "env", "--namespace", "orders")
	b.fails(2, []string{"--ports-file", "no such file"}, "env", "--ports-file", "/none")
	b.fails(2, []string{`"yaml"`, "dotenv"}, "env", "yaml")
	b.fails(2, []string{"--name"}, "env", "--name", "a b")
}

// A shell and a .env file take what env --identity prints, and the files that it names are there.
func TestEnvIdentity(t *testing.T) {
	b := start(t, nil)
	dir := filepath.Join(t.TempDir(), "a place") // JAVA_TOOL_OPTIONS is split at spaces
	ask := func(format ...string) string {
		return b.run(append([]string{"env", "--identity", "--ca-dir", dir, "--client-id", "it's"}, format...)...)
	}
	all := decode[map[string]string](b, ask("json"))
	want := map[string]string{
		"IDENTITY_ENDPOINT":       `^http://[^/]+/minibus/identity/token$`,
		"IDENTITY_HEADER":         `^[\w-]{32}$`,
		"AZURE_TOKEN_CREDENTIALS": `^ManagedIdentityCredential$`, "AZURE_CLIENT_ID": `^it's$`,
		"SSL_CERT_FILE": `minibus-ca\.pem$`, "NODE_EXTRA_CA_CERTS": `minibus-ca\.pem$`, "REQUESTS_CA_BUNDLE": `minibus-ca\.pem$`,
		"JAVA_TOOL_OPTIONS": `^"-Djavax\.net\.ssl\.trustStore=.*minibus-ca\.p12" -Djavax\.net\.ssl\.trustStorePassword=changeit$`,
		"PYTHONPATH":        `minibus-python$`,
	}
	for name, pattern := range want {
		if !regexp.MustCompile(pattern).MatchString(all[name]) {
			t.Errorf("%s is %q, want %s", name, all[name], pattern)
		}
	}
	if len(all) != len(want) {
		t.Errorf("%d variables: %v", len(all), all)
	}
	for _, name := range []string{all["SSL_CERT_FILE"], filepath.Join(all["PYTHONPATH"], "sitecustomize.py"), filepath.Join(dir, "minibus-ca.p12"), filepath.Join(dir, "minibus-identity.key")} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	line := regexp.MustCompile(`(?m)^(\w+)='(.*)'$`) // as compose reads a .env file
	for _, found := range line.FindAllStringSubmatch(ask("dotenv"), -1) {
		if value := strings.ReplaceAll(found[2], `\'`, "'"); value != all[found[1]] {
			t.Errorf("a .env file has %s=%q, want %q", found[1], value, all[found[1]])
		}
	}
	cmd := exec.CommandContext(b.ctx, "sh", "-c", `eval "$("$0" env --identity --ca-dir "$1" --client-id "it's")" &&
		eval "$("$0" env --identity --ca-dir "$1")" && printf '%s\n' "$AZURE_CLIENT_ID" "$JAVA_TOOL_OPTIONS" "$PYTHONPATH"`, b.command().Path, dir)
	cmd.Env = b.command().Env
	if r := b.finish(cmd); r.out != "\n"+all["JAVA_TOOL_OPTIONS"]+"\n"+all["PYTHONPATH"]+"\n" { // without --client-id it is the developer again, and the rest is as before
		t.Errorf("a shell reads %+v", r)
	}
	for format, want := range map[string]string{"sh": "unset AZURE_CLIENT_ID\n", "powershell": "Remove-Item Env:AZURE_CLIENT_ID ", "dotenv": "", "json": ""} {
		got := b.run("env", "--identity", "--ca-dir", dir, format)
		if want == "" && strings.Contains(got, "AZURE_CLIENT_ID") || !strings.HasPrefix(got, want) {
			t.Errorf("%s without --client-id prints %s", format, got)
		}
	}
	b.fails(2, []string{"appsettings", "launchsettings"}, "env", "--identity", "appsettings")
	b.fails(2, []string{"--name"}, "env", "--identity", "--name", "x")
	b.fails(2, []string{"--ca", "--dir"}, "env", "--identity", "--ca", all["SSL_CERT_FILE"])

	if token := b.run("token", "--resource", "r"); strings.Count(token, ".") != 2 || !strings.HasPrefix(token, "eyJ") {
		t.Errorf("token prints %q", token)
	}
	if m := decode[map[string]string](b, b.run("token", "-o", "json", "--client-id", "shop")); m["client_id"] != "shop" || m["resource"] != "https://servicebus.azure.net/" {
		t.Errorf("token -o json prints %v", m)
	}
}

// Variables of another Minibus in the same shell give way, and what else they hold stays.
func TestEnvIdentityOfASecondMinibus(t *testing.T) {
	harness.NeedAll(t, "to sign in at a second Minibus")
	if out, err := harness.Output(nil, "python3", "--version"); err != nil {
		harness.Lack(t, "run python3: %v\n%s", err, out)
	}
	b := start(t, nil)
	first, second, own := filepath.Join(t.TempDir(), "a place"), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"certifi/core.py":     "import os\ndef where(): return os.path.join(os.path.dirname(__file__), 'all.pem')\ndef contents(): return ''\n",
		"certifi/__init__.py": "from .core import contents, where\n", "certifi/all.pem": "BEGIN of certifi\n",
		"sitecustomize.py": "print('own sitecustomize')\n",
	} {
		name = filepath.Join(own, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	shell := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(b.ctx, "sh", "-c", `set -e
			export PYTHONPATH="$3" JAVA_TOOL_OPTIONS="-Xmx1g -Djavax.net.ssl.trustStoreType=JKS"
			eval "$("$0" env --identity --ca-dir "$1")"; before=$PYTHONPATH
			eval "$("$0" env --identity --ca-dir "$2")"
			`+script, b.command().Path, first, second, own)
		cmd.Env = b.command().Env
		r := b.finish(cmd)
		if r.code != 0 {
			t.Fatalf("%+v", r)
		}
		return r.out
	}
	want := "-Djavax.net.ssl.trustStore=" + second + "/minibus-ca.p12 -Djavax.net.ssl.trustStorePassword=changeit -Xmx1g\n" + second + "/minibus-python:" + own + "\n"
	if got := shell(`printf '%s\n' "$JAVA_TOOL_OPTIONS" "$PYTHONPATH"`); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	certificate := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, "minibus-ca.pem"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const show = `python3 -c 'import certifi; print(open(certifi.where()).read(), certifi.contents())'`
	for _, script := range []string{show, `PYTHONPATH=${PYTHONPATH%%:*}:$before ` + show} { // also if the path has both
		got := shell(script)
		if !strings.HasPrefix(got, "own sitecustomize\n") || strings.Count(got, "of certifi") != 2 || strings.Count(got, certificate(second)) != 2 {
			t.Errorf("%s prints\n%s", script, got)
		}
		if strings.Contains(got, certificate(first)) {
			t.Errorf("%s: the first one is trusted too", script)
		}
	}
	old := filepath.Join(second, "minibus-python", "minibus-certifi-0.pem")
	long := time.Now().Add(-48 * time.Hour)
	if err := errors.Join(os.WriteFile(old, nil, 0o644), os.Chtimes(old, long, long)); err != nil {
		t.Fatal(err)
	}
	shell(show)
	if all, _ := filepath.Glob(filepath.Join(filepath.Dir(old), "*.pem")); len(all) != 1 || all[0] == old {
		t.Errorf("the bundles are %q", all)
	}
}

// The CA and the secret are those of the server at the address, wherever its files are.
func TestEnvIdentityOfTheServerAtAnAddress(t *testing.T) {
	harness.NeedAll(t, "to sign in at another Minibus")
	b := start(t, nil)
	its, own, cache := t.TempDir(), filepath.Join(t.TempDir(), "own"), "XDG_CACHE_HOME="+t.TempDir()
	server := harness.Start(t, harness.Options{Data: filepath.Join(its, "bus.db"), Env: []string{cache}, Args: []string{"--auth", "sas", "--root-key", "root-key-of-the-test"}})
	at := fmt.Sprintf("localhost:%d", server.Ports.HTTP)
	b.environ = []string{"MINIBUS_DATA=" + filepath.Join(own, "bus.db"), cache}
	all := decode[map[string]string](b, b.run("env", "--identity", "json", "-c", at))
	if all["SSL_CERT_FILE"] != filepath.Join(its, "minibus-ca.pem") || all["PYTHONPATH"] != filepath.Join(its, "minibus-python") {
		t.Errorf("the files are %v", all)
	}
	isToken := func(args ...string) {
		t.Helper()
		if got := b.run(append([]string{"token", "-c", at}, args...)...); strings.Count(got, ".") != 2 {
			t.Errorf("token prints %q", got)
		}
	}
	isToken()
	b.environ[1] = nothingRuns
	b.fails(1, []string{"--ca-dir", at + "/minibus/ca.pem", "--ca FILE"}, "env", "--identity", "-c", at)
	b.fails(1, []string{"--ca-dir", "MINIBUS_IDENTITY_SECRET"}, "token", "-c", at)
	isToken("--ca-dir", its)
	if _, err := os.Stat(own); err == nil {
		t.Error("files were made elsewhere")
	}
	b.environ = append(b.environ, "IDENTITY_HEADER=of-another-minibus")
	b.fails(1, []string{"IDENTITY_HEADER"}, "token", "-c", at)
	isToken("--ca-dir", its)
	if !strings.Contains(server.Log(), `level=WARN msg="wrong identity secret" operation=GET path=/minibus/identity/token`) {
		t.Errorf("the log is\n%s", server.Log())
	}
}

// nothingRuns lets a command find no server of this user.
const nothingRuns = "XDG_CACHE_HOME=/none"

// TestLs finds the servers of this user by themselves, and no longer one that was killed.
func TestLs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the user's cache is elsewhere")
	}
	t.Parallel()
	cache := "XDG_CACHE_HOME=" + t.TempDir()
	b := &bench{T: t, ctx: t.Context()}
	at := func(s *harness.Server) string { return fmt.Sprintf("127.0.0.1:%d", s.Ports.AMQP) }
	with := func(args ...string) result {
		cmd := b.command(args...)
		cmd.Env = append(cmd.Env, cache, "MINIBUS_AMQP_PORT=1", "MINIBUS_HTTP_PORT=1")
		return b.finish(cmd)
	}
	if r := with("ls"); r.code != 0 || r.out != "" || r.errors != "no Minibus of yours runs on this machine\n" {
		t.Errorf("without a server it gives %+v", r)
	}
	b.failed(with("ls", "x"), 2, []string{"x"}, "ls x")

	data := filepath.Join(t.TempDir(), "bus.db")
	first := harness.Start(t, harness.Options{Env: []string{cache}, Data: data, Config: harness.WriteTopology(t, queue("first"), nil), Alone: true})
	b.failed(with("status"), 6, []string{"nothing listens at localhost:1; a Minibus runs at " + at(first) + ": add -c " + at(first)}, "status")
	if r := with("env"); !strings.Contains(r.errors, "a Minibus runs at "+at(first)) || !strings.Contains(r.out, "localhost:1;") {
		t.Errorf("env gives %+v", r)
	}
	second := harness.Start(t, harness.Options{Env: []string{cache}, Args: []string{"--auth", "sas", "--root-key", "of-the-test"}, Alone: true})
	b.failed(with("queue", "ls"), 6, []string{"2 Minibuses run at other addresses, which minibus ls shows: add -c " + at(second)}, "queue ls")

	type server struct {
		Address, Explorer, Data, Version string
		PID                              int
		Started                          time.Time
		Namespaces                       []string
	}
	all := decode[[]server](b, with("ls", "-o", "json").out)
	if len(all) != 2 || all[0].Address != at(first) || all[0].PID != first.Pid() || all[0].Data != data || all[1].Data != "" || all[0].Version == "" ||
		time.Since(all[0].Started) > time.Hour || strings.Join(all[0].Namespaces, " ") != "sbemulatorns" || all[1].Namespaces != nil ||
		all[0].Explorer != fmt.Sprintf("http://127.0.0.1:%d/", first.Ports.HTTP) {
		t.Errorf("it finds %+v", all)
	}
	if r := with("ls"); !strings.Contains(r.out, "in memory") || !strings.Contains(r.out, data) || strings.Count(r.out, "\n") != 3 {
		t.Errorf("it prints %s", r.out)
	}
	if r := with("-c", at(first), "queue", "ls"); r.code != 0 || !strings.Contains(r.out, "first") {
		t.Errorf("with the address of the first: %+v", r)
	}
	if r := with("-c", fmt.Sprintf(":%d", first.Ports.HTTP), "status"); r.code != 0 {
		t.Errorf("with the port of the first: %+v", r)
	}
	first.Kill(t)
	if all := decode[[]server](b, with("ls", "-o", "json").out); len(all) != 1 || all[0].Address != at(second) {
		t.Errorf("after the end of the first it finds %+v", all)
	}
	second.Stop(t)
	if all := decode[[]server](b, with("run", "--quiet", "--", harness.Binary(t), "ls", "-o", "json").out); len(all) != 1 || all[0].Address == "" {
		t.Errorf("the command of run finds %+v", all)
	}
	if r := with("ls", "-o", "json"); r.out != "[]\n" {
		t.Errorf("after the end of all it finds %s", r.out)
	}
}

// TestTheLocalMinibus finds it by the variables with which it was started.
func TestTheLocalMinibus(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, queue("q"), nil), Args: []string{"--auth", "sas", "--root-key", "a-key-of-the-test"}})
	b := start(t, queue("other"))
	b.connection = ""
	amqp, http := fmt.Sprintf("MINIBUS_AMQP_PORT=%d", server.Ports.AMQP), fmt.Sprintf("MINIBUS_HTTP_PORT=%d", server.Ports.HTTP)
	written := file(t, fmt.Sprintf(`{"amqp":%d,"http":%d}`, server.Ports.AMQP, server.Ports.HTTP))
	with := func(environ []string, args ...string) result {
		cmd := b.command(args...)
		cmd.Env = append(append(cmd.Env, "MINIBUS_HOST=127.0.0.1", "MINIBUS_ROOT_KEY=a-key-of-the-test", nothingRuns), environ...)
		return b.finish(cmd)
	}
	for _, environ := range [][]string{{amqp, http}, {amqp}, {"MINIBUS_AMQP_PORT=off", http}, {"MINIBUS_AMQP_PORT=0", "MINIBUS_HTTP_PORT=0", "MINIBUS_PORTS_FILE=" + written}, {"MINIBUS_PORTS_FILE=" + written}} {
		for _, args := range [][]string{{"queue", "show", "q"}, {"send", "q", "x"}, {"receive", "q"}} {
			if r := with(environ, args...); r.code != 0 {
				t.Errorf("with %v minibus %v ended with %d: %s", environ, args, r.code, r.errors)
			}
		}
	}
	if r := with([]string{http}, "queue", "show", "q"); r.code != 0 { // messages are at 5672, where there may be none
		t.Errorf("with the port of HTTP alone: %+v", r)
	}
	r := with([]string{amqp, http}, "env")
	for _, part := range []string{fmt.Sprintf("SERVICEBUS_CONNECTION_STRING='Endpoint=sb://127.0.0.1:%d;", server.Ports.AMQP), "SharedAccessKey=a-key-of-the-test;"} {
		if !strings.Contains(r.out, part) {
			t.Errorf("env prints %q, want %q in it", r.out, part)
		}
	}
	b.failed(with([]string{"MINIBUS_AMQP_PORT=1"}, "queue", "ls"), 6, []string{"nothing listens at 127.0.0.1:1: start a Minibus, name its ports in MINIBUS_AMQP_PORT and MINIBUS_HTTP_PORT, or"}, "queue ls")
	b.failed(with([]string{"MINIBUS_HTTP_PORT=1"}, "queue", "ls"), 6, []string{"nothing listens at 127.0.0.1:1: start a Minibus"}, "queue ls")
	b.failed(with([]string{"MINIBUS_AMQP_PORT=x"}, "queue", "ls"), 2, []string{"MINIBUS_AMQP_PORT", `"x"`}, "queue ls")
	b.failed(with([]string{"MINIBUS_AMQP_PORT=0", "MINIBUS_HTTP_PORT=0"}, "queue", "ls"), 2, []string{"MINIBUS_PORTS_FILE", "--connection"}, "queue ls")
	b.failed(with([]string{"MINIBUS_AMQP_PORT=0", "MINIBUS_PORTS_FILE=/none"}, "queue", "ls"), 2, []string{"MINIBUS_PORTS_FILE", "no such file"}, "queue ls")
}

// TestOpenAndStatus of a server that runs, and of one that does not. A program in the place of the browser's writes down what it gets.
func TestOpenAndStatus(t *testing.T) {
	b := start(t, queue("orders"), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	b.run("send", "orders", "x", "--message-id", "m/1 ä", "--repeat", "1")
	b.run("send", "orders", "later", "--schedule", "1h")
	b.send("events", "y")
	host := regexp.MustCompile(`sb://([^;]+);`).FindStringSubmatch(b.connection)[1]
	root := "http://" + host + "/#/sbemulatorns"
	for args, want := range map[string]string{
		"": root, "orders": root + "/entity/orders", "orders#1": root + "/entity/orders/messages/1", "orders/$DeadLetterQueue": root + "/entity/orders/dead", "events": root + "/entity/events",
		"orders/$DeadLetterQueue#7": root + "/entity/orders/dead/7", "events/audit": root + "/entity/events%2FSubscriptions%2Faudit", "m/1 ä": root + "/life?messageId=m%2F1+%C3%A4",
	} {
		words := []string{"open", "--print"}
		if args != "" {
			words = append(words, args)
		}
		if got := b.run(words...); got != want+"\n" {
			t.Errorf("open %s prints %q, want %q", args, got, want)
		}
	}
	b.fails(3, []string{"there is no entity ordrs, and no message with that id is remembered; did you mean orders?"}, "open", "ordrs")
	if got := decode[struct{ URL string }](b, b.run("open", "--print", "-o", "json")); got.URL != root {
		t.Errorf("open as JSON is %+v", got)
	}
	if runtime.GOOS == "linux" {
		dir := t.TempDir()
		script := "#!/bin/sh\nprintf %s \"$1\" > " + dir + "/opened\n"
		b.must("write a browser", os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700)) //nolint:gosec // it is to be run
		for _, path := range []string{dir + ":" + os.Getenv("PATH"), "/none"} {
			cmd := b.command("open", "orders")
			cmd.Env = append(cmd.Env, "PATH="+path)
			if r := b.finish(cmd); r.code != 0 || r.out != root+"/entity/orders\n" || strings.Contains(r.errors, "no browser could be started") != (path == "/none") {
				t.Errorf("open with the path %s gives %+v", path, r)
			}
		}
		if opened, err := os.ReadFile(filepath.Join(dir, "opened")); err != nil || string(opened) != root+"/entity/orders" {
			t.Errorf("the browser got %q, %v", opened, err)
		}
	}

	type status struct {
		Running                             bool
		Version, Explorer, ConnectionString string
		Started                             time.Time
		Namespaces                          []struct {
			Queues, Topics, Subscriptions, Active, Scheduled int
			Default                                          bool
		}
	}
	s := decode[status](b, b.run("status", "-o", "json"))
	if !s.Running || s.Version == "" || s.Explorer != "http://"+host+"/" || s.ConnectionString != b.connection || time.Since(s.Started) > time.Hour || len(s.Namespaces) != 1 {
		t.Fatalf("status is %+v", s)
	}
	if n := s.Namespaces[0]; n.Queues != 1 || n.Topics != 1 || n.Subscriptions != 1 || n.Active != 2 || n.Scheduled != 1 || !n.Default {
		t.Errorf("status counts %+v", n)
	}
	if text := b.run("status"); !strings.Contains(text, "messages           2 active, 0 dead-lettered, 1 scheduled\n") || !strings.Contains(text, "\nuptime ") {
		t.Errorf("status prints %s", text)
	}
	b.fails(6, []string{"nothing listens at localhost:1"}, "open", "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=n;SharedAccessKey=k;UseDevelopmentEmulator=true")
	b.connection = strings.Replace(b.connection, host, "localhost:1", 1)
	if r := b.try("status", "-o", "json"); r.code != 6 || decode[status](b, r.out).Running || !strings.Contains(r.errors, "nothing listens at localhost:1") {
		t.Errorf("status of nothing gives %+v", r)
	}
}

// TestCompletion loads the script into bash and asks it, as bash does for the tabulator key.
func TestCompletion(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"))
	b.send("orders", "x")
	b.run("snapshot", "save", "seeded")
	complete := func(words ...string) []string {
		t.Helper()
		var list strings.Builder
		for _, w := range words {
			fmt.Fprintf(&list, " %q", w)
		}
		script := fmt.Sprintf(`eval "$(minibus completion bash)"; COMP_WORDS=(minibus%s); COMP_CWORD=%d; COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
			COMP_TYPE=9; compopt() { :; }; _get_comp_words_by_ref() { cur="${COMP_WORDS[COMP_CWORD]}"; prev="${COMP_WORDS[COMP_CWORD-1]}"; words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
			__start_minibus; printf '%%s\n' "${COMPREPLY[@]}"`, list.String(), len(words))
		binary := b.command().Path
		cmd := exec.CommandContext(b.ctx, "bash", "-c", "minibus() { "+binary+` "$@"; }; `+script)
		cmd.Env = b.command().Env
		r := b.finish(cmd)
		if r.code != 0 || r.errors != "" {
			t.Errorf("completion of %q gives %+v", words, r)
		}
		var found []string
		for line := range strings.Lines(r.out) {
			if fields := strings.Fields(line); len(fields) > 0 {
				found = append(found, fields[0])
			}
		}
		return found
	}
	for _, c := range []struct {
		words []string
		want  string
	}{{[]string{"pe"}, "peek"}, {[]string{"heal"}, "healthcheck"}, {[]string{"--amqp-p"}, "--amqp-port"}, {[]string{"peek", "or"}, "orders"},
		{[]string{"queue", "create", "x", "--lock-d"}, "--lock-duration"}, {[]string{"queue", "ls", "-o", "jsonl"}, "jsonl"}, {[]string{"config", "c"}, "check"},
		{[]string{"message", "ls", "orders", "--state", "sch"}, "scheduled"}, {[]string{"wait", "--events", "deadL"}, "deadLettered"}, {[]string{"fault", "add", "drop", "--entity", "or"}, "orders"},
		{[]string{"snapshot", "restore", "see"}, "seeded"}, {[]string{"conn", "show", "c"}, "c1"}} {
		if got := complete(c.words...); !slices.Contains(got, c.want) {
			t.Errorf("%q is completed with %q, want %q among them", c.words, got, c.want)
		}
	}
	for _, kind := range strings.Fields(b.run("__completeNoDesc", "history", "--kind", "")) {
		if !strings.HasPrefix(kind, ":") {
			b.run("history", "--kind", kind)
		}
	}
	b.fails(2, []string{`completion: there is no script for "tcsh"; there are: completion bash|`}, "completion", "tcsh")
	b.fails(2, []string{"did you mean add?"}, "fault", "ad")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := b.run("completion", shell); !strings.Contains(script, "minibus") {
			t.Errorf("completion %s prints %q", shell, script)
		}
	}
}

// TestHelp wants every command in the help, and a help of every command.
func TestHelp(t *testing.T) {
	b := start(t, nil)
	all := b.run("--help")
	for _, word := range []string{"queue", "topic", "sub", "rule", "send", "peek", "receive", "tail", "dlq", "purge", "env", "open", "status", "completion", "export", "config"} {
		if !strings.Contains(all, "\n  minibus "+word+" ") {
			t.Errorf("the help lacks %s", word)
		}
	}
	for _, words := range []string{"queue", "queue create", "sub ls", "rule update", "send", "peek", "receive", "tail", "dlq", "dlq resubmit", "dlq purge", "purge", "env", "config check"} {
		asked := append(strings.Fields(words), "--help")
		if text := b.run(asked...); !strings.Contains(text, "Usage:\n  minibus "+words) || !strings.Contains(text, "--connection string") {
			t.Errorf("%v prints %q", asked, text)
		}
	}
	if b.run("help", "send") != b.run("send", "--help") {
		t.Error("minibus help send is another help than minibus send --help")
	}
}
