package store

import (
	"errors"
	"fmt"
	"hash/crc32"
)

// Bodies are stored with a checksum, because SQLite has none and would deliver a body with a flipped bit as if it
// were good.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) // processors compute it

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// damageError says what is wrong with a damaged body and keeps the rest of it.
type damageError struct {
	why  string
	rest []byte // what could be read; a copy
}

func (e *damageError) Error() string { return e.why }

// verify compares a body from the current row of st with the checksum in column 3.
func verify(st *stmt, data []byte) error {
	want := st.columnInt(3) // 0 for NULL: a body of an older version, or one of four thousand million others
	if got := int64(checksum(data)); got != want && want != 0 {
		return &damageError{fmt.Sprintf("its %d bytes have the checksum %08x, and were stored with %08x", len(data), got, want), data}
	}
	return nil
}

// isBodyDamage reports whether err concerns the one body that was being read and will not pass.
func isBodyDamage(err error) bool {
	var de *damageError
	return errors.As(err, &de) || isDamage(err)
}
