package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Clients returns a directory with the typed client of the control API, as packaging/clients.sh makes them, and with the
// packages that they need. It is kept in the user's cache directory, one for each content of clients.
func Clients(t testing.TB) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	sources, script := filepath.Join(root, "clients"), filepath.Join(root, "packaging", "clients.sh")
	python := Python(t, filepath.Join(sources, "python"))
	hash := sha256.New()
	hash.Write([]byte(python))
	add := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "__pycache__" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		name, _ := filepath.Rel(root, path)
		text, err := os.ReadFile(path)
		hash.Write([]byte(name + "\x00"))
		hash.Write(text)
		return err
	}
	for _, path := range []string{sources, script} {
		if err := filepath.WalkDir(path, add); err != nil {
			t.Fatalf("read the sources of the clients: %v", err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("find the cache: %v", err)
	}
	dir := filepath.Join(cache, "minibus-ci", "clients-"+hex.EncodeToString(hash.Sum(nil))[:16])
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	half, err := os.MkdirTemp(filepath.Dir(dir), "clients-")
	if err != nil {
		t.Fatalf("make the clients: %v", err)
	}
	defer os.RemoveAll(half)
	made := filepath.Join(half, "made")
	cmd := exec.Command(script, "make", made)
	cmd.Env = append(os.Environ(), "PYTHON="+python)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make the clients: %v\n%s", err, out)
	}
	if err := os.Rename(made, dir); err != nil {
		if _, missing := os.Stat(dir); missing != nil { // another process may have been faster
			t.Fatalf("keep the clients: %v", err)
		}
	}
	return dir
}
