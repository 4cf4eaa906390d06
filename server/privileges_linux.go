package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"minibus/internal/tlsca"
)

// becomeUser gives up root for "uid:gid" (DEC-8): it gives the directory of the database to the user, then changes
// the user of the whole process. It does nothing in a process without root's user id. Without the capabilities it
// logs one line, and the process stays root. data is empty if there is no database file.
func becomeUser(user, data string, log *slog.Logger) {
	if user == "" || os.Getuid() != 0 {
		return
	}
	uid, gid, err := parseUser(user)
	if err == nil && uid == 0 {
		return
	}
	if err == nil && data != "" {
		err = takeOver(data, uid, gid)
	}
	if err == nil {
		err = switchUser(uid, gid)
	}
	if err != nil {
		log.Warn("Minibus keeps running as root", "wanted", user, "reason", err)
	}
}

func parseUser(s string) (uid, gid int, err error) {
	first, second, found := strings.Cut(s, ":")
	if !found {
		second = first
	}
	u, uidErr := strconv.ParseUint(first, 10, 31)
	g, gidErr := strconv.ParseUint(second, 10, 31)
	if uidErr != nil || gidErr != nil {
		return 0, 0, fmt.Errorf("%q is not of the form uid:gid, in numbers", s)
	}
	return int(u), int(g), nil
}

// takeOver makes the user the owner of the database's directory and of our files in it, and of nothing else. Shared
// directories (sticky, such as /tmp) and those of other users than root keep their owner. A directory of root's with
// other files in it is an error: it was not made for the database.
func takeOver(data string, uid, gid int) error {
	dir := filepath.Dir(data)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("take over the data directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("take over the data directory: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	ofRoot := ok && owner.Uid == 0 && info.Mode()&os.ModeSticky == 0
	for _, e := range entries {
		if ofRoot && !isOwnFile(e.Name(), filepath.Base(data)) && e.Name() != "lost+found" {
			return fmt.Errorf("the directory %s belongs to root and holds more than the database: %s", dir, e.Name())
		}
	}
	if ofRoot {
		if err := os.Chown(dir, uid, gid); err != nil {
			return fmt.Errorf("take over the data directory: %w", err)
		}
	}
	for _, e := range entries {
		if !isOwnFile(e.Name(), filepath.Base(data)) {
			continue
		}
		if err := os.Lchown(filepath.Join(dir, e.Name()), uid, gid); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("take over the database: %w", err)
		}
	}
	return nil
}

// isOwnFile reports whether a file in the directory of a database is one of ours: the database, a file that SQLite
// or the store keeps beside it, or the authority.
func isOwnFile(name, database string) bool {
	return name == database || strings.HasPrefix(name, database+"-") || name == tlsca.CertificateFile ||
		name == tlsca.KeyFile
}

// giveToOwner gives files that root has just made in another user's directory to that user, who could not read or
// remove them otherwise.
func giveToOwner(dir string, files ...string) {
	info, err := os.Stat(dir)
	if err != nil || os.Getuid() != 0 {
		return
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 || info.Mode()&os.ModeSticky != 0 {
		return
	}
	for _, file := range files {
		// Without the capability they stay root's.
		_ = os.Lchown(filepath.Join(dir, file), int(owner.Uid), int(owner.Gid))
	}
}

// switchUser changes the groups, the group and the user of all threads, in the order in which each is still allowed.
func switchUser(uid, gid int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("leave root's groups: %w", err)
	}
	if err := syscall.Setgid(gid); err != nil {
		return fmt.Errorf("become group %d: %w", gid, err)
	}
	if err := syscall.Setuid(uid); err != nil {
		return fmt.Errorf("become user %d: %w", uid, err)
	}
	return nil
}
