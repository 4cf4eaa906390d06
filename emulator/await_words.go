package emulator

import (
	"fmt"
	"strings"
	"time"
)

// String says what is awaited, for people.
func (a *Await) String() string {
	var parts []string
	for _, c := range a.Counts {
		parts = append(parts, c.String()+" in "+a.Entity)
	}
	if a.Idle {
		parts = append(parts, a.Entity+" without a message that is available, locked or to be forwarded")
	}
	if a.Events != nil {
		parts = append(parts, a.Events.words(max(a.Times, 1)))
	}
	if a.Message != nil {
		parts = append(parts, a.Message.words())
	}
	return strings.Join(parts, ", and ")
}

// String says what the condition is, for people: at least 2 active.
func (c CountCondition) String() string {
	switch {
	case c.Most < 0:
		return "at least " + c.Of.Words(c.Least)
	case c.Least == c.Most:
		return "exactly " + c.Of.Words(c.Least)
	case c.Least == 0:
		return "at most " + c.Of.Words(c.Most)
	}
	return fmt.Sprintf("%d to %s", c.Least, c.Of.Words(c.Most))
}

// words says which events are selected, for people.
func (f *EventFilter) words(times int) string {
	text := count(int64(times), "event")
	if len(f.Kinds) > 0 {
		kinds := make([]string, len(f.Kinds))
		for i, k := range f.Kinds {
			kinds[i] = k.String()
		}
		text += " " + strings.Join(kinds, " or ")
	}
	for _, x := range []struct{ word, value string }{{"in", f.Entity}, {"of the message", f.MessageID}, {"by", f.Client}} {
		if x.value != "" {
			text += " " + x.word + " " + x.value
		}
	}
	if f.Sequence != 0 {
		text += fmt.Sprintf(" of the number %d", f.Sequence)
	}
	return text
}

// words says which message is awaited, for people.
func (m *AwaitMessage) words() string {
	text := "a message in " + m.Sub.Join(m.Entity)
	for _, x := range []struct{ word, value string }{{"where", m.Select.SQL}, {"with", m.Select.Text}} {
		if x.value != "" {
			text += fmt.Sprintf(" %s %q", x.word, x.value)
		}
	}
	for _, x := range []struct {
		word  string
		value *string
	}{{"reason", m.Select.Reason}, {"session", m.Select.SessionID}} {
		if x.value != nil {
			text += fmt.Sprintf(" with the %s %q", x.word, *x.value)
		}
	}
	if m.Select.Before != 0 {
		text += " enqueued before " + time.UnixMilli(m.Select.Before).UTC().Format(time.RFC3339)
	}
	return text
}
