package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/mgmt/control/api"
)

// lookupPatience is how long one lookup looks through the messages of all entities.
const lookupPatience = 1500 * time.Millisecond

// lookup registers the search for a message.
func (h *handler) lookup() {
	register(h, "findMessage", "GET namespaces/{namespace}/lookup", tagged("history"), h.findMessage, 200, 400, 404)
}

func (h *handler) findMessage(ctx context.Context, in *struct {
	InNamespace
	Text  string `query:"text" required:"true" minLength:"1" maxLength:"256" doc:"An id, or ENTITY#NUMBER"`
	Limit int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"The most messages"`
}) (*struct{ Body api.Lookup }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	done, err := h.take(ctx, browseShare)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, lookupPatience)
	defer cancel()
	s := messageSearch{ns: ns, text: in.Text, ids: spellings(in.Text), limit: in.Limit, found: []api.Found{}}
	s.numbered()
	s.remembered()
	complete, err := s.held(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.found, func(x, y api.Found) int {
		return cmp.Or(slices.Index(foundBy, x.By)-slices.Index(foundBy, y.By), y.Time.Compare(x.Time))
	})
	return &struct{ Body api.Lookup }{api.Lookup{Items: s.found, Complete: complete}}, nil
}

// What a text can be of a message, in the order in which answers have them.
const (
	byNumber        = "sequenceNumber"
	byMessageID     = "messageId"
	byCorrelationID = "correlationId"
)

var foundBy = []string{byNumber, byMessageID, byCorrelationID}

// messageSearch looks for messages by a text. Each is found once, where it is or was last.
type messageSearch struct {
	ns    *emulator.Namespace
	text  string
	ids   []string // as which the text is looked for
	limit int
	found []api.Found
}

const uuidLength = 36 // of the usual form; uuid.Parse reads others too

// spellings returns the ids that a text may stand for: a UUID has small letters in one log and capitals in another.
func spellings(text string) []string {
	if _, err := uuid.Parse(text); err != nil || len(text) != uuidLength {
		return []string{text}
	}
	all := []string{text, strings.ToLower(text), strings.ToUpper(text)}
	slices.Sort(all)
	return slices.Compact(all)
}

// numbered finds the message of ENTITY#NUMBER. The part Subscriptions may be missing.
func (s *messageSearch) numbered() {
	i := strings.LastIndexByte(s.text, '#')
	number, err := strconv.ParseInt(s.text[i+1:], 10, 64)
	if i < 1 || err != nil || number < 1 {
		return
	}
	e, sub, err := s.ns.EntityAt(s.text[:i])
	if slash := strings.LastIndexByte(s.text[:i], '/'); err != nil && slash > 0 {
		e, sub, err = s.ns.EntityAt(s.text[:slash] + subscriptions + s.text[slash+1:i])
	}
	if err != nil {
		return
	}
	s.lives(s.ns.History().Life(emulator.EventFilter{Entity: e.Path(), Sequence: number}), byNumber)
	if len(s.found) > 0 {
		return
	}
	f := api.Found{Entity: e.Path(), SubQueue: sub.Name(), SequenceNumber: number, By: byNumber}
	if m := s.whereNow(&f, e, sub); m != nil {
		f.Time = instant(m.Enqueued)
		s.found = append(s.found, f)
	}
}

// whereNow notes in which sub-queue a message is, if the entity still has it.
func (messageSearch) whereNow(f *api.Found, e *emulator.Entity, last emulator.SubQueue) *emulator.MessageView {
	for _, sub := range []emulator.SubQueue{last, emulator.DeadLetter, emulator.TransferDeadLetter} {
		if m, err := e.Messages().Get(sub, f.SequenceNumber); err == nil {
			f.SubQueue, f.Held = sub.Name(), true
			return m
		}
	}
	return nil
}

// remembered finds messages that came with the id.
func (s *messageSearch) remembered() {
	for _, id := range s.ids {
		s.lives(s.ns.History().Life(emulator.EventFilter{MessageID: id}), byMessageID)
	}
}

// lives adds each message that events tell of, with its last event. All copies of a message are one.
func (s *messageSearch) lives(events []emulator.Event, by string) {
	of := make(map[int64]int) // places in found, by the body
	first := len(s.found)
	for _, e := range events {
		if e.Body == 0 || e.Sequence == 0 {
			continue
		}
		i, ok := of[e.Body]
		if !ok {
			if len(s.found) == s.limit {
				continue
			}
			i = len(s.found)
			of[e.Body] = i
			s.found = append(s.found, api.Found{By: by})
		}
		f := &s.found[i]
		f.Entity, f.SubQueue = e.Entity, e.Sub.Name()
		f.SequenceNumber = cmp.Or(e.NextSequence, e.Sequence)
		f.MessageID = cmp.Or(e.MessageID, f.MessageID)
		f.Last, f.Time = kindName(e.Kind), instant(e.At)
	}
	for i := first; i < len(s.found); i++ {
		f := &s.found[i]
		if e, err := s.ns.Entity(f.Entity); err == nil {
			s.whereNow(f, e, emulator.Main)
		}
	}
}

// held looks through the messages that entities have, and reports whether it saw all of them before ctx ended.
func (s *messageSearch) held(ctx context.Context) (complete bool, err error) {
	var quoted []string
	for _, id := range s.ids {
		quoted = append(quoted, "'"+strings.ReplaceAll(id, "'", "''")+"'")
	}
	list := strings.Join(quoted, ", ")
	want := emulator.Selection{SQL: fmt.Sprintf("sys.MessageId IN (%s) OR sys.CorrelationId IN (%[1]s)", list)}
	for _, p := range entitiesOf(s.ns, func(emulator.EntityKind, string) bool { return true }) {
		c := p.Counts()
		for sub, n := range map[emulator.SubQueue]int64{
			emulator.Main:               c.Active + c.Scheduled + c.Transfer,
			emulator.DeadLetter:         c.DeadLetter,
			emulator.TransferDeadLetter: c.TransferDeadLetter,
		} {
			for b := (emulator.Browse{Sub: sub, Select: want, Max: s.limit, Newest: true}); n > 0; {
				if ctx.Err() != nil || len(s.found) >= s.limit {
					return false, nil
				}
				end, err := p.Messages().Browse(b, func(m *emulator.MessageView) { s.add(p.Entity, sub, m) })
				if err != nil {
					return false, err
				}
				if !end.More {
					break
				}
				b.From = &end.Next
			}
		}
	}
	return true, nil
}

// add adds a message that an entity has and that has the id.
func (s *messageSearch) add(e *emulator.Entity, sub emulator.SubQueue, m *emulator.MessageView) {
	f := api.Found{Entity: e.Path(), SubQueue: sub.Name(), SequenceNumber: m.Sequence, By: byCorrelationID, Held: true,
		Time: instant(m.Enqueued)}
	known := slices.ContainsFunc(s.found, func(o api.Found) bool {
		return o.Entity == f.Entity && o.SubQueue == f.SubQueue && o.SequenceNumber == f.SequenceNumber
	})
	if known || len(s.found) == s.limit {
		return
	}
	f.MessageID, _ = shownSeen(m, 0).MessageID.(string)
	if slices.Contains(s.ids, f.MessageID) {
		f.By = byMessageID
	}
	s.found = append(s.found, f)
}
