//go:build !(linux && (amd64 || arm64))

package amqpserver

import "errors"

// socketCalls says that this system has no calls for [socket].
const socketCalls = false

func (k *socket) writeOnce(uintptr) bool { return true }

func (k *socket) readOnce(uintptr) bool { return true }

// Read implements io.Reader. Nobody calls it here.
func (k *socket) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }
