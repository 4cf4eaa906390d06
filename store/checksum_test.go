package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"minibus/emulator"
)

// checkDamaged reads lists and wants all bodies that were put except one, which the read must report as damaged.
func (s shelf) checkDamaged(t *testing.T, bad int64, lists ...[]int64) (damage emulator.Damage) {
	t.Helper()
	reads, err := s.read(lists...)
	if err != nil {
		t.Fatalf("read %v: %v", lists, err)
	}
	for _, r := range reads {
		for i, id := range r.IDs {
			d, told := r.Damaged[i]
			switch {
			case id == bad && (!told || d.Why == "" || r.Bodies[i] != nil):
				t.Fatalf("the damaged body of %v is %.20q, told: %+v", r.IDs, r.Bodies[i], r.Damaged)
			case id == bad:
				damage = d
			case told || !bytes.Equal(r.Bodies[i], s.bodies[id]):
				t.Fatalf("body %d of %v is %.20q, want %.20q; %+v", id, r.IDs, r.Bodies[i], s.bodies[id], r.Damaged)
			}
		}
	}
	return damage
}

var listsAround15 = [][]int64{{10, 11, 12, 13, 14, 15, 16, 17, 18}, {9, 12, 15, 18}, {15}, {15, 15, 14}}

// TestDamagedBodyIsToldAndHarmsNoOther tries all ways to read a body and several kinds of damage.
func TestDamagedBodyIsToldAndHarmsNoOther(t *testing.T) {
	for name, c := range map[string]struct{ sql, rest string }{
		"a part is missing": {"DELETE FROM body_part WHERE body=15 AND part=1", "onethree"},
		"a part is another": {"UPDATE body_part SET data='tWo' WHERE body=15 AND part=1", "onetWothree"},
		"it is shorter":     {"UPDATE body SET parts=0, data='onetwothre' WHERE id=15", "onetwothre"},
		"it is empty":       {"UPDATE body SET parts=0, data='' WHERE id=15", ""},
		"it is none":        {"UPDATE body SET parts=0, data=NULL WHERE id=15", ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachShelf(t, func(t *testing.T, s shelf) {
				s.putRange(1, 100)
				s.split(t, 15)
				s.check(t, listsAround15...)
				s.sql(t, c.sql)
				if d := s.checkDamaged(t, 15, listsAround15...); string(d.Rest) != c.rest {
					t.Errorf("left is %q, want %q", d.Rest, c.rest)
				}
			})
		})
	}
}

// TestDamagedPageIsToldAndHarmsNoOther damages the file itself: a bit of a body, of its overflow pages, and of the
// page of the tree.
func TestDamagedPageIsToldAndHarmsNoOther(t *testing.T) {
	needle := bytes.Repeat([]byte{15}, 100)
	for name, c := range map[string]struct {
		size   int
		damage func(file []byte)
	}{
		"a bit":                     {100, func(file []byte) { file[bytes.Index(file, needle)+50] ^= 4 }},
		"a bit of an overflow page": {50000, func(file []byte) { file[bytes.LastIndex(file, needle)] ^= 4 }},
		"the page": {50000, func(file []byte) {
			clear(file[bytes.Index(file, needle)/pageSize*pageSize:][:8])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			s := shelf{mustOpen(t, path, Options{}), map[int64][]byte{}}
			wait(t, s.Store, putQueue(1, "q"))
			for id := int64(1); id <= 18; id++ {
				s.put(id, c.size)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c.damage(file)
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			s.Store = mustOpen(t, path, Options{})
			defer s.Close()
			if name == "the page" { // other bodies share it
				s.checkDamaged(t, 15, []int64{1, 2, 15})
				return
			}
			s.checkDamaged(t, 15, listsAround15...)
		})
	}
}
