package amqpserver

import (
	"fmt"
	"slices"
	"testing"

	"minibus/internal/amqp/frames"
)

func TestOutcomes_AreJoinedIntoRanges(t *testing.T) { // [AMQP 2.7.6]
	const top = 1<<32 - 1
	for _, c := range []struct {
		name string
		ids  []serial
		what map[serial]outcome
		want []string
	}{
		{"one", []serial{7}, nil, []string{"7-7 accepted"}},
		{"neighbours", []serial{7, 8, 9}, nil, []string{"7-9 accepted"}},
		{"gap", []serial{7, 9}, nil, []string{"7-7 accepted", "9-9 accepted"}},
		{"backwards", []serial{9, 8}, nil, []string{"9-9 accepted", "8-8 accepted"}},
		{"another outcome", []serial{7, 8, 9}, map[serial]outcome{8: outcomeReleased},
			[]string{"7-7 accepted", "8-8 released", "9-9 accepted"}},
		{"from zero", []serial{0, 1}, nil, []string{"0-1 accepted"}},
		// Some clients take a last of 0 for none.
		{"no range ends in zero", []serial{top - 1, top, 0, 1}, nil,
			[]string{"4294967294-4294967295 accepted", "0-1 accepted"}},
	} {
		var got []string
		o := outcomes{s: &session{c: new(conn)}, role: frames.RoleReceiver, write: func(p frames.Performative) {
			d := p.(*frames.Disposition)
			if d.Role != frames.RoleReceiver || !d.Settled || !d.HasLast {
				t.Errorf("%s: disposition %+v", c.name, d)
			}
			got = append(got, fmt.Sprintf("%d-%d %s", d.First, d.Last, d.State.Name()))
		}}
		for _, id := range c.ids {
			o.answer(id, c.what[id])
		}
		o.flush()
		o.flush()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOutcomes_OneWithAnErrorFollowsThoseBeforeIt(t *testing.T) {
	var got []string
	o := outcomes{s: &session{c: new(conn)}, role: frames.RoleReceiver, write: func(p frames.Performative) {
		d := p.(*frames.Disposition)
		got = append(got, fmt.Sprintf("%d-%d %s", d.First, d.Last, d.State.Name()))
	}}
	o.answer(7, outcomeAccepted)
	o.answer(8, outcomeAccepted)
	o.answerAs(9, &frames.Rejected{})
	o.answer(10, outcomeAccepted)
	o.flush()
	if want := []string{"7-8 accepted", "9-9 rejected", "10-10 accepted"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
