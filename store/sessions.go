package store

import (
	"fmt"

	"minibus/emulator"
)

// setSession stores or removes the state of a session (SESS-22).
func (w *writer) setSession(op *emulator.Op) error {
	e, err := w.live(op.Record.Entity)
	if err != nil {
		return err
	}
	st := w.st.putSession
	if op.Data == nil {
		st = w.st.removeSession
	}
	if err := bindSession(st, op); err != nil {
		return err
	}
	err = st.exec()
	if len(op.Data) > maxInline {
		st.shrink(4)
	}
	if err != nil {
		return fmt.Errorf("write the state of session %q of %s: %w", op.Record.SessionID, e.path, err)
	}
	return nil
}

func bindSession(st *stmt, op *emulator.Op) error {
	st.bindInt(1, op.Record.Entity)
	if err := st.bindText(2, op.Record.SessionID); err != nil || op.Data == nil {
		return err
	}
	st.bindInt(3, op.Record.Enqueued)
	return st.bindBlob(4, op.Data)
}
