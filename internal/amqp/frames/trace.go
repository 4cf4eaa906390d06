package frames

import (
	"fmt"
	"strconv"
	"strings"

	"minibus/internal/amqp"
)

// Trace returns one readable line about a frame: direction, channel, performative and the fields that matter, with
// the standard's names. A nil performative is a heartbeat. Of message bodies and SASL responses it shows only the
// size, and of properties and filters only the keys, so that a trace can be passed on.
func Trace(dir string, channel uint16, p Performative, payload int) string {
	c := codec{mode: tracing, line: new(line)}
	fmt.Fprintf(c.line, "%s ch=%d ", dir, channel)
	if p == nil {
		return c.line.String() + "heartbeat"
	}
	c.line.WriteString(p.Name())
	p.fields(&c)
	if payload > 0 {
		c.line.show("payload", payload)
	}
	return c.line.String()
}

// A line is a trace under way.
type line struct{ strings.Builder }

func (l *line) show(name string, v any) {
	if name != "" {
		fmt.Fprintf(l, " %s=%v", name, v)
	}
}

func (l *line) quote(name, v string) { fmt.Fprintf(l, " %s=%q", name, v) }

// keys shows the keys of a map without its values.
func (l *line) keys(name string, m amqp.Map) {
	if len(m) == 0 || name == "" {
		return
	}
	names := make([]string, len(m))
	for i, p := range m {
		names[i], _ = amqp.AsString(p.Key)
	}
	fmt.Fprintf(l, " %s=%q", name, names)
}

// filters shows the names and types of filters, without their values.
func (l *line) filters(m amqp.Map) {
	if len(m) == 0 {
		return
	}
	all := make([]string, len(m))
	for i, p := range m {
		name, _ := amqp.AsString(p.Key)
		all[i] = strconv.Quote(name)
		d, _ := p.Value.(amqp.Described)
		switch kind := d.Descriptor.(type) {
		case amqp.Symbol:
			all[i] += " (" + plain(kind) + ")"
		case uint64:
			all[i] += fmt.Sprintf(" (%#x)", kind)
		}
	}
	l.show("filter", all)
}

func (l *line) symbols(name string, list []amqp.Symbol) {
	if len(list) == 0 {
		return
	}
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = plain(s)
	}
	l.show(name, all)
}

// plain returns a symbol as it is, or quoted if it is empty or has characters that could break the line or pass for
// another field.
func plain(s amqp.Symbol) string {
	quoted := strconv.Quote(string(s))
	if s == "" || quoted[1:len(quoted)-1] != string(s) || strings.ContainsAny(string(s), " =[]()") {
		return quoted
	}
	return string(s)
}
