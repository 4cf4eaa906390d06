package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// Bodies are stored with a checksum, because SQLite has none and would deliver a body with a flipped bit as if it
// were good.
var castagnoli = crc32.MakeTable(crc32.Castagnoli) // processors compute it

// checksum goes in steps: nothing can interrupt one, and the garbage collector, and all with it, would wait for that of a hundred mebibytes.
func checksum(data []byte) uint32 {
	sum := uint32(0)
	for step := range slices.Chunk(data, 1<<20) {
		sum = crc32.Update(sum, castagnoli, step)
	}
	return sum
}

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
