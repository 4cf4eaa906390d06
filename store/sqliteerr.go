package store

import (
	"errors"
	"fmt"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// sqliteError is a result code of SQLite with its message.
type sqliteError struct {
	code int32 // extended result code
	text string
}

func (e *sqliteError) Error() string { return fmt.Sprintf("%s (SQLite code %d)", e.text, e.code) }

// primary is the result code without its extension.
func (e *sqliteError) primary() int32 { return e.code & 0xff }

// errMalformed says that the file is damaged, although SQLite did not notice.
var errMalformed = &sqliteError{code: lib.SQLITE_CORRUPT, text: "malformed content"}

// errLost is the error of statements after one that made SQLite end the transaction.
var errLost = &sqliteError{code: lib.SQLITE_ABORT_ROLLBACK, text: "the transaction has been rolled back"}

func isCode(err error, codes ...int32) bool {
	var se *sqliteError
	if !errors.As(err, &se) {
		return false
	}
	for _, c := range codes {
		if se.primary() == c {
			return true
		}
	}
	return false
}

// isFull reports whether err says that the disk has no room left.
func isFull(err error) bool {
	if err == nil {
		return false // without an allocation
	}
	var se *sqliteError
	return errors.As(err, &se) && (se.primary() == lib.SQLITE_FULL || se.code == lib.SQLITE_IOERR_SHMSIZE)
}

// isBusy reports whether err says that another program holds a lock.
func isBusy(err error) bool { return isCode(err, lib.SQLITE_BUSY, lib.SQLITE_LOCKED) }

// isDamage reports whether err says that the file is damaged or not a database.
func isDamage(err error) bool { return isCode(err, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB) }

// isOwnFault reports whether err is the fault of the change itself, so that others of its batch may still succeed.
// SQLite has then undone the statement and left the transaction open. A full disk or an I/O error fails the whole
// batch.
func isOwnFault(err error) bool {
	var de *emulator.Error
	return errors.As(err, &de) || isCode(err, lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH)
}

const textFull = "There is no space left on the disk of the message store. Receive messages, or free space there"

// domainError returns the error that completions get for a failure of the database.
func domainError(err error) error {
	var de *emulator.Error
	if errors.As(err, &de) {
		return err
	}
	switch {
	case isFull(err):
		return &emulator.Error{Code: emulator.CodeQuotaExceeded, Err: err, Text: textFull}
	case isBusy(err):
		return &emulator.Error{Code: emulator.CodeServerBusy, Text: "The message store is locked by another program", Err: err}
	case isCode(err, lib.SQLITE_TOOBIG):
		return &emulator.Error{Code: emulator.CodeMessageTooLarge, Text: "The message is too large to be stored", Err: err}
	default:
		return &emulator.Error{Code: emulator.CodeInternal, Text: "The message store could not be written", Err: err}
	}
}
