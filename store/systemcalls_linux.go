//go:build linux && (amd64 || arm64)

package store

import (
	"encoding/binary"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// SQLite writes its log frame by frame, the head and the page of each by a call of its own, and asks for locks by a call each. Go's runtime
// is told of each call, and wakes a thread that watches calls if nothing else was going on. For a message that comes by itself this
// cost as much as all other work of the commit. So the log of our databases is written through a logFile, which makes one call of a
// transaction, and short calls are not announced. SQLite has a table of system calls for such purposes; other databases of the process
// keep their calls.
//
// A logFile changes no order that matters. SQLite has asked for the whole transaction to be written when it publishes the commit, syncs,
// or changes the file's size, and by then it is: the last frame of a transaction, which has the size of the database in its head, a write elsewhere and a
// change of the size write what is held back. A read gets it from memory. A failure is that of the call that finds it, before the commit is published.
//
// A transaction that is larger than the cache goes to the log in parts before its commit. If SQLite then changes a page that it has written, it
// reads every later frame before the commit and writes a new head with a new checksum. Nothing follows the last of these heads, so they
// are not held back. If the transaction is rolled back, the parts held back are dropped: their place belongs to the next writer.

const (
	frameHead    = 24        // bytes of the head of a frame in the log
	mostHeld     = 256 << 10 // bytes held back
	mostSilently = 64 << 10  // bytes written by a call that is not announced
)

var (
	ourLogs  sync.Map // of struct{}, by path: logs of databases that this package opened
	logFiles sync.Map // of *logFile, by file descriptor
	replace  = sync.OnceFunc(replaceCalls)
	openFile uintptr // SQLite's own call
)

// logFile is a log that a connection has opened. It belongs to who has the connection.
type logFile struct {
	fd    int32
	held  []byte // not yet written
	begin int64  // where in the file
	last  bool   // the frame in hand is the last of its transaction
	read  int64  // where SQLite read last
}

// prepareLog arranges that the log of a database is written through a logFile by connections that are opened from now on.
func prepareLog(path string) {
	replace()
	ourLogs.Store(path+"-wal", struct{}{})
}

// dropOnRollback arranges that what the connection's logFile holds back is dropped when a transaction is rolled back, also by SQLite itself.
func dropOnRollback(c *conn) {
	lib.Xsqlite3_rollback_hook(c.tls, c.db, functionPointer(any(logRolledBack)), c.db)
}

func logRolledBack(tls *libc.TLS, db uintptr) {
	out := tls.Alloc(8)
	defer tls.Free(8)
	if lib.Xsqlite3_file_control(tls, db, 0, lib.SQLITE_FCNTL_JOURNAL_POINTER, out) != lib.SQLITE_OK {
		return
	}
	if file := *(*uintptr)(cPointer(out)); file != 0 {
		if v, ok := logFiles.Load((*lib.TunixFile)(cPointer(file)).Fh); ok {
			v.(*logFile).drop()
		}
	}
}

func replaceCalls() {
	tls := libc.NewTLS()
	defer tls.Close()
	vfs := lib.Xsqlite3_vfs_find(tls, 0)
	if vfs == 0 {
		return
	}
	calls := (*lib.Tsqlite3_vfs)(cPointer(vfs))
	get := *(*func(*libc.TLS, uintptr, uintptr) uintptr)(unsafe.Pointer(&struct{ uintptr }{calls.FxGetSystemCall}))
	set := *(*func(*libc.TLS, uintptr, uintptr, uintptr) int32)(unsafe.Pointer(&struct{ uintptr }{calls.FxSetSystemCall}))
	name := func(s string) uintptr { z, _ := libc.CString(s); return z }
	openFile = get(tls, vfs, name("open"))
	for call, f := range map[string]any{
		"open": logOpen, "close": logClose, "pwrite": logWrite, "pread": logRead, "ftruncate": logTruncate, "fcntl": fileControl,
	} {
		set(tls, vfs, name(call), functionPointer(f))
	}
}

// functionPointer returns what translated C code takes for a pointer to a function.
func functionPointer(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

func logOpen(tls *libc.TLS, path uintptr, flags, mode int32) int32 {
	fd := (*(*func(*libc.TLS, uintptr, int32, int32) int32)(unsafe.Pointer(&struct{ uintptr }{openFile})))(tls, path, flags, mode)
	if fd >= 0 {
		if name := libc.GoString(path); strings.HasSuffix(name, "-wal") {
			if _, ours := ourLogs.Load(name); ours {
				logFiles.Store(fd, &logFile{fd: fd})
			}
		}
	}
	return fd
}

// logClose drops what is held back: frames of a transaction that was given up.
func logClose(tls *libc.TLS, fd int32) int32 {
	logFiles.Delete(fd)
	return libc.Xclose(tls, fd)
}

func logWrite(tls *libc.TLS, fd int32, p uintptr, n lib.Tsize_t, off lib.Toff_t) lib.Tssize_t {
	v, ok := logFiles.Load(fd)
	if !ok {
		return libc.Xpwrite(tls, fd, p, n, off)
	}
	f := v.(*logFile)
	data := unsafe.Slice((*byte)(cPointer(p)), int(n))
	if err := f.write(data, off); err != 0 {
		return lib.Tssize_t(failWith(tls, err))
	}
	return lib.Tssize_t(n)
}

func logRead(tls *libc.TLS, fd int32, p uintptr, n lib.Tsize_t, off lib.Toff_t) lib.Tssize_t {
	if v, ok := logFiles.Load(fd); ok {
		f := v.(*logFile)
		f.read = off
		if f.holds(off, int64(n)) {
			return lib.Tssize_t(copy(unsafe.Slice((*byte)(cPointer(p)), int(n)), f.held[off-f.begin:]))
		}
	}
	return libc.Xpread(tls, fd, p, n, off)
}

func logTruncate(tls *libc.TLS, fd int32, size lib.Toff_t) int32 {
	if v, ok := logFiles.Load(fd); ok {
		if err := v.(*logFile).flush(); err != 0 {
			return failWith(tls, err)
		}
	}
	return libc.Xftruncate(tls, fd, size)
}

// fileControl does not announce the calls that try a lock: they do not wait.
func fileControl(tls *libc.TLS, fd, command int32, args uintptr) int32 {
	if command != lib.F_SETLK && command != lib.F_GETLK {
		return libc.Xfcntl(tls, fd, command, args)
	}
	if _, _, err := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), uintptr(command), libc.VaUintptr(&args)); err != 0 {
		return failWith(tls, err)
	}
	return 0
}

