package store

import (
	"fmt"
	"math/bits"
	"strconv"

	"minibus/emulator"
)

// loadCopies loads the messages of which several share a row.
func (ld *loading) loadCopies() error {
	var r emulator.MessageRecord
	next := ld.first
	bind := func() error {
		ld.published.bindInts(next, ld.end, loadCopies)
		return nil
	}
	return ld.pages(ld.published, loadCopies, bind, func(st *stmt) error {
		row, there := st.columnInt(0), uint64(st.columnInt(1))
		r.Body, r.Enqueued, r.TTL, r.Size = st.columnInt(2), st.columnInt(3), st.columnInt(4), st.columnInt(5)
		r.EnqueuedSeq, r.Hops = st.columnInt(6), uint8(st.columnInt(7))
		r.HasSession = !st.columnIsNull(8)
		r.SessionID, r.MessageID = st.columnString(8, r.SessionID), st.columnString(9, "")
		next = row + 1
		if there == 0 {
			ld.gone = append(ld.gone, goner{row: row, body: r.Body, publication: row})
			return nil
		}
		return eachCopy(st.columnView(10), there, row, func(i int, entity, seq int64) error {
			if r.Row, r.Entity, r.Seq = row+int64(i), ld.first-1+entity, seq; ld.dead[r.Entity] {
				return nil
			}
			return ld.l.LoadMessage(&r)
		})
	})
}

// eachCopy calls f for each copy that is there, with its place. text is the column copies of the publication with that row, whose entities are without the
// number of the namespace.
func eachCopy(text []byte, there uint64, row int64, f func(i int, entity, seq int64) error) error {
	var numbers []int64
	for at := 0; at < len(text); at++ {
		from := at
		for at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] == '-') {
			at++
		}
		if from == at {
			continue
		}
		n, err := strconv.ParseInt(string(text[from:at]), 10, 64)
		if err != nil {
			return fmt.Errorf("the publication with row %d has copies that are not numbers: %w", row, errMalformed)
		}
		numbers = append(numbers, n)
	}
	if len(numbers)%2 != 0 || len(numbers)/2 < bits.Len64(there) {
		return fmt.Errorf("the publication with row %d has fewer copies than bits: %w", row, errMalformed)
	}
	for ; there != 0; there &= there - 1 {
		i := bits.TrailingZeros64(there)
		if err := f(i, numbers[2*i], numbers[2*i+1]); err != nil {
			return err
		}
	}
	return nil
}
