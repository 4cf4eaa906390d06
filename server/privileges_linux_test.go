package server

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestParseUser(t *testing.T) {
	for in, want := range map[string][2]int{"1654:1654": {1654, 1654}, "7": {7, 7}, "1:2": {1, 2}} {
		if uid, gid, err := parseUser(in); err != nil || [2]int{uid, gid} != want {
			t.Errorf("%s: %d:%d, %v", in, uid, gid, err)
		}
	}
	for _, in := range []string{"", "app", "1:", ":1", "-1:1", "1:2:3"} {
		if _, _, err := parseUser(in); err == nil {
			t.Errorf("%q was taken", in)
		}
	}
}

// childDir is set in the child process that changes its user; a process cannot change back.
const childDir = "MINIBUS_TEST_PRIVILEGES"

// A directory with other files in it was not made for the database: its owner and the user of the process stay.
func TestDEC8_RootTakesOverTheDataAndDropsItsPrivileges(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		becomeUser("1654:1655", filepath.Join(dir, "minibus.db"), slog.New(slog.NewTextHandler(os.Stdout, nil)))
		fmt.Printf("now %d:%d of %d\n", os.Getuid(), os.Getgid(), os.Geteuid())
		return
	}
	own := []string{"minibus.db", "minibus.db-wal", "minibus.db-reserve", "minibus-ca.pem", "minibus-ca.key"}
	wantTakenOver(t, nil, true)
	wantTakenOver(t, own, true)
	wantTakenOver(t, []string{"lost+found"}, true)
	wantTakenOver(t, append(own, "passwords"), false)
	wantTakenOver(t, []string{"minibus.dbx"}, false)
}

// wantTakenOver runs a child process that becomes another user, with a database in a directory that has these files.
func wantTakenOver(t *testing.T, files []string, taken bool) {
	t.Helper()
	dir, err := os.MkdirTemp("", "minibus-privileges-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	child := exec.Command(os.Args[0], "-test.run", "^TestDEC8_RootTakesOverTheDataAndDropsItsPrivileges$")
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, owner := fmt.Sprintf("now %d:%d of %d", os.Getuid(), os.Getgid(), os.Geteuid()), uint32(os.Getuid())
	if os.Getuid() == 0 && taken {
		want, owner = "now 1654:1655 of 1654", 1654
	}
	if !strings.Contains(string(out), want) {
		t.Errorf("%v: output %s, want %s", files, out, want)
	}
	for _, name := range append(files, "") {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Uid; got != owner && name != "lost+found" {
			t.Errorf("%v: %q belongs to %d, want %d", files, name, got, owner)
		}
	}
}

func TestDEC8_WithoutAWishNothingChanges(t *testing.T) {
	uid := os.Getuid()
	for _, user := range []string{"", "0:0", "nonsense"} {
		becomeUser(user, "", slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
	if os.Getuid() != uid {
		t.Errorf("the user is %d now", os.Getuid())
	}
}
