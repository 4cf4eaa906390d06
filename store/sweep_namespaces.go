package store

import (
	"fmt"
	"strings"

	"minibus/emulator"
)

// clear removes what is in deleted namespaces. It lies together in each table, so nothing has to be searched.
func (sw *sweeper) clear(dead ...*space) {
	if sw.failed {
		sw.resume()
		return
	}
	sw.begin()
	sw.spaces = append(sw.spaces, dead...)
}

func (sw *sweeper) prepareRanges() error {
	for _, t := range []struct{ table, key, of string }{
		{"message", "row", "row"},
		{"publication", "row", "row"},
		{"body", "id", "id"},
		{"body_part", "id", "body"},
		{"session", "row", "entity"},
		{"history", "(entity, at, keys)", "entity"},
		{"counter", "(entity, partition)", "entity"},
		{"entity", "id", "id"},
	} {
		columns := strings.Trim(t.key, "()")
		st, err := sw.w.conn.prepare(fmt.Sprintf("DELETE FROM %s WHERE %s IN (SELECT %s FROM %[1]s WHERE %[4]s BETWEEN ? AND ? LIMIT ?)",
			t.table, t.key, columns, t.of))
		if err != nil {
			return err
		}
		sw.ranges = append(sw.ranges, st)
	}
	return nil
}

// clearSome removes some of what is in deleted namespaces, and reports whether there was anything.
func (sw *sweeper) clearSome() bool {
	if len(sw.spaces) == 0 {
		return false
	}
	sw.try(sw.clearOldest)
	return true
}

// clearOldest removes some rows of the namespaces that have waited longest, and those namespaces that are empty.
func (sw *sweeper) clearOldest() error {
	empty := 0
	err := sw.aside(func() (err error) {
		empty, err = sw.clearRows()
		return err
	})
	if err != nil {
		return err
	}
	for _, sp := range sw.spaces[:empty] {
		sw.w.namespaces.forget(sp)
	}
	sw.spaces = sw.spaces[empty:]
	sw.w.vacuum.look = true
	return nil
}

// clearRows removes up to that many rows, and returns of how many namespaces they were the last.
func (sw *sweeper) clearRows() (empty int, err error) {
	left := int64(clearRows)
	for _, sp := range sw.spaces {
		first, last := emulator.RowsOf(sp.number)
		for _, st := range sw.ranges {
			if err := st.run(first, last, left); err != nil {
				return 0, fmt.Errorf("remove the namespace %s: %w", sp.record.Name, err)
			}
			if left -= int64(sw.w.conn.changes()); left <= 0 {
				return empty, nil
			}
		}
		if err := sw.burySpace.run(sp.number); err != nil {
			return 0, fmt.Errorf("remove the namespace %s: %w", sp.record.Name, err)
		}
		empty++
	}
	return empty, nil
}
