//go:build unix

package command

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of another one. Only root may do that; with the owner's own files there is nothing to do.
func keepOwner(file *os.File, like fs.FileInfo) error {
	if like == nil {
		return nil
	}
	if owner, ok := like.Sys().(*syscall.Stat_t); ok && (int(owner.Uid) != os.Geteuid() || os.Geteuid() == 0) {
		return file.Chown(int(owner.Uid), int(owner.Gid))
	}
	return nil
}
