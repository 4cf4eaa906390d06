//go:build linux && (amd64 || arm64)

package amqpserver

import (
	"io"
	"net"
	"syscall"
	"unsafe"
)

// socketCalls says that this system has the calls for [socket].
const socketCalls = true

// writeOnce calls sendto once. It neither waits nor tries again.
func (k *socket) writeOnce(fd uintptr) bool {
	const flags = syscall.MSG_DONTWAIT | syscall.MSG_NOSIGNAL
	n, _, failed := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(unsafe.SliceData(k.out))), uintptr(len(k.out)), flags, 0, 0)
	if failed == 0 {
		k.written = int(n)
	}
	return true
}

// Read implements io.Reader. The error is one of a socket, or io.EOF.
func (k *socket) Read(b []byte) (int, error) {
	k.in = b
	err := k.raw.Read(k.reading)
	k.in = nil
	switch {
	case err != nil:
		return 0, err
	case k.failed != 0:
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: k.failed}
	case k.read == 0:
		return 0, io.EOF
	}
	return k.read, nil
}

// readOnce calls recvfrom, and returns false if there is nothing to read.
func (k *socket) readOnce(fd uintptr) bool {
	for {
		n, _, failed := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(k.in))), uintptr(len(k.in)), syscall.MSG_DONTWAIT, 0, 0)
		switch failed {
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			k.read, k.failed = int(n), failed
			return true
		}
	}
}
