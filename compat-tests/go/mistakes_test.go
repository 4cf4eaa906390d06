package compat

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// Beginners' mistakes are answered in one line that says what to do.
func TestMistakesAreAnsweredWithTheFix(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config, diary := write("Config.json", `{"UserConfig": {}}`), write("diary.db", "Dear diary, today I met a bus.")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(nobody)
	connection := "Endpoint=sb://" + nobody + ";SharedAccessKeyName=n;SharedAccessKey=c2VjcmV0;UseDevelopmentEmulator=true"
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"healthcheck", "--http-port", port}, []string{"no Minibus listens on " + nobody, "minibus --http-port " + port}},
		{[]string{config}, []string{"minibus --config " + config}},
		{[]string{"serve", config}, []string{"minibus --config " + config}},
		{[]string{diary}, []string{"minibus --data " + diary}},
		{[]string{"--amqp-port", "0", "--tls-port", "off", "--http-port", "off", "--data", diary}, []string{"not a Minibus database", "--data"}},
		{[]string{"--root-key"}, []string{"--root-key needs a value", "--root-key KEY"}},
		{[]string{"--auth", "sas", "--root-key", ""}, []string{"--root-key: found nothing"}},
		{[]string{"export", config}, []string{"Endpoint=sb://", "--out"}},
		{[]string{"export", connection, "--out", filepath.Join(dir, "no", "Config.json")}, []string{"no does not exist", "--out"}},
		{[]string{"export", connection}, []string{"nothing listens there"}},
		{[]string{"cert", "export", "--ca-dir", dir, "--out", dir}, []string{"is a directory", "--out"}},
		{[]string{"help", "helthcheck"}, []string{"did you mean healthcheck?"}},
	} {
		out, err := exec.Command(harness.Binary(t), c.args...).CombinedOutput()
		text := string(out)
		if err == nil || !strings.HasPrefix(text, "minibus: ") || strings.Count(text, "\n") != 1 || strings.Contains(text, "c2VjcmV0") {
			t.Errorf("%v: %v, %q, want one line", c.args, err, text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: %q, want %q", c.args, text, want)
			}
		}
	}
}

// The second Minibus of a database says which process has it.
func TestASecondMinibusSaysWhatToDo(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "held.db")
	harness.Start(t, harness.Options{Config: configOf(t, harness.Queue{Name: queueName}), Data: data})
	out, err := exec.Command(harness.Binary(t), "--amqp-port", "0", "--tls-port", "off", "--http-port", "off", "--data", data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "in use by another Minibus (process ") || !strings.Contains(string(out), "stop that one, or name another file with --data") {
		t.Errorf("%v: %s", err, out)
	}
}

// Each command has its own help.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"serve": "--amqp-port", "config check": "--limits", "export": "--ca-file", "cert export": "--password",
		"healthcheck": "--ports-file", "version": "print the version"} {
		out, err := exec.Command(harness.Binary(t), append(strings.Fields(command), "--help")...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "\n  minibus "+command) || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v, %s", command, err, out)
		}
	}
}
