package config

import (
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func settings(t *testing.T, args []string, environ ...string) Settings {
	t.Helper()
	c, err := ParseArgs(args, environ)
	if err != nil {
		t.Fatal(err)
	}
	return c.Settings
}

func TestDefaultsOfSettings(t *testing.T) {
	want := Settings{Limits: LimitsRelaxed, Synchronous: "normal", Host: "localhost", AMQPPort: 5672, TLSPort: 5671, HTTPPort: 5300, NamespacePorts: DefaultNamespacePorts,
		Auth: "any", Control: "on", LogFormat: "text", History: 16 << 20, LogLevel: slog.LevelInfo}
	if got := settings(t, nil); got != want {
		t.Errorf("got %+v", got)
	}
}

// Every setting can be given as a flag and in the environment, and the flag wins.
func TestEveryFlagHasItsTwinInTheEnvironment(t *testing.T) {
	samples := map[string][2]string{ // one value for the flag, another for the variable
		"config": {"a.json", "b.json"}, "limits": {"premium", "standard"}, "data": {"a.db", "b.db"}, "ephemeral": {"true", "0"},
		"synchronous": {"full", "normal"}, "host": {"all", "127.0.0.1"}, "amqp-port": {"1", "2"}, "tls-port": {"off", "3"},
		"http-port": {"4", "5"}, "ports-file": {"a", "b"}, "auth": {"any", "sas"}, "root-key": {"a", "b"}, "user": {"1:1", "2:2"}, "log-format": {"json", "text"},
		"log-level": {"debug", "error"}, "trace": {"true", "false"}, "exit-with-stdin": {"true", "false"}, "history": {"1KiB", "2 GiB"}, "data-default": {"/a", "/b"},
		"format": {"bicep", "terraform"}, "out": {"a", "b"}, "ca-file": {"a.pem", "b.pem"},
		"extra-ports": {"443,80", "off"}, "extra-ports-default": {"443", "80"}, "tls-names": {"bus", "10.0.0.1"}, "ca-dir": {"/a", "/b"}, "ca-export": {"/a", "/b"}, "open-metrics": {"true", "false"}, "control": {"off", "on"},
		"password": {"a", "b"}, "write": {"true", "0"}, "remove": {"true", "0"}, "file": {"a", "b"}, "compose": {"true", "0"}, "namespace": {"orders", "stock"}, "namespace-ports": {"5700-5719", "off"}, "namespace-suffix": {"bus.test", "a,b"}, "allowed-origins": {"http://localhost:3000", "https://a.test,http://b.test:81"},
	}
	for _, s := range table {
		if s.name == "tls-cert" || s.name == "tls-key" {
			continue // these need each other
		}
		sample, ok := samples[s.name]
		if !ok {
			t.Errorf("no sample for --%s", s.name)
			continue
		}
		flag, variable := "--"+s.name+"="+sample[0], s.variable()+"="+sample[1]
		words := []string{flag}
		if s.command != "" {
			words = []string{strings.Fields(s.command)[0], flag}
		}
		byFlag, byEnv := settings(t, words), settings(t, nil, variable)
		if want := settings(t, nil, s.variable()+"="+sample[0]); byFlag != want {
			t.Errorf("--%s and %s differ: %+v, %+v", s.name, s.variable(), byFlag, want)
		}
		if both := settings(t, words, variable); both != byFlag {
			t.Errorf("--%s does not win: %+v", s.name, both)
		}
		if byFlag == byEnv {
			t.Errorf("--%s has no effect", s.name)
		}
	}
}

func TestHTTPPortOfMicrosoftsImage(t *testing.T) {
	if got := settings(t, nil, "EMULATOR_HTTP_PORT=80").HTTPPort; got != 80 {
		t.Errorf("port %d", got)
	}
	if got := settings(t, nil, "EMULATOR_HTTP_PORT=80", "MINIBUS_HTTP_PORT=81").HTTPPort; got != 81 {
		t.Errorf("port %d", got)
	}
	if got := settings(t, []string{"--http-port", "82"}, "EMULATOR_HTTP_PORT=80", "MINIBUS_HTTP_PORT=81").HTTPPort; got != 82 {
		t.Errorf("port %d", got)
	}
}

func TestMicrosoftsVariablesAndEmptyOnesAreIgnored(t *testing.T) {
	got := settings(t, nil, "ACCEPT_EULA=N", "SQL_SERVER=mssql:1433", "MSSQL_SA_PASSWORD=x", "SQL_WAIT_INTERVAL=", "EMULATOR_HTTP_PORT=",
		"MINIBUS_AMQP_PORT=", "MINIBUS_SERVICE_HOST=10.0.0.1", "MINIBUS_PORT=tcp://10.0.0.1:5672", "broken")
	if want := settings(t, nil); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestSwitches(t *testing.T) {
	if !settings(t, []string{"--ephemeral"}).Ephemeral || settings(t, []string{"--ephemeral=false"}, "MINIBUS_EPHEMERAL=yes").Ephemeral {
		t.Error("--ephemeral")
	}
	if got := settings(t, []string{"--tls-port", "OFF"}).TLSPort; got != PortOff {
		t.Errorf("port %d", got)
	}
}

// A flag also wins over a variable of another name that it excludes.
func TestDataWinsOverTheVariableForEphemeral(t *testing.T) {
	if got := settings(t, []string{"--data", "a.db"}, "MINIBUS_EPHEMERAL=1"); got.Ephemeral || got.Data != "a.db" {
		t.Errorf("--data with MINIBUS_EPHEMERAL: %+v", got)
	}
	if got := settings(t, []string{"--ephemeral"}, "MINIBUS_DATA=a.db"); !got.Ephemeral {
		t.Error("--ephemeral with MINIBUS_DATA keeps messages in a file")
	}
	if got := settings(t, nil, "MINIBUS_EPHEMERAL=1", "MINIBUS_DATA=a.db"); !got.Ephemeral {
		t.Error("MINIBUS_EPHEMERAL with MINIBUS_DATA keeps messages in a file")
	}
}

// An IPv6 address may be in brackets, as in a URL, and localhost in any case.
func TestHostSpellings(t *testing.T) {
	for in, want := range map[string]string{"[::1]": "::1", "::1": "::1", "LOCALHOST": "localhost", "All": "all", "*": "all", "0.0.0.0": "0.0.0.0"} {
		if got := settings(t, []string{"--host", in}).Host; got != want {
			t.Errorf("--host %s is %q, want %q", in, got, want)
		}
	}
	if _, err := ParseArgs([]string{"--host", "[::1"}, nil); err == nil {
		t.Error("--host [::1 is taken")
	}
}

func TestCommands(t *testing.T) {
	for line, want := range map[string]Command{
		"":                                  {Name: CommandServe},
		"serve --trace":                     {Name: CommandServe},
		"config check":                      {Name: CommandCheck},
		"config check a.json":               {Name: CommandCheck, File: "a.json"},
		"--limits relaxed config check f":   {Name: CommandCheck, File: "f"},
		"config check f --limits=standard":  {Name: CommandCheck, File: "f"},
		"healthcheck --http-port 1":         {Name: CommandHealthcheck},
		"version":                           {Name: CommandVersion},
		"--version":                         {Name: CommandVersion},
		"-v":                                {Name: CommandVersion},
		"help":                              {Name: CommandHelp},
		"help config":                       {Name: CommandHelp, Topic: CommandCheck},
		"help Export":                       {Name: CommandHelp, Topic: CommandExport},
		"export --help":                     {Name: CommandHelp, Topic: CommandExport},
		"cert export -h":                    {Name: CommandHelp, Topic: CommandCert},
		"serve --help":                      {Name: CommandHelp, Topic: CommandServe},
		"nothing --help":                    {Name: CommandHelp},
		"-h":                                {Name: CommandHelp},
		"config check --help --limits fun":  {Name: CommandHelp, Topic: CommandCheck},
		"config check -- --strangely-named": {Name: CommandCheck, File: "--strangely-named"},
	} {
		got, err := ParseArgs(strings.Fields(line), nil)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		got.Settings = Settings{}
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%q: %+v", line, *got)
		}
	}
}

func TestMistakesOnTheCommandLineAreOneClearLine(t *testing.T) {
	for _, tt := range []struct{ line, env, want string }{
		{"--amqp-prot 1", "", "there is no flag --amqp-prot, did you mean --amqp-port?"},
		{"--xyzzyxyzzy", "", "there is no flag --xyzzyxyzzy, see minibus --help"},
		{"--amqp-port", "", "--amqp-port needs a value: --amqp-port PORT (AMQP; like every port"},
		{"--root-key", "", "--root-key needs a value: --root-key KEY (key of RootManageSharedAccessKey"},
		{"--root-key=", "", "--root-key: found nothing; give a key, such as what openssl rand -base64 32 prints, or leave it out"},
		{"export --namespace=", "", "--namespace: found nothing; give the name of a namespace, or leave it out"},
		{"--namespace orders", "", "--namespace belongs to the command export"},
		{"Config.json", "", `there is no command "Config.json", a configuration is given with a flag: minibus --config Config.json`},
		{"serve my/Config.JSON", "", `unexpected argument "my/Config.JSON", a configuration is given with a flag: minibus --config my/Config.JSON`},
		{"bus.db", "", `there is no command "bus.db", a database is given with a flag: minibus --data bus.db`},
		{"args_test.go", "", `there is no command "args_test.go", a file is given with a flag: --config for a configuration, --data for a database`},
		{"it's.json", "", "minibus --config FILE"},
		{"./settings", "", `a file is given with a flag: --config for a configuration`},
		{"config Config.json", "", "config needs a second word: minibus config check Config.json"},
		{"help exprt", "", `there is no command "exprt", did you mean export?`},
		{"--amqp-port 70000", "", `--amqp-port: found "70000"; allowed: a port from 1 to 65535, 0 for a free one, off for none`},
		{"", "MINIBUS_AMQP_PORT=x", `MINIBUS_AMQP_PORT: found "x"`},
		{"", "EMULATOR_HTTP_PORT=x", `EMULATOR_HTTP_PORT: found "x"`},
		{"--limits free", "", `--limits: no profile of limits is called "free"`},
		{"--auth none", "", `--auth: found "none"; allowed: any, sas`},
		{"--history much", "", `--history: found "much"; allowed: a size such as 16MiB, or off`},
		{"--history 99999999999GiB", "", `--history: found "99999999999GiB"; allowed: a size such as 16MiB, or off`},
		{"--log-level loud", "", `--log-level: found "loud"; allowed: debug, info, warn, error`},
		{"--log-format xml", "", `allowed: text, json`},
		{"--synchronous off", "", `allowed: normal, full`},
		{"--trace=maybe", "", `--trace: found "maybe"; allowed: true, false`},
		{"--ephemeral --data x", "", "--ephemeral and --data cannot be combined"},
		{"serv", "", `there is no command "serv", did you mean serve?`},
		{"config", "", "minibus config check FILE"},
		{"config chek f", "", "minibus config check FILE"},
		{"config check a b", "", `unexpected argument "b"`},
		{"version 2", "", `unexpected argument "2"`},
	} {
		_, err := ParseArgs(strings.Fields(tt.line), []string{tt.env})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q %s: %v", tt.line, tt.env, err)
		}
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	help := Help("")
	for _, s := range table {
		if s.group != "" && !strings.Contains(help, "--"+s.name) {
			t.Errorf("--%s is missing", s.name)
		}
	}
	for line := range strings.SplitSeq(help, "\n") {
		if len(line) > 140 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// The help of a command lists the flags that it takes, and no others.
func TestHelpOfACommand(t *testing.T) {
	for topic, tt := range map[string]struct{ has, lacks []string }{
		CommandServe:       {[]string{"--amqp-port", "--data", "--trace", "MINIBUS_AMQP_PORT"}, []string{"--format", "--ca-file"}},
		CommandCheck:       {[]string{"minibus config check [FILE]", "--config", "--limits"}, []string{"--data", "--format"}},
		CommandExport:      {[]string{"minibus export [CONNECTION]", "--format", "--out", "--ca-file", "--namespace NAME", ConnectionVariable}, []string{"--data", "--password"}},
		CommandCert:        {[]string{"minibus cert [export]", "--format", "--out", "--password", "--data", "--ca-dir"}, []string{"--trace", "--ca-file"}},
		CommandHealthcheck: {[]string{"--http-port", "--host", "--ports-file"}, []string{"--data", "--out"}},
		CommandHosts:       {[]string{"minibus hosts [NAME...]", "--write", "--remove", "--file", "--compose", "--config"}, []string{"--data", "--out"}},
		CommandVersion:     {[]string{"print the version"}, []string{"--", "MINIBUS_"}},
		CommandHelp:        {[]string{"Usage:", "minibus COMMAND --help", "--amqp-port"}, nil},
	} {
		help := Help(topic)
		for _, want := range tt.has {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s lacks %q:\n%s", topic, want, help)
			}
		}
		for _, not := range tt.lacks {
			if strings.Contains(help, not) {
				t.Errorf("the help of %s has %q:\n%s", topic, not, help)
			}
		}
		for line := range strings.SplitSeq(help, "\n") {
			if len(line) > 140 {
				t.Errorf("a line of %d characters: %s", len(line), line)
			}
		}
	}
}

// docs/configuration.md has a row for each flag of the help, and for no other.
func TestPageNamesEveryFlag(t *testing.T) {
	page, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatalf("read the page: %v", err)
	}
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(--[^`]+)`").FindAllStringSubmatch(string(page), -1) {
		for _, flag := range regexp.MustCompile("--([a-z-]+)").FindAllStringSubmatch(row[1], -1) {
			named[flag[1]] = true
		}
	}
	for _, s := range table {
		if s.group != "" && !named[s.name] {
			t.Errorf("docs/configuration.md has no row for --%s", s.name)
		}
		delete(named, s.name)
	}
	for name := range named {
		t.Errorf("docs/configuration.md has a row for --%s, which does not exist", name)
	}
}

func TestExportTakesItsConnectionStringFromThreePlaces(t *testing.T) {
	const secret = "Endpoint=sb://x;SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0"
	for _, tt := range []struct {
		name    string
		args    []string
		environ string
		want    string
	}{
		{"argument", []string{"export", secret}, "", secret},
		{"argument wins", []string{"export", secret}, ConnectionVariable + "=other", secret},
		{"environment", []string{"export", "--format", "bicep"}, ConnectionVariable + "=" + secret, secret},
		{"standard input", []string{"export", "-", "--out", "f"}, "", "-"},
		{"none", []string{"export"}, "", ""},
	} {
		c, err := ParseArgs(tt.args, []string{tt.environ})
		if err != nil || c.Name != CommandExport || c.Connection != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, c, err)
		}
	}
	for _, args := range [][]string{{"export", "Endpoint=sb://x", secret}, {secret}, {"--format", "bicep"}, {"healthcheck", "--ca-file", "x"}} {
		if _, err := ParseArgs(args, nil); err == nil || strings.Contains(err.Error(), "c2VjcmV0") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestTLSFilesBelongTogether(t *testing.T) {
	got := settings(t, []string{"--tls-cert", "a.pem"}, "MINIBUS_TLS_KEY=a.key")
	if got.TLSCert != "a.pem" || got.TLSKey != "a.key" {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"--tls-cert", "a.pem"}, {"--tls-key", "a.key"}} {
		if _, err := ParseArgs(args, nil); err == nil || !strings.Contains(err.Error(), "give both") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestListsOfPorts(t *testing.T) {
	for list, want := range map[string][]Port{"443,80": {443, 80}, " 443, 80 ": {443, 80}, "0,0": {0, 0}, "off": nil, "OFF": nil, "": nil} {
		if got := settings(t, []string{"--extra-ports", list}).ExtraPorts.Ports(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, want %v", list, got, want)
		}
	}
	for _, list := range []string{"x", "443,off", "65536", "-1", "443;80"} {
		if _, err := ParseArgs([]string{"--extra-ports=" + list}, nil); err == nil || !strings.Contains(err.Error(), "--extra-ports: found") {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestCertCommand(t *testing.T) {
	for _, tt := range []struct {
		args   []string
		export bool
	}{{[]string{"cert"}, false}, {[]string{"cert", "export", "--format", "pkcs12", "--ca-dir", "x"}, true}} {
		c, err := ParseArgs(tt.args, nil)
		if err != nil || c.Name != CommandCert || c.Export != tt.export {
			t.Errorf("%v: %+v, %v", tt.args, c, err)
		}
	}
	for args, want := range map[string]string{"--format pem": "--format belongs to the command export or cert", "cert import": "unexpected argument", "cret": "did you mean cert"} {
		if _, err := ParseArgs(strings.Fields(args), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestMisspeltOrigins are found at the start: one with a path would match nothing.
func TestMisspeltOrigins(t *testing.T) {
	for _, list := range []string{"localhost:3000", "*", "http://*.test", "http://localhost:3000/", "http://a.test,b.test", "null"} {
		_, err := ParseArgs([]string{"--allowed-origins", list}, nil)
		if err == nil || !strings.Contains(err.Error(), "http://localhost:3000") {
			t.Errorf("%s: %v", list, err)
		}
	}
}
