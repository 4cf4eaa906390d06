package emulator_test

import (
	"fmt"
	"testing"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/store/storetest"
)

// BenchmarkTopicSend sends messages of 1 KiB to a topic of which one subscription, or every one, selects the message.
func BenchmarkTopicSend(b *testing.B) {
	b.Run("plain queue", func(b *testing.B) {
		x := bench(b)
		b.ReportAllocs()
		for b.Loop() {
			x.sendMany(200)
			b.StopTimer()
			x.takeAndComplete(200)
			b.StartTimer()
		}
		perMessage(b)
	})
	for _, kind := range []string{"sql", "range", "correlation", "true"} {
		for _, subs := range []int{1, 10, 100, 1000} {
			for _, all := range []bool{false, true} {
				if kind == "true" && !all {
					continue
				}
				b.Run(fmt.Sprintf("%s/subs=%d/all=%v", kind, subs, all), func(b *testing.B) { benchTopic(b, kind, subs, all) })
			}
		}
	}
}

func benchTopic(b *testing.B, kind string, subs int, all bool) {
	j := storetest.NewUncheckedMemory()
	ns, err := emulator.Open(j, emulator.Options{})
	if err != nil {
		b.Fatalf("open namespace: %v", err)
	}
	b.Cleanup(func() { ns.Close(); j.Close() })
	o := emulator.TopicOptions{}
	for i := range subs {
		value := int64(i)
		if all {
			value = 0
		}
		o.Subscriptions = append(o.Subscriptions, withRules(fmt.Sprint("s", i), benchRule(kind, value)))
	}
	q, err := ns.Entities().CreateTopic("t", o)
	if err != nil {
		b.Fatalf("create topic: %v", err)
	}
	m := props(string(make([]byte, 1024)), "tenant", int64(0), "color", "red", "size", int32(7))
	m.Properties = properties("id")
	x := &benched{b: b, q: q.Entity, m: []message.Message{encode(b, m)}}
	b.ReportAllocs()
	for b.Loop() {
		x.sendMany(200)
		b.StopTimer()
		for i := range subs {
			if all || i == 0 {
				if x.q, err = ns.Entity(fmt.Sprint("t/Subscriptions/s", i)); err != nil {
					b.Fatalf("find subscription: %v", err)
				}
				x.takeAndComplete(200)
			}
		}
		x.q = q.Entity
		b.StartTimer()
	}
	perMessage(b)
}

func benchRule(kind string, value int64) emulator.RuleOptions {
	switch kind {
	case "sql":
		return sql("r", fmt.Sprintf("color = 'red' AND tenant = %d AND size > 5", value))
	case "range":
		return sql("r", fmt.Sprintf("tenant > %d AND tenant <= %d", value-1, value))
	case "correlation":
		return emulator.RuleOptions{Name: "r", Correlation: &emulator.CorrelationFilter{Properties: emulator.Values{"tenant": value, "color": "red"}}}
	}
	return emulator.DefaultRule()
}

// perMessage reports the cost of one of the 200 messages of a round.
func perMessage(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/msg")
	b.ReportMetric(0, "ns/op")
}
