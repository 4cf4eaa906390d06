package storetest

import (
	"testing"

	"minibus/emulator"
)

// Journal has the methods that the suite needs of the journal under test.
type Journal interface {
	emulator.Journal
	Close() error
}

// Run tests that a journal keeps the contract of [emulator.Journal]. open makes an empty one; reopen simulates a
// restart: it closes the journal and returns one with the same content. A journal that loses everything when it is
// closed returns itself from reopen instead, and is then loaded once more. Run closes all journals at the end.
func Run(t *testing.T, open func(t *testing.T) (j Journal, reopen func() Journal)) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			j, reopen := open(t)
			h := &harness{t: t, Journal: j, reopen: reopen, next: j.NextRow()}
			defer func() { _ = h.Close() }() // some tests close it themselves
			c.test(t, h)
		})
	}
}

// cases are the tests of the suite.
var cases = []struct {
	name string
	test func(t *testing.T, h *harness)
}{
	{"AllFieldsSurvive_DEC21", testAllFields},
	{"OddTexts", testOddTexts},
	{"UpdateWritesTheChangeableColumns", testUpdate},
	{"DeleteDropsTheBodyOnlyIfAsked", testDelete},
	{"SEQ4_CounterDoesNotFollowFromRows", testCounter},
	{"SEQ4_OnlyDrawnNumbersCount", testCounterDrawn},
	{"SEQ6_CounterGoesBackWhenToldSo", testCounterRollsOver},
	{"SEQ3_PARTCountersOfPartitions", testPartitions},
	{"FailedChangesDrawNoNumber", testCounterOfFailed},
	{"RowsAreNeverReused", testNextRow},
	{"PROP10_SecretIsMadeOnce", testSecret},
	{"CreatedIsKept", testCreated},
	{"EntityIsReplacedById", testPutEntity},
	{"DEL3_DeletedEntityTakesItsMessages", testDeleteEntity},
	{"DeletedEntityLeavesSharedBodies", testDeleteShared},
	{"DEL3_DUP16_DeletedEntityTakesEverything", testDeleteEverything},
	{"FWD_UpdateMovesToAnotherEntity", testMove},
	{"FWD_NothingLeavesADeletedEntity", testMoveOutOfDeleted},
	{"FWD_MovedMessageGoesWithItsNewEntity", testMoveThenDelete},
	{"SESS22_SessionStates", testSessions},
	{"SESS22_SessionStatesOfAnySize", testSessionSizes},
	{"DUP16_KeysSurvive", testDuplicates},
	{"DUP16_KeysArePruned", testPrune},
	{"DUP16_ManyKeysArePruned", testPruneDeep},
	{"DUP12_FailedChangesRememberNothing", testDuplicatesOfFailed},
	{"ChangesAreAtomic", testAtomic},
	{"TXN_ChangesOfSeveralEntitiesAreAtomic", testAtomicEntities},
	{"AChangeAtFaultFailsAlone", testOwnFault},
	{"DUP2_AChangeFailsWithOneThatItNeeds", testNeeds},
	{"UnknownAndDeletedEntitiesAreNotFound", testNotFound},
	{"CompletionsRunInOrderOfAppend", testOrder},
	{"FlushComesAfterWhatWasAppended", testFlush},
	{"BodiesOfAnySize", testBodies},
	{"CopiesAreMessagesOfTheirOwn", testCopies},
	{"DEL3_CopiesGoWithTheirEntities", testCopiesOfDeleted},
	{"CopiesAreStoredTogether", testCopiesAreAtomic},
	{"ChangesAfterCloseFail", testClose},
}

// harness is a journal with short ways to use it.
type harness struct {
	Journal
	t      *testing.T
	reopen func() Journal
	next   int64
}

// content is the result of a Load.
type content struct {
	entities   map[int64]emulator.EntityRecord
	rows       map[int64]emulator.MessageRecord
	sessions   map[sessionKey]memorySession
	duplicates map[duplicateKey]int64
	newest     map[int64]int64 // instant of the youngest key by entity
	stage      int             // of the last call: see the stages
	t          *testing.T
}

// The stages of a Load.
const (
	loadsEntities = iota
	loadsMessages
	loadsTheRest
)

func newContent(t *testing.T) *content {
	return &content{
		entities: map[int64]emulator.EntityRecord{}, rows: map[int64]emulator.MessageRecord{},
		sessions: map[sessionKey]memorySession{}, duplicates: map[duplicateKey]int64{}, newest: map[int64]int64{}, t: t,
	}
}

