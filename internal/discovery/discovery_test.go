package discovery_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"minibus/internal/discovery"
)

// childDir is the variable that makes this test a server that runs until it is killed.
const childDir = "MINIBUS_TEST_DISCOVERY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if _, err := discovery.Announce(dir, discovery.Server{PID: os.Getpid(), Address: "localhost:5301"}); err != nil {
			panic(err)
		}
		_, _ = os.Stdout.WriteString("ready\n")
		select {}
	}
	os.Exit(m.Run())
}

func list(t *testing.T, dir string) []discovery.Server {
	t.Helper()
	all, err := discovery.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func announce(t *testing.T, dir string, s discovery.Server) *discovery.Entry {
	t.Helper()
	e, err := discovery.Announce(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func files(t *testing.T, dir string) int {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestTheOldestIsFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	if all := list(t, dir); len(all) != 0 {
		t.Errorf("before the first there are %v", all)
	}
	now := time.Now().UTC().Truncate(time.Second)
	second := discovery.Server{PID: 2, Version: "1.2.3", Address: "localhost:5301", Explorer: "http://localhost:5301/", Data: "/bus.db", Started: now}
	first := discovery.Server{PID: 1, Version: "1.2.3", Address: "localhost:5672", Started: now.Add(-time.Hour)}
	entries := []*discovery.Entry{announce(t, dir, second), announce(t, dir, first)}
	for range 2 { // to look changes nothing
		if all := list(t, dir); len(all) != 2 || all[0] != first || all[1] != second {
			t.Errorf("there are %+v", all)
		}
	}
	entries[0].Remove()
	if all := list(t, dir); len(all) != 1 || all[0] != first {
		t.Errorf("after the end of one there are %+v", all)
	}
	entries[1].Remove()
	if n := files(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// TestAKilledServerIsGone, and its file with the next look.
func TestAKilledServerIsGone(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if all := list(t, dir); len(all) != 1 || all[0].PID != child.Process.Pid {
		t.Errorf("while it runs there are %+v", all)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if n := files(t, dir); n != 1 {
		t.Errorf("a killed server leaves %d files", n)
	}
	if all := list(t, dir); len(all) != 0 {
		t.Errorf("after its end there are %+v", all)
	}
	if n := files(t, dir); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

// TestAFileThatIsBeingBornStays: it is empty, and not locked yet.
func TestAFileThatIsBeingBornStays(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "minibus-1.json")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if all := list(t, dir); len(all) != 0 || files(t, dir) != 1 {
		t.Errorf("there are %+v and %d files", all, files(t, dir))
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, long, long); err != nil {
		t.Fatal(err)
	}
	if list(t, dir); files(t, dir) != 0 {
		t.Error("it stays after an hour")
	}
}

func TestADirectoryThatCantBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := discovery.Announce(filepath.Join(file, "below"), discovery.Server{}); err == nil {
		t.Error("no error")
	}
}
