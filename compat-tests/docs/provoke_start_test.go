package docs

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"minibus/compat-tests/harness"
)

// provoker causes a symptom and returns how to see what Minibus says of it.
type provoker func(t *testing.T) func() string

// provokers returns them by the titles of the page.
func provokers() map[string]provoker {
	all := map[string]provoker{
		"A port is in use":                                portInUse,
		"The database is in use":                          databaseInUse,
		"The file is no database":                         noDatabase,
		"A mistake in Config.json":                        badConfig,
		"A setting of Config.json has no effect":          unknownKey,
		"Config.json is a directory":                      configDirectory,
		"It does not start with --auth sas":               knownKey,
		"Messages are gone after a restart":               banner,
		"Another machine or container gets no connection": localOnly,
		"Nothing answers":                                 notRunning,
		"The disk is full":                                fullDisk,
		"The database was deleted":                        deletedDatabase,
		"The write-ahead log was cut":                     cutLog,
	}
	for title, p := range clientProvokers {
		all[title] = p
	}
	return all
}

func portInUse(t *testing.T) func() string {
	s := harness.Start(t, harness.Options{Alone: true})
	return prints(t, "--ephemeral", "--host", "127.0.0.1", "--amqp-port", strconv.Itoa(s.Ports.AMQP))
}

func databaseInUse(t *testing.T) func() string {
	data := filepath.Join(t.TempDir(), "minibus.db")
	harness.Start(t, harness.Options{Data: data, Alone: true})
	return started(t, "--data", data)
}

func noDatabase(t *testing.T) func() string {
	diary := filepath.Join(t.TempDir(), "diary.txt")
	if err := os.WriteFile(diary, []byte("Dear diary, today I met a bus."), 0o600); err != nil {
		t.Fatal(err)
	}
	return started(t, "--data", diary)
}

func badConfig(t *testing.T) func() string {
	return started(t, "--ephemeral", "--config", withQueue(t, `"LockDuration": "30s"`))
}

func unknownKey(t *testing.T) func() string {
	return harness.Start(t, harness.Options{Config: withQueue(t, `"MaxDeliveryCuont": 3`), Alone: true}).Log
}

func configDirectory(t *testing.T) func() string {
	return started(t, "--ephemeral", "--config", t.TempDir())
}

func knownKey(t *testing.T) func() string {
	return started(t, "--ephemeral", "--auth", "sas", "--host", "all")
}

func banner(t *testing.T) func() string { return harness.Start(t, harness.Options{Alone: true}).Log }

func localOnly(t *testing.T) func() string {
	return harness.Start(t, harness.Options{Args: []string{"--host", "localhost"}, Alone: true}).Log
}

func notRunning(t *testing.T) func() string {
	return prints(t, "healthcheck", "--http-port", freePort(t))
}

func deletedDatabase(t *testing.T) func() string {
	data := filepath.Join(t.TempDir(), "minibus.db")
	s := harness.Start(t, harness.Options{Data: data, Alone: true})
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	return func() string { // the store looks at its file when it writes, at most once a second
		post(t, s, "queue.1", 1, nil)
		return s.Log()
	}
}

func cutLog(t *testing.T) func() string {
	data := filepath.Join(t.TempDir(), "minibus.db")
	s := harness.Start(t, harness.Options{Data: data, Alone: true})
	post(t, s, "queue.1", 1, nil)
	if err := os.Truncate(data+"-wal", 0); err != nil {
		t.Fatal(err)
	}
	return func() string { // the store looks before it writes
		post(t, s, "queue.1", 1, nil)
		return s.Log()
	}
}
