package config

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// read reads a command line, as package cli does, and the environment.
func read(args, environ []string) (Settings, error) {
	flags := Flags()
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, f := range flags {
		added := set.VarPF(f, f.Name, "", f.Help)
		if f.Arg == "" {
			added.NoOptDefVal = "true"
		}
	}
	if err := set.Parse(args); err != nil {
		return Settings{}, err
	}
	return Read(flags, environ)
}

func settings(t *testing.T, args []string, environ ...string) Settings {
	t.Helper()
	s, err := read(args, environ)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDefaultsOfSettings(t *testing.T) {
	want := Settings{Limits: ProfileRelaxed, Synchronous: "normal", Host: "localhost", AMQPPort: 5672, TLSPort: 5671, HTTPPort: 5300, NamespacePorts: DefaultNamespacePorts,
		Auth: "any", IdentityLife: time.Hour, Control: "on", ARM: "on", ARMStrings: "local", ARMOtherTypes: "refuse", LogFormat: "text", History: 16 << 20, LogLevel: slog.LevelInfo}
	if got := settings(t, nil); got != want {
		t.Errorf("got %+v", got)
	}
}

// Every setting can be given as a flag and in the environment, and the flag wins.
func TestEveryFlagHasItsTwinInTheEnvironment(t *testing.T) {
	samples := map[string][2]string{ // one value for the flag, another for the variable
		"config": {"a.json", "b.json"}, "seed": {"a", "b"}, "config-json": {"{}", "[]"}, "limits": {"premium", "standard"}, "data": {"a.db", "b.db"}, "ephemeral": {"true", "0"},
		"synchronous": {"full", "normal"}, "host": {"all", "127.0.0.1"}, "amqp-port": {"1", "2"}, "tls-port": {"off", "3"},
		"http-port": {"4", "5"}, "ports-file": {"a", "b"}, "auth": {"any", "sas"}, "identity-secret": {"a-long-secret", "another-secret"}, "identity-token-life": {"5s", "2h"}, "root-key": {"a", "b"}, "user": {"1:1", "2:2"}, "log-format": {"json", "text"},
		"log-level": {"debug", "error"}, "trace": {"true", "false"}, "exit-with-stdin": {"true", "false"}, "history": {"1KiB", "2 GiB"}, "otlp": {"http://a:4318", "https://b/otlp"}, "data-default": {"/a", "/b"},
		"extra-ports": {"443,80", "off"}, "extra-ports-default": {"443", "80"}, "tls-names": {"bus", "10.0.0.1"}, "ca-dir": {"/a", "/b"}, "ca-export": {"/a", "/b"}, "open-metrics": {"true", "false"}, "control": {"off", "on"}, "arm": {"off", "on"}, "arm-connection-strings": {"bus.test:5671", "cloud"}, "arm-other-types": {"store", "refuse"},
		"namespace-ports": {"5700-5719", "off"}, "namespace-suffix": {"bus.test", "a,b"}, "allowed-origins": {"http://localhost:3000", "https://a.test,http://b.test:81"},
	}
	for _, s := range table {
		if s.name == "tls-cert" || s.name == "tls-key" || s.name == "entra-issuer" {
			continue // these need each other, or --auth entra
		}
		sample, ok := samples[s.name]
		if !ok {
			t.Errorf("no sample for --%s", s.name)
			continue
		}
		flag, variable := "--"+s.name+"="+sample[0], Variable(s.name)+"="+sample[1]
		words := []string{flag}
		byFlag, byEnv := settings(t, words), settings(t, nil, variable)
		if want := settings(t, nil, Variable(s.name)+"="+sample[0]); byFlag != want {
			t.Errorf("--%s and %s differ: %+v, %+v", s.name, Variable(s.name), byFlag, want)
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
	if _, err := read([]string{"--host", "[::1"}, nil); err == nil {
		t.Error("--host [::1 is taken")
	}
}

func TestMistakesOnTheCommandLineAreOneClearLine(t *testing.T) {
	for _, tt := range []struct{ line, env, want string }{
		{"--root-key=", "", "--root-key: found nothing; give a key, such as what openssl rand -base64 32 prints, or leave it out"},
		{"--amqp-port 70000", "", `--amqp-port: found "70000"; allowed: a port from 1 to 65535, 0 for a free one, off for none`},
		{"", "MINIBUS_AMQP_PORT=x", `MINIBUS_AMQP_PORT: found "x"`},
		{"", "EMULATOR_HTTP_PORT=x", `EMULATOR_HTTP_PORT: found "x"`},
		{"--limits free", "", `--limits: no profile of limits is called "free"`},
		{"--auth none", "", `--auth: found "none"; allowed: any, sas, entra`},
		{"--auth entra --entra-issuer idp", "", `--entra-issuer: found "idp"; allowed: the URL of an issuer, such as https://idp.test/realms/dev`},
		{"--auth sas --entra-issuer https://idp.test", "", "--entra-issuer belongs to --auth entra: without it no token is asked for its issuer"},
		{"--identity-secret short", "", "--identity-secret: found a text of 5 characters; give one of 12 or more, such as what openssl rand -hex 24 prints, or leave it out"},
		{"--identity-token-life 0s", "", `--identity-token-life: found "0s"; allowed: 1s to 24h`},
		{"--otlp http://localhost:4318 --history off", "", "--otlp makes traces of the history"},
		{"--otlp localhost:4318", "", `--otlp: found "localhost:4318"; allowed: the URL of a collector`},
		{"--history much", "", `--history: found "much"; allowed: a size such as 16MiB, or off`},
		{"--history 99999999999GiB", "", `--history: found "99999999999GiB"; allowed: a size such as 16MiB, or off`},
		{"--log-level loud", "", `--log-level: found "loud"; allowed: debug, info, warn, error`},
		{"--log-format xml", "", `allowed: text, json`},
		{"--synchronous off", "", `allowed: normal, full`},
		{"--trace=maybe", "", `--trace: found "maybe"; allowed: true, false`},
		{"--ephemeral --data x", "", "--ephemeral and --data cannot be combined"},
	} {
		_, err := read(strings.Fields(tt.line), []string{tt.env})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q %s: %v", tt.line, tt.env, err)
		}
	}
}

func TestTLSFilesBelongTogether(t *testing.T) {
	got := settings(t, []string{"--tls-cert", "a.pem"}, "MINIBUS_TLS_KEY=a.key")
	if got.TLSCert != "a.pem" || got.TLSKey != "a.key" {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"--tls-cert", "a.pem"}, {"--tls-key", "a.key"}} {
		if _, err := read(args, nil); err == nil || !strings.Contains(err.Error(), "give both") {
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
		if _, err := read([]string{"--extra-ports=" + list}, nil); err == nil || !strings.Contains(err.Error(), "--extra-ports: found") {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// TestMisspeltOrigins are found at the start: one with a path would match nothing.
func TestMisspeltOrigins(t *testing.T) {
	for _, list := range []string{"localhost:3000", "*", "http://*.test", "http://localhost:3000/", "http://a.test,b.test", "null"} {
		_, err := read([]string{"--allowed-origins", list}, nil)
		if err == nil || !strings.Contains(err.Error(), "http://localhost:3000") {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// TestFlagsThatMayBeGivenAgain add up, and the variable has commas instead.
func TestFlagsThatMayBeGivenAgain(t *testing.T) {
	got := settings(t, []string{"--config", "a.json", "--seed", "s", "--config=b, c.json"}, "MINIBUS_CONFIG=x,y", "MINIBUS_SEED=x")
	if files := got.Config.Files(); !reflect.DeepEqual(files, []string{"a.json", "b, c.json"}) || !reflect.DeepEqual(got.Seed.Files(), []string{"s"}) {
		t.Errorf("%q, %q", files, got.Seed.Files())
	}
	got = settings(t, nil, "MINIBUS_CONFIG=x,y.json")
	if files := got.Config.Files(); !reflect.DeepEqual(files, []string{"x", "y.json"}) || got.Seed.Files() != nil {
		t.Errorf("%q, %q", files, got.Seed.Files())
	}
}