func (c *content) enter(stage int) {
	if stage < c.stage {
		c.t.Errorf("stage %d of the load came after stage %d", stage, c.stage)
	}
	c.stage = stage
}

func (c *content) LoadEntity(e emulator.EntityRecord) error {
	c.enter(loadsEntities)
	c.entities[e.ID] = e
	return nil
}

func (c *content) LoadMessage(r *emulator.MessageRecord) error {
	c.enter(loadsMessages)
	c.rows[r.Row] = *r
	return nil
}

func (c *content) LoadSession(entity int64, id string, state []byte, updated int64) error {
	c.enter(loadsTheRest)
	c.sessions[sessionKey{entity, id}] = memorySession{state, updated}
	return nil
}

func (c *content) LoadDuplicate(entity int64, key [16]byte, at int64) error {
	c.enter(loadsTheRest)
	if at < c.newest[entity] {
		c.t.Errorf("a key of %d came after one of %d", at, c.newest[entity])
	}
	c.newest[entity] = at
	c.duplicates[duplicateKey{entity, key}] = at
	return nil
}

// last returns the last number drawn from a partition, -1 if none was.
func (c *content) last(entity int64, partition uint8) int64 {
	for _, l := range c.entities[entity].Last {
		if l.Partition == partition {
			return l.Seq
		}
	}
	return -1
}

// restart reopens the journal and loads it.
func (h *harness) restart() *content {
	h.t.Helper()
	h.flush()
	h.Journal = h.reopen()
	c := newContent(h.t)
	if err := h.Load(c); err != nil {
		h.t.Fatalf("load: %v", err)
	}
	return c
}

// begin appends a change and returns the channel of its result.
func (h *harness) begin(ops ...emulator.Op) <-chan error {
	res := make(chan error, 2)
	h.Append(&emulator.Change{Ops: ops, Done: emulator.CompletionFunc(func(err error) { res <- err })})
	return res
}

func (h *harness) try(ops ...emulator.Op) error { return <-h.begin(ops...) }

func (h *harness) must(ops ...emulator.Op) {
	h.t.Helper()
	if err := h.try(ops...); err != nil {
		h.t.Fatalf("commit: %v", err)
	}
}

func (h *harness) flush() {
	done := make(chan struct{})
	h.Flush(emulator.CompletionFunc(func(error) { close(done) }))
	<-done
}

func (h *harness) id() int64 {
	h.next++
	return h.next - 1
}

// queue stores a queue and returns its id.
func (h *harness) queue(path string) int64 {
	h.t.Helper()
	id := h.id()
	h.must(putQueue(id, path))
	return id
}

func putQueue(id int64, path string) emulator.Op {
	return emulator.Op{Kind: emulator.OpPutEntity, Entity: emulator.EntityRecord{
		ID: id, Kind: emulator.KindQueue, Path: path, Options: []byte(`{"maxDeliveryCount":3}`),
	}}
}

func dropQueue(id int64) emulator.Op {
	return emulator.Op{Kind: emulator.OpDeleteEntity, Entity: emulator.EntityRecord{ID: id}}
}

// message makes an insert with fresh ids and a number just drawn.
func (h *harness) message(entity, seq int64, data string) emulator.Op {
	row := h.id()
	return emulator.Op{Kind: emulator.OpInsert, DrawsNumber: true, Data: []byte(data), Record: emulator.MessageRecord{
		Row: row, Entity: entity, Seq: seq, Body: h.id(), Enqueued: 1_700_000_000_123, Size: int64(len(data)),
	}}
}

// state reads the state of a session.
func (h *harness) state(entity int64, id string) []byte {
	h.t.Helper()
	res := make(chan error, 1)
	r := &emulator.BodyRead{State: &emulator.StateKey{Entity: entity, SessionID: id}}
	r.Done = emulator.CompletionFunc(func(err error) { res <- err })
	h.ReadBodies(r)
	if err := <-res; err != nil || len(r.Bodies) != 1 {
		h.t.Fatalf("read state: %d answers, %v", len(r.Bodies), err)
	}
	return r.Bodies[0]
}

func (h *harness) bodies(ids ...int64) [][]byte {
	h.t.Helper()
	res := make(chan error, 1)
	r := &emulator.BodyRead{IDs: ids, Bodies: make([][]byte, len(ids))}
	r.Done = emulator.CompletionFunc(func(err error) { res <- err })
	h.ReadBodies(r)
	if err := <-res; err != nil {
		h.t.Fatalf("read bodies: %v", err)
	}
	return r.Bodies
}
