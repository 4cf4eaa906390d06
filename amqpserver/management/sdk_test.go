package management

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqptest"

	goamqp "github.com/Azure/go-amqp"
)

// dialect holds an SDK's way to write requests. Each SDK writes the same arguments with other types.
type dialect struct {
	name       string
	id         any
	properties amqp.Map // in addition to the operation
	numbers    func(...int64) any
	tokens     func(amqp.UUID) any
	settleMode any // for peek-lock
	encode     func(t testing.TB, d dialect, operation string, fields amqp.Map) []byte
}

func arrayOfLong(n ...int64) any    { return n }
func arrayOfUUID(u amqp.UUID) any   { return []amqp.UUID{u} }
func listOfUUID(u amqp.UUID) any    { return amqp.List{u} }
func goArrayOfUUID(u amqp.UUID) any { return []goamqp.UUID{goamqp.UUID(u)} }

var dialects = []dialect{
	{name: "go", id: "1b", numbers: arrayOfLong, tokens: goArrayOfUUID, settleMode: uint32(1), encode: encodeAsGo,
		properties: amqp.Map{{Key: "server-timeout", Value: uint64(59000)}, {Key: "associated-link-name", Value: "l"}}},
	{name: "dotnet", id: "m1", numbers: arrayOfLong, tokens: arrayOfUUID, settleMode: uint32(1), encode: encodeAsOthers,
		properties: amqp.Map{{Key: "com.microsoft:server-timeout", Value: uint32(60000)},
			{Key: "com.microsoft:tracking-id", Value: "t"}}},
	{name: "java", id: uint64(1), numbers: arrayOfLong, tokens: arrayOfUUID, settleMode: uint32(1),
		encode:     encodeAsOthers,
		properties: amqp.Map{{Key: "com.microsoft:server-timeout", Value: int64(60000)}}},
	{name: "js", id: "0c", numbers: arrayOfLong, tokens: arrayOfUUID, settleMode: uint32(1), encode: encodeAsOthers,
		properties: amqp.Map{{Key: "com.microsoft:tracking-id", Value: "t"},
			{Key: "associated-link-name", Value: "l"}}},
	{name: "python", id: uint64(0), tokens: arrayOfUUID, settleMode: uint32(1), encode: encodeAsOthers,
		numbers: func(n ...int64) any { return amqp.Array{Code: amqp.CodeSmallLong, Items: anys(n)} },
		properties: amqp.Map{{Key: "type", Value: "entity-mgmt"},
			{Key: []byte("associated-link-name"), Value: []byte("l")}}},
	{name: "plain client", id: []byte{1}, tokens: listOfUUID, settleMode: uint8(1), encode: encodeAsOthers,
		numbers: func(n ...int64) any { return amqp.List(anys(n)) }},
}

func anys[T any](in []T) (out []any) {
	for _, v := range in {
		out = append(out, v)
	}
	return out
}

func encodeAsOthers(t testing.TB, d dialect, operation string, fields amqp.Map) []byte {
	t.Helper()
	properties := append(amqp.Map{{Key: "operation", Value: "com.microsoft:" + operation}}, d.properties...)
	return amqptest.EncodeRequest(t, d.id, properties, fields)
}

// encodeAsGo writes the request with the Go SDK's own protocol library.
func encodeAsGo(t testing.TB, d dialect, operation string, fields amqp.Map) []byte {
	t.Helper()
	m := &goamqp.Message{
		Properties:            &goamqp.MessageProperties{MessageID: d.id},
		ApplicationProperties: map[string]any{"operation": "com.microsoft:" + operation},
		Value:                 goValue(fields),
	}
	for _, p := range d.properties {
		m.ApplicationProperties[p.Key.(string)] = p.Value
	}
	return marshal(t, m)
}

func goValue(v any) any {
	switch v := v.(type) {
	case amqp.Map:
		m := make(map[string]any, len(v))
		for _, p := range v {
			m[p.Key.(string)] = goValue(p.Value)
		}
		return m
	case amqp.List:
		var list []any
		for _, item := range v {
			list = append(list, goValue(item))
		}
		return list
	}
	return v
}

