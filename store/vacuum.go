package store

import "fmt"

const (
	pageSize = 8192

	// A file shrinks once more than half of it, and at least 32 MiB, is free; in steps of 512 KiB, while
	// there is nothing to commit.
	vacuumWorthPages = 4096
	vacuumStep       = 64

	// The log begins anew after so many pages, 16 MiB. The file itself is cut then, and clients wait for it.
	vacuumCut = 2048
)

// vacuum gives free pages of the file back to the disk.
type vacuum struct {
	w       *writer
	look    bool // check the free pages when idle
	running bool
	uncut   int // pages given back since the log was last told to begin anew

	some *stmt
}

func (v *vacuum) prepare() error {
	return prepareAll(v.w.conn, map[string]**stmt{fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumStep): &v.some})
}

// worth reports whether there are that many free pages, and more than half of the file is free.
func (v *vacuum) worth(pages int64) bool {
	v.w.conn.mu.Lock()
	defer v.w.conn.mu.Unlock()
	free, err := v.w.room.freePages.one()
	if err != nil || free < pages {
		return false
	}
	all, err := v.w.room.allPages.one()
	return err == nil && free > all/2
}

// step gives a few free pages back. Once started, vacuuming goes on until most free pages are gone, not only half.
func (v *vacuum) step() {
	v.w.conn.mu.Lock()
	err := v.w.s.checkLog(v.w.conn)
	if err == nil {
		err = v.giveBack()
	}
	free, freeErr := v.w.room.freePages.one()
	v.w.conn.mu.Unlock()
	if err != nil {
		v.w.s.log.Warn("giving space back failed", "error", err)
	}
	v.running = err == nil && freeErr == nil && free > vacuumStep
	if v.uncut += vacuumStep; v.uncut >= vacuumCut && v.w.log.durable {
		v.uncut = 0
		v.w.s.checkpointer.ripen()
	}
}

func (v *vacuum) giveBack() error {
	for {
		row, err := v.some.step()
		if err != nil {
			v.w.conn.rollback()
			return err
		}
		if !row {
			return nil
		}
	}
}
