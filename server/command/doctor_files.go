package command

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minibus/internal/tlsca"
	"minibus/server"
	"minibus/store"
)

// littleSpace is how many free bytes of the disk are worth a remark.
const littleSpace = 256 << 20

// database looks at the database, its directory and its disk. It does not open the database.
func (d *doctor) database() {
	const about = "database"
	path, given := d.settings.Data, d.settings.Data != ""
	if d.settings.Ephemeral {
		d.good(about, "in memory (--ephemeral): messages end with the server")
		return
	}
	if !given {
		var err error
		if path, err = server.DefaultData(d.settings.DataDefault); err != nil {
			d.note(about, "give --data FILE to keep messages", "in memory: %v", err)
			return
		}
	}
	path, err := filepath.Abs(path)
	if err != nil {
		d.wrong(about, "correct --data", "%v", err)
		return
	}
	d.writable(about, path, given)
	if free, known := store.DiskFree(path); known && free < littleSpace {
		d.wrong("disk", "free some space, or give --data on another disk", "%d MiB are free in %s", free>>20,
			filepath.Dir(path))
	} else if known {
		d.good("disk", "%d GiB are free in %s", free>>30, filepath.Dir(path))
	}
}

// writable reports whether the server can write the database at a path.
func (d *doctor) writable(about, path string, given bool) {
	directory := filepath.Dir(path)
	if _, there := exists(directory); !there {
		d.good(about, "%s: the server makes it at its first start", path)
		return
	}
	if err := server.CheckDatabase(path); err != nil {
		if given {
			d.wrong(about, "correct --data, or use --ephemeral", "%s cannot be written: %v", path, err)
			return
		}
		d.note(about, "give --data FILE to keep messages", "in memory: %s cannot be written: %v", path, err)
		return
	}
	size, there := exists(path)
	if !there {
		d.good(about, "%s: the server makes it at its first start", path)
		return
	}
	log, _ := exists(path + "-wal")
	d.good(about, "%s: %s, and %s of write-ahead log%s", path, mebibytes(size), mebibytes(log), d.userOf(path))
}

// userOf names the process that has the database, as its lock file says. It says nothing of one that has ended.
func (d *doctor) userOf(path string) string {
	text, err := os.ReadFile(path + "-lock")
	pid, _, _ := strings.Cut(string(text), "\n")
	if err != nil || pid == "" || !d.running {
		return ""
	}
	return "; process " + pid + " has it"
}

// newAuthority is the fix for an authority that can't be used.
const newAuthority = "remove the file and " + tlsca.KeyFile +
	" beside it: the server makes new ones, which clients have to trust: minibus cert"

// mebibytes formats a size for people.
func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// authority looks at the certificate of the authority: whether it is valid, and whether this machine trusts it.
func (d *doctor) authority() {
	const about = "CA certificate"
	dir, err := server.AuthorityDir(d.settings)
	if err != nil {
		d.note(about, "", "%v", err)
		return
	}
	file := filepath.Join(dir, tlsca.CertificateFile)
	text, err := os.ReadFile(file) //nolint:gosec // named by the settings
	if errors.Is(err, os.ErrNotExist) {
		d.good(about, "%s: the server makes it at its first start", file)
		return
	}
	if err != nil {
		d.wrong(about, "allow this user to read it", "%s cannot be read: %v", file, plain(err))
		return
	}
	block, _ := pem.Decode(text)
	if block == nil {
		d.wrong(about, newAuthority, "%s has no certificate in PEM form", file)
		return
	}
	c, err := x509.ParseCertificate(block.Bytes)
	switch {
	case err != nil:
		d.wrong(about, newAuthority, "%s: %v", file, err)
	case time.Now().After(c.NotAfter):
		d.wrong(about, newAuthority, "%s ended on %s", file, c.NotAfter.Format(time.DateOnly))
	default:
		d.trusted(about, file, c)
	}
}

// trusted reports whether the system trusts an authority. Most clients can be told on their own, which is safer.
func (d *doctor) trusted(about, file string, c *x509.Certificate) {
	valid := fmt.Sprintf("%s is valid until %s", file, c.NotAfter.Format(time.DateOnly))
	if _, err := c.Verify(x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err == nil {
		d.good(about, "%s, and this system trusts it", valid)
		return
	}
	d.note(about, "for clients with TLS run minibus cert: it says how each SDK is told to trust it",
		"%s; this system does not trust it, which only clients with TLS need", valid)
}