// One life of a message through management alone, in the dialect of each SDK.
func TestEveryOperationInTheDialectOfEverySDK(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			inBubble(t, func(f *fixture) {
				do := func(operation string, fields amqp.Map) answer {
					f.Helper()
					a := decodeAnswer(f, f.handle(f.ctx, d.encode(f, d, operation, fields)))
					a.want(f, 200, "")
					return a
				}
				seqs := field[[]int64](f, do("schedule-message", amqp.Map{{Key: "messages", Value: amqp.List{amqp.Map{
					{Key: "message", Value: scheduled(f, "a", time.Hour)}, {Key: "message-id", Value: "a"}}}}}),
					"sequence-numbers")
				do("cancel-scheduled-message", amqp.Map{{Key: "sequence-numbers", Value: d.numbers(seqs...)}})

				f.send("b")
				a := do("peek-message", amqp.Map{{Key: "from-sequence-number", Value: int64(1)},
					{Key: "message-count", Value: int32(1)}})
				if got := numbers(f, a); !slices.Equal(got, []int64{2}) {
					f.Fatalf("peek gave %v, want 2", got)
				}
				token := uuids(f.take(emulator.Main, 1))[0]
				do("renew-lock", amqp.Map{{Key: "lock-tokens", Value: d.tokens(token)}})
				do("update-disposition",
					amqp.Map{{Key: "lock-tokens", Value: d.tokens(token)},
						{Key: "disposition-status", Value: "defered"}})
				_, tokens := messages(f, do("receive-by-sequence-number", amqp.Map{
					{Key: "sequence-numbers", Value: d.numbers(2)}, {Key: "receiver-settle-mode",
						Value: d.settleMode}}))
				do("update-disposition",
					amqp.Map{{Key: "lock-tokens", Value: d.tokens(amqp.UUID(tokens[0].(goamqp.UUID)))},
						{Key: "disposition-status", Value: "suspended"}, {Key: "deadletter-reason", Value: "r"}})
				if c := f.queue.Counts(); c.Active != 0 || c.DeadLetter != 1 {
					f.Errorf("counts %+v at the end, want one dead-lettered message", c)
				}
			})
		})
	}
}

// One life of a session through management alone, in the dialect of each SDK.
func TestSessionOperationsInTheDialectOfEverySDK(t *testing.T) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			inSessionBubble(t, func(f *sessionFixture) {
				f.accept("l", "s")
				f.sendTo("s", "s", "s")
				do := func(operation string, fields ...amqp.Pair) answer {
					f.Helper()
					fields = append(fields, amqp.Pair{Key: "session-id", Value: "s"})
					a := decodeAnswer(f, f.handle(f.ctx, d.encode(f, d, operation, fields)))
					a.want(f, 200, "")
					return a
				}
				do("renew-session-lock")
				do("set-session-state", state([]byte("x")))
				if got := field[[]byte](f, do("get-session-state"), "session-state"); string(got) != "x" {
					f.Errorf("state %q, want x", got)
				}
				ds := f.takeFrom(f.links["l"], 2)
				do("update-disposition", amqp.Pair{Key: "lock-tokens", Value: d.tokens(uuids(ds)[0])},
					amqp.Pair{Key: "disposition-status", Value: "defered"})
				do("receive-by-sequence-number", amqp.Pair{Key: "sequence-numbers", Value: d.numbers(1)},
					amqp.Pair{Key: "receiver-settle-mode", Value: d.settleMode})
				do("renew-lock", amqp.Pair{Key: "lock-tokens", Value: d.tokens(uuids(ds)[1])})
				do("peek-message", amqp.Pair{Key: "from-sequence-number", Value: int64(1)},
					amqp.Pair{Key: "message-count", Value: int32(9)})
				n := field[int32](f, do("batch-delete-messages", amqp.Pair{Key: "message-count", Value: int32(9)},
					amqp.Pair{Key: "enqueued-time-utc", Value: time.Now()}), "message-count")
				left := fmt.Sprint(numbers(f.fixture, peek(f.fixture, int64(0), int32(9))))
				if n != 1 || left != "[1 2]" || f.queue.Counts().Active != 2 {
					f.Errorf("%d deleted, %s left, want 1 deleted and the two locked ones left", n, left)
				}
			})
		})
	}
}