func failWith(tls *libc.TLS, err syscall.Errno) int32 {
	*(*int32)(cPointer(libc.X__errno_location(tls))) = int32(err)
	return -1
}

// write holds frames back until their transaction is complete. Anything else it writes at once.
func (f *logFile) write(data []byte, off int64) syscall.Errno {
	if off != f.begin+int64(len(f.held)) {
		if err := f.flush(); err != 0 {
			return err
		}
		f.begin = off
	}
	if len(f.held) == 0 && (len(data) != frameHead || off == f.read) {
		return pwrite(f.fd, data, off)
	}
	f.held = append(f.held, data...)
	if len(data) == frameHead {
		f.last = binary.BigEndian.Uint32(data[4:]) != 0
		return 0
	}
	if f.last || len(f.held) >= mostHeld {
		return f.flush()
	}
	return 0
}

// holds reports whether a range of the file is held back. A frame is, or is not, as a whole.
func (f *logFile) holds(off, n int64) bool {
	return off >= f.begin && off+n <= f.begin+int64(len(f.held))
}

// flush writes what is held back. What can't be written is dropped: the transaction fails.
func (f *logFile) flush() syscall.Errno {
	held, begin := f.held, f.begin
	f.begin += int64(len(held))
	f.drop()
	return pwrite(f.fd, held, begin)
}

func (f *logFile) drop() {
	if cap(f.held) > 2*mostHeld {
		f.held = nil
	}
	f.held = f.held[:0]
}

func pwrite(fd int32, b []byte, off int64) syscall.Errno {
	for len(b) > 0 {
		var n uintptr
		var err syscall.Errno
		if len(b) <= mostSilently {
			n, _, err = syscall.RawSyscall6(syscall.SYS_PWRITE64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(off), 0, 0)
		} else {
			n, _, err = syscall.Syscall6(syscall.SYS_PWRITE64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(off), 0, 0)
		}
		switch {
		case err == syscall.EINTR:
		case err != 0:
			return err
		case n == 0:
			return syscall.ENOSPC
		default:
			b, off = b[n:], off+int64(n)
		}
	}
	return 0
}
