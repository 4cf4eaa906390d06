package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver, to compare with

	"minibus/emulator"
)

// These benchmarks measure SQLite without the store: the same rows, pages and checkpoints, messages of 1 KiB, from
// one goroutine. Compare BenchmarkInsert/file/flight=200 with batches of 200, and flight=1 with one message in a
// transaction.
const bareBatch = 200

// BenchmarkBareInsert goes through this package's own statements.
func BenchmarkBareInsert(b *testing.B) {
	for _, batch := range []int{1, bareBatch} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { benchBareInsert(b, batch) })
	}
}

func benchBareInsert(b *testing.B, batch int) {
	s := benchStore(b, false)
	data := make([]byte, 1024)
	onWriter(s, func() {
		w := s.writer
		b.ResetTimer()
		for n := 0; n < b.N; {
			if err := w.tx.begin.exec(); err != nil {
				b.Fatal(err)
			}
			for range batch {
				op := insertChange(int64(n), data).Ops[0]
				bareInsert(b, w, &op)
				n++
			}
			if err := w.entities.putCount.run(1, 1, 0, int64(n)); err != nil {
				b.Fatal(err)
			}
			if err := w.tx.commit.exec(); err != nil {
				b.Fatal(err)
			}
			w.wal.checkpointIfDue()
		}
		b.StopTimer()
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

func bareInsert(b *testing.B, w *writer, op *emulator.Op) {
	if err := w.messages.storeBody(w.namespaces.byNumber[1], op.Record.Body, op.Data); err != nil {
		b.Fatal(err)
	}
	st, r := w.messages.insertRow, &op.Record
	st.bindInt(16, r.Body)
	st.bindInt(17, r.Size)
	st.bindInt(18, 1)
	st.bindNull(19)
	bindMessage(st, r)
	st.bindTextOrNull(20, r.MessageID)
	if err := st.exec(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkBareLarge writes a body of 100 MiB as the store does: parts of 1 MiB, a transaction for each.
func BenchmarkBareLarge(b *testing.B) {
	const size = 100 << 20
	s := benchStore(b, false)
	data := make([]byte, size)
	b.SetBytes(size)
	onWriter(s, func() {
		b.ResetTimer()
		for n := range int64(b.N) {
			c := &emulator.Change{Ops: []emulator.Op{insertOp(n+1, n+1, data)}}
			if err := s.writer.writeParts(c); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
	})
}

// BenchmarkDriverInsert goes through database/sql, with statements prepared once.
func BenchmarkDriverInsert(b *testing.B) {
	db := driverDatabase(b)
	ctx := context.Background()
	row, err1 := db.PrepareContext(ctx, "INSERT INTO message VALUES(?,1,?,?,?,?,?,?,?,?,?,?,?,0,?,?,?,NULL,?,NULL)")
	body, err2 := db.PrepareContext(ctx, "INSERT INTO body VALUES(?,1,0,?,NULL)")
	if err := errors.Join(err1, err2); err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 1024)
	b.ResetTimer()
	for n := int64(0); n < int64(b.N); n += bareBatch {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			b.Fatal(err)
		}
		txRow, txBody := tx.StmtContext(ctx, row), tx.StmtContext(ctx, body)
		for i := range int64(bareBatch) {
			r := insertChange(n+i, data).Ops[0].Record
			_, err1 := txBody.ExecContext(ctx, r.Body, data)
			_, err2 := txRow.ExecContext(ctx, r.Row, r.Entity, 0, r.Seq, 0, 0, r.Body, r.Enqueued, 0, 0, r.Size, 0,
				nil, r.MessageID, nil, nil)
			if err := errors.Join(err1, err2); err != nil {
				b.Fatal(err)
			}
		}
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO counter VALUES(1,0,1,?)", n)
		if err := errors.Join(err, tx.Commit()); err != nil {
			b.Fatal(err)
		}
		if n%(8*bareBatch) == 0 {
			if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

// driverDatabase makes a database of the store and opens it with the driver, with the store's settings.
func driverDatabase(b *testing.B) *sql.DB {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.db")
	s := mustOpen(b, path, Options{})
	wait(b, s, putQueue(1, "q"))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	const pragmas = "?_pragma=synchronous(1)&_pragma=wal_autocheckpoint(0)&_pragma=cache_size(-16384)"
	db, err := sql.Open("sqlite", "file:"+path+pragmas)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}
