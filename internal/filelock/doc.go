// Package filelock tells processes that share a file which of them owns it: with an advisory lock that ends with the
// process, however that ends.
//
// The store locks its database, and package server the ports file. The package owns no goroutine and opens no file.
package filelock

import "errors"

// ErrLocked says that another process has the lock.
var ErrLocked = errors.New("locked")
