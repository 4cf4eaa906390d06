package emulator

import (
	"fmt"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// draft is the copy of a message that a rule's action changes (TOP-5, TOP-6). It implements [filter.Target]. What comes of
// it are overlays: the body and whatever else the sender sent is never written again.
type draft struct {
	base   *view
	users  []userProperty // all of them, in the order of the message
	system map[filter.SystemProperty]filter.Value
	gone   bool // one was removed: an overlay can't say that, it has to replace them all
}

type userProperty struct {
	name    string
	encoded []byte
	changed bool
	ticks   int64 // of an instant that was set, for later statements: a timestamp has milliseconds; 0: none
}

func newDraft(base *view) *draft {
	d := &draft{base: base}
	for e := base.m.UserProperties(); e.Next(); {
		d.users = append(d.users, userProperty{name: string(e.Key()), encoded: e.Encoded()})
	}
	return d
}

// find returns the index of a property, looked up as in [filter.Message]; -1 if there is none.
func (d *draft) find(name string) int {
	folded := -1
	for i := range d.users {
		switch filter.MatchName(d.users[i].name, name) {
		case filter.ExactMatch:
			return i
		case filter.FoldedMatch:
			if folded < 0 {
				folded = i
			}
		}
	}
	return folded
}

// User implements [filter.Message].
func (d *draft) User(name string) (filter.Value, bool) {
	i := d.find(name)
	if i < 0 {
		return filter.Value{}, false
	}
	if ticks := d.users[i].ticks; ticks != 0 {
		return filter.DateTimeTicks(ticks), true
	}
	return filterValue(message.DecodeScalar(d.users[i].encoded)), true
}

// System implements [filter.Message].
func (d *draft) System(p filter.SystemProperty) filter.Value {
	if v, ok := d.system[p]; ok {
		return v
	}
	return d.base.System(p)
}

// SetUser implements [filter.Target].
func (d *draft) SetUser(name string, v filter.Value) error {
	i := d.find(name)
	if i < 0 {
		i = len(d.users)
		d.users = append(d.users, userProperty{name: name})
	}
	p := &d.users[i]
	p.encoded, p.changed, p.ticks = scalarOf(v).Append(nil), true, 0
	if v.Kind() == filter.KindDateTime {
		p.ticks = v.Ticks()
	}
	return nil
}

// RemoveUser implements [filter.Target].
func (d *draft) RemoveUser(name string) {
	if i := d.find(name); i >= 0 {
		d.users = append(d.users[:i], d.users[i+1:]...)
		d.gone = true
	}
}

// SetSystem implements [filter.Target]. ForcePersistence can be set but has no effect.
func (d *draft) SetSystem(p filter.SystemProperty, v filter.Value) error {
	if p == filter.TimeToLive && v.Kind() == filter.KindTimeSpan && v.Ticks() <= 0 {
		return fmt.Errorf("the TimeToLive must be greater than zero")
	}
	if d.system == nil {
		d.system = make(map[filter.SystemProperty]filter.Value)
	}
	d.system[p] = v
	return nil
}

// overlays returns what the action changed: application properties and broker properties.
func (d *draft) overlays() (users, system []byte) {
	var u, s message.Overlay
	for _, p := range d.users {
		if p.changed || d.gone {
			u.Add(p.name, p.encoded)
		}
	}
	for p := range filter.SystemProperty(len(systemKeys)) {
		if v, ok := d.system[p]; ok && systemKeys[p] != "" {
			s.Add(systemKeys[p], systemValue(p, v).Append(nil))
		}
	}
	if d.gone {
		s.Add(message.SystemReplace, message.Scalar{Type: message.TypeBool, Bits: 1}.Append(nil))
	}
	return u.Bytes(), s.Bytes()
}

// systemKeys are the names of the settable properties in an overlay, by property.
var systemKeys = [...]string{
	filter.ContentType: message.SystemContentType, filter.CorrelationID: message.SystemCorrelationID,
	filter.Label: message.SystemLabel, filter.MessageID: message.SystemMessageID,
	filter.PartitionKey: message.SystemPartitionKey, filter.ReplyTo: message.SystemReplyTo,
	filter.ReplyToSessionID: message.SystemReplyToSessionID, filter.ScheduledEnqueueTimeUtc: message.SystemScheduled,
	filter.SessionID: message.SystemSessionID, filter.TimeToLive: message.SystemTimeToLive,
	filter.To: message.SystemTo, filter.ViaPartitionKey: message.SystemViaPartitionKey,
}

func systemValue(p filter.SystemProperty, v filter.Value) message.Scalar {
	switch {
	case p == filter.TimeToLive && v.Kind() == filter.KindTimeSpan: // above zero
		return message.Scalar{Type: message.TypeUlong, Bits: uint64((v.Ticks()-1)/dotnet.Millisecond + 1)}
	case p == filter.ScheduledEnqueueTimeUtc && v.Kind() == filter.KindDateTime && v.Ticks()%dotnet.Millisecond != 0:
		return message.Scalar{Type: message.TypeTimestamp, Bits: uint64(v.UnixMilli() + 1)} // never before it is due (TIME-3)
	}
	return scalarOf(v)
}
