package atom

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
	"unicode/utf8"

	"minibus/emulator"
)

func wrapped(kind, children string) []byte {
	return []byte(`<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><` + kind + ` xmlns="` + nsServiceBus +
		`" xmlns:i="` + nsInstance + `">` + children + `</` + kind + `></content></entry>`)
}

// FuzzDescriptions reads any bytes as a description of each kind. An accepted one must come back as well-formed XML that is
// accepted again with the same meaning.
func FuzzDescriptions(f *testing.F) {
	for _, s := range [][]byte{
		wrapped("QueueDescription", "<LockDuration>PT1M</LockDuration><MaxSizeInMegabytes>4096</MaxSizeInMegabytes><EnablePartitioning>true</EnablePartitioning>"+
			"<ForwardTo>sb://h/q</ForwardTo><UserMetadata>a &amp; b</UserMetadata>"),
		wrapped("QueueDescription", `<AuthorizationRules><AuthorizationRule i:type="SharedAccessAuthorizationRule"><Rights><AccessRights>Send</AccessRights></Rights>`+
			`<KeyName>k</KeyName><PrimaryKey>a</PrimaryKey></AuthorizationRule></AuthorizationRules>`),
		wrapped("TopicDescription", "<DefaultMessageTimeToLive>P10675199DT2H48M5.477S</DefaultMessageTimeToLive><SupportOrdering>0</SupportOrdering>"),
		wrapped("SubscriptionDescription", `<DefaultRuleDescription><Filter i:type="SqlFilter"><SqlExpression>a=1</SqlExpression></Filter></DefaultRuleDescription>`),
		wrapped("RuleDescription", `<Filter i:type="CorrelationFilter"><Label>x</Label><Properties><KeyValueOfstringanyType><Key>k</Key>`+
			`<Value xmlns:a="http://www.w3.org/2001/XMLSchema" i:type="a:double">1.5</Value></KeyValueOfstringanyType></Properties></Filter><Name>r</Name>`),
		[]byte("\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8'?><entry><!-- --><content><a/></content></entry>"),
		[]byte("\xFE\xFF\x00<\x00a\x00/\x00>"), []byte("<?xml version='1.0' encoding='iso-8859-1'?><a>\xff</a>"),
		[]byte("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := Parse(body, "")
		if err != nil {
			checkError(t, err)
			return
		}
		d, err := root.Description()
		if err != nil {
			checkError(t, err)
			return
		}
		for _, l := range []emulator.Profile{emulator.ProfileRelaxed, emulator.ProfileStandard, emulator.ProfilePremium, emulator.ProfileEmulator} {
			for _, c := range contents(t, d, l) {
				checkOutput(t, c, l)
			}
		}
	})
}

// contents reads a description as each kind.
func contents(t *testing.T, d *Element, l emulator.Profile) []Content {
	var list []Content
	add := func(err error, c Content) {
		if err != nil {
			checkError(t, err)
			return
		}
		list = append(list, c)
	}
	if q, err := ParseQueue(d, l); err != nil {
		add(err, nil)
	} else {
		o, err := q.Create()
		add(err, Queue{Options: o})
	}
	if x, err := ParseTopic(d, l); err != nil {
		add(err, nil)
	} else {
		o, err := x.Create()
		add(err, Topic{Options: o})
	}
	if s, err := ParseSubscription(d, l); err != nil {
		add(err, nil)
	} else {
		o, err := s.Create(nameFor(s))
		add(err, Subscription{Options: o.Queue, Client: o.Client, FilterErrors: s.FilterErrors})
	}
	r, err := ParseRule(d)
	if err != nil {
		add(err, nil)
	} else {
		add(nil, *r)
	}
	return list
}

// nameFor returns a name that a subscription can have.
func nameFor(s *SubscriptionDescription) string {
	switch {
	case s.client != nil:
		return "s$" + s.client.ClientID + "$D"
	case value(s.affine):
		return "s$$D"
	}
	return "s"
}

// checkError wants an *Error, with a text that XML can contain.
func checkError(t *testing.T, err error) {
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v", err, err)
	}
	wellFormed(t, Problem(400, err.Error()))
}

// checkOutput writes a description, reads it and writes it again.
func checkOutput(t *testing.T, c Content, l emulator.Profile) {
	v := View{Profile: l}
	first := Entry{Content: c}.Encode(v)
	wellFormed(t, first)
	root, err := Parse(first, "")
	if err != nil {
		t.Fatalf("what we wrote is not read: %v\n%s", err, first)
	}
	d, err := root.Description()
	if err != nil {
		t.Fatalf("what we wrote has no description: %v", err)
	}
	again, err := readAs(d, c, l)
	if err != nil {
		t.Fatalf("what we wrote is refused: %v\n%s", err, first)
	}
	if second := (Entry{Content: again}).Encode(v); !bytes.Equal(first, second) {
		t.Fatalf("%s\nbecame\n%s", first, second)
	}
}

func readAs(d *Element, c Content, l emulator.Profile) (Content, error) {
	switch c.(type) {
	case Queue:
		q, err := ParseQueue(d, l)
		if err != nil {
			return nil, err
		}
		o, err := q.Create()
		return Queue{Options: o}, err
	case Topic:
		x, err := ParseTopic(d, l)
		if err != nil {
			return nil, err
		}
		o, err := x.Create()
		return Topic{Options: o}, err
	case Subscription:
		s, err := ParseSubscription(d, l)
		if err != nil {
			return nil, err
		}
		o, err := s.Create(nameFor(s))
		return Subscription{Options: o.Queue, Client: o.Client, FilterErrors: s.FilterErrors}, err
	}
	r, err := ParseRule(d)
	if err != nil {
		return nil, err
	}
	return *r, nil
}

func wellFormed(t *testing.T, document []byte) {
	if !utf8.Valid(document) {
		t.Fatalf("not UTF-8: %q", document)
	}
	for d := xml.NewDecoder(bytes.NewReader(document)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, document)
		}
	}
}

// FuzzTimeSpan: a parsed time span is written so that it parses to the same one.
func FuzzTimeSpan(f *testing.F) {
	for _, s := range []string{"PT1M", "P1Y2M3DT4H5M6.7S", "-P1D", "P10675199DT2H48M5.4775807S", "PT99999999999999999999H"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		span, err := ParseTimeSpan(s)
		if err != nil {
			return
		}
		if again, err := ParseTimeSpan(span.String()); err != nil || again != span {
			t.Fatalf("%q is %d, written %s, read %d, %v", s, span, span, again, err)
		}
	})
}
