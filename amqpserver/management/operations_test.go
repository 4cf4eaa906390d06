package management

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqptest"

	goamqp "github.com/Azure/go-amqp"
)

func TestUnservedOperationsAreRefusedByName(t *testing.T) {
	inBubble(t, func(f *fixture) {
		for _, name := range []string{"update-rule", "no-such-thing"} {
			a := f.request(name, amqp.Map{})
			a.want(f, 501, "amqp:not-implemented")
			if !strings.Contains(a.text, "'com.microsoft:"+name+"'") {
				f.Errorf("text %q does not name %s", a.text, name)
			}
		}
		raw := amqptest.EncodeRequest(f, "1", amqp.Map{}, nil)
		decodeAnswer(f, f.handle(f.ctx, raw)).want(f, 400, "com.microsoft:argument-error")
	})
}

// Clients find their request by the type and the value of its id.
func TestCorrelationIDHasTheTypeOfTheMessageID(t *testing.T) {
	inBubble(t, func(f *fixture) {
		for _, tt := range []struct{ sent, want any }{
			{"7c", "7c"}, {uint64(0), uint64(0)}, {uint64(1 << 40), uint64(1 << 40)},
			{amqp.UUID{1}, goamqp.UUID{1}}, {[]byte{5}, []byte{5}}, {nil, nil},
		} {
			resp := f.handle(f.ctx, amqptest.EncodeRequest(f, tt.sent, amqp.Map{{Key: "operation", Value: "x"}}, nil))
			if got := decodeAnswer(f, resp).Properties.CorrelationID; !reflect.DeepEqual(got, tt.want) {
				f.Errorf("correlation-id %T %v, want %T %v", got, got, tt.want, tt.want)
			}
		}
	})
}

func TestGoldenResponse(t *testing.T) {
	inBubble(t, func(f *fixture) {
		raw := amqptest.EncodeRequest(f, uint64(1), amqp.Map{
			{Key: "operation", Value: "com.microsoft:peek-message"}, {Key: "com.microsoft:tracking-id", Value: "t1"},
		}, amqp.Map{{Key: "from-sequence-number", Value: int64(0)}, {Key: "message-count", Value: int32(1)}})
		want := "" +
			// properties, 13 fields
			"005373" + "d0" + "00000012" + "0000000d" + "4040404040" + "5301" + "40404040404040" +
			"005374" + "d1" + "00000059" + "00000008" +
			"a10a" + hex.EncodeToString([]byte("statusCode")) + "71000000cc" +
			"a10e" + hex.EncodeToString([]byte("errorCondition")) + "40" +
			"a111" + hex.EncodeToString([]byte("statusDescription")) + "40" +
			"a119" + hex.EncodeToString([]byte("com.microsoft:tracking-id")) + "a1027431"
		if got := hex.EncodeToString(f.handle(f.ctx, raw)); got != want {
			f.Errorf("response\n%s, want\n%s", got, want)
		}
	})
}

func TestLOCK16_AssociatedLinkIsTold(t *testing.T) {
	inBubble(t, func(f *fixture) {
		var told []string
		f.ctx.AssociatedLink = func(name string) { told = append(told, name) }
		// old Python writes a binary
		for _, key := range []any{"associated-link-name", []byte("associated-link-name")} {
			f.handle(f.ctx, amqptest.EncodeRequest(f, "1", amqp.Map{
				{Key: "operation", Value: "com.microsoft:renew-lock"}, {Key: key, Value: "link-7"}}, nil))
		}
		f.request("renew-lock", nil)
		if want := []string{"link-7", "link-7"}; !reflect.DeepEqual(told, want) {
			f.Errorf("told %v, want %v", told, want)
		}
	})
}

func TestERR9_ErrorTextsEndWithTheTrackingSuffix(t *testing.T) {
	inBubble(t, func(f *fixture) {
		var logged string
		f.ctx.TrackingSuffix = func(entity string) string { return " Tracker:" + entity }
		f.ctx.Refused = func(operation string, err error) { logged = operation + ": " + err.Error() }
		a := settle(f, f.ctx, []amqp.UUID{{1}}, "completed")
		if !strings.HasSuffix(a.text, " Tracker:orders") {
			f.Errorf("text %q has no suffix", a.text)
		}
		if !strings.HasPrefix(logged, "com.microsoft:update-disposition: The lock supplied is invalid") {
			f.Errorf("the caller was told %q", logged)
		}
	})
}

func TestNothingIsAnsweredBeforeItsCommit(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		ds := f.take(emulator.Main, 1)
		f.journal.Pause()
		answers := make(chan []byte, 1)
		req := f.scan(amqptest.EncodeRequest(f, "1",
			amqp.Map{{Key: "operation", Value: "com.microsoft:update-disposition"}}, amqp.Map{
				{Key: "lock-tokens", Value: uuids(ds)}, {Key: "disposition-status", Value: "completed"}}))
		Handle(f.ctx, &req, func(resp []byte) { answers <- resp })
		synctest.Wait()
		if len(answers) != 0 {
			f.Fatal("answered before the commit")
		}
		f.journal.Resume()
		decodeAnswer(f, <-answers).want(f, 200, "")
	})
}

func TestAFailedCommitIsAnErrorToTheClient(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		ds := f.take(emulator.Main, 1)
		f.journal.FailNext(1, errors.New("disk full"))
		settle(f, f.ctx, uuids(ds), "completed").want(f, 500, "amqp:internal-error")
		f.journal.FailNext(1, errors.New("disk full"))
		entry := amqp.Map{{Key: "message", Value: scheduled(f, "a", lockDuration)}}
		schedule(f, entry).want(f, 500, "amqp:internal-error")
	})
}

func TestERR6_StatusAndConditionOfEveryCode(t *testing.T) {
	tests := []struct {
		code      emulator.Code
		status    int32
		condition amqp.Symbol
	}{
		{emulator.CodeTimeout, 408, "com.microsoft:timeout"},
		{emulator.CodeNotFound, 404, "amqp:not-found"},
		{emulator.CodeMessageNotFound, 404, "com.microsoft:message-not-found"},
		{emulator.CodeNotImplemented, 501, "amqp:not-implemented"},
		{emulator.CodeAlreadyExists, 409, "com.microsoft:entity-already-exists"},
		{emulator.CodeMessageLockLost, 410, "com.microsoft:message-lock-lost"},
		{emulator.CodeSessionLockLost, 410, "com.microsoft:session-lock-lost"},
		{emulator.CodeSessionLocked, 410, "com.microsoft:session-cannot-be-locked"},
		{emulator.CodeQuotaExceeded, 403, "amqp:resource-limit-exceeded"},
		{emulator.CodeMessageTooLarge, 403, "amqp:link:message-size-exceeded"},
		{emulator.CodeHeaderTooLarge, 403, "amqp:link:message-size-exceeded"},
		{emulator.CodeNotAllowed, 400, "amqp:not-allowed"},
		{emulator.CodeArgument, 400, "com.microsoft:argument-error"},
		{emulator.CodeEntityDisabled, 400, "com.microsoft:entity-disabled"},
		{emulator.CodeUnauthorized, 401, "amqp:unauthorized-access"},
		{emulator.CodeServerBusy, 503, "com.microsoft:server-busy"},
		{emulator.CodeDetached, 503, "amqp:link:detach-forced"},
		{emulator.CodeTransactionEnded, 400, "amqp:transaction:unknown-id"},
		{emulator.CodeTransactionTimedOut, 400, "amqp:transaction:timeout"},
		{emulator.CodeInternal, 500, "amqp:internal-error"},
		{emulator.Code(250), 500, "amqp:internal-error"},
	}
	for _, tt := range tests {
		err := fmt.Errorf("do it: %w", &emulator.Error{Code: tt.code, Entity: "q", Text: "no"})
		got := failureOf(err)
		want := failure{status: tt.status, condition: tt.condition, text: "do it: no", entity: "q"}
		if got != want {
			t.Errorf("code %d: %+v, want %+v", tt.code, got, want)
		}
		if got := Condition(tt.code); got != tt.condition {
			t.Errorf("code %d: condition %q, want %q", tt.code, got, tt.condition)
		}
	}
	if len(statuses) != len(tests)-1 {
		t.Errorf("the table has %d rows, this test knows %d", len(statuses), len(tests)-1)
	}
	if got := failureOf(errors.New("other")); got.status != 500 || got.condition != "amqp:internal-error" {
		t.Errorf("a foreign error is %+v, want an internal error", got)
	}
}

func TestArgumentErrorsNameKeyFoundAndExpected(t *testing.T) {
	inBubble(t, func(f *fixture) {
		tests := []struct {
			operation string
			fields    amqp.Map
			text      []string
		}{
			{"renew-lock", amqp.Map{}, []string{"'lock-tokens'", "missing", "array of uuid"}},
			{"renew-lock", amqp.Map{{Key: "lock-tokens", Value: amqp.List{}}}, []string{"'lock-tokens'", "empty"}},
			{"renew-lock", amqp.Map{{Key: "lock-tokens", Value: "x"}},
				[]string{"'lock-tokens'", `"x"`, "array of uuid"}},
			{"renew-lock", amqp.Map{{Key: "lock-tokens", Value: amqp.List{"x"}}},
				[]string{"'lock-tokens[0]'", `"x"`, "uuid"}},
			{"peek-message", amqp.Map{{Key: "from-sequence-number", Value: "one"}},
				[]string{"'from-sequence-number'", `"one"`, "integer"}},
			{"peek-message", amqp.Map{{Key: "from-sequence-number", Value: uint64(1 << 63)}},
				[]string{"'from-sequence-number'", "out of range"}},
			{"peek-message", amqp.Map{{Key: "from-sequence-number", Value: int64(1)}},
				[]string{"'message-count'", "missing"}},
			{"peek-message", amqp.Map{{Key: "from-sequence-number", Value: int64(1)},
				{Key: "message-count", Value: 1.5}}, []string{"'message-count'", "1.5"}},
			{"cancel-scheduled-message", amqp.Map{{Key: "sequence-numbers", Value: amqp.List{int64(1), true}}},
				[]string{"'sequence-numbers[1]'", "true", "long"}},
			{"cancel-scheduled-message", amqp.Map{{Key: "sequence-numbers", Value: make([]int64, maxItems+1)}},
				[]string{"'sequence-numbers'", "10001", "10000"}},
			{"renew-lock", amqp.Map{{Key: "lock-tokens", Value: make([]amqp.UUID, maxTokens+1)}},
				[]string{"'lock-tokens'", "1001", "1000"}},
			{"schedule-message", amqp.Map{{Key: "messages", Value: amqp.Map{}}},
				[]string{"'messages'", "map of 0", "list"}},
			{"update-disposition", amqp.Map{{Key: "lock-tokens", Value: []amqp.UUID{{1}}}},
				[]string{"'disposition-status'", "missing", "completed"}},
			{"update-disposition", amqp.Map{{Key: "lock-tokens", Value: []amqp.UUID{{1}}},
				{Key: "disposition-status", Value: "done"}}, []string{"'disposition-status'", `"done"`, "completed"}},
			{"update-disposition", amqp.Map{{Key: "lock-tokens", Value: []amqp.UUID{{1}}},
				{Key: "disposition-status", Value: int32(1)}}, []string{"'disposition-status'", "1"}},
			{"update-disposition", suspended(amqp.Pair{Key: "deadletter-reason", Value: int32(1)}),
				[]string{"'deadletter-reason'", "1", "string"}},
			{"update-disposition", suspended(amqp.Pair{Key: "properties-to-modify", Value: "x"}),
				[]string{"'properties-to-modify'", `"x"`, "map"}},
			{"update-disposition", suspended(amqp.Pair{Key: "properties-to-modify",
				Value: amqp.Map{{Key: int32(1), Value: "x"}}}), []string{"'properties-to-modify'", "1", "string"}},
			{"update-disposition", suspended(amqp.Pair{Key: "properties-to-modify",
				Value: amqp.Map{{Key: "k", Value: amqp.List{}}}}),
				[]string{"'properties-to-modify.k'", "list of 0", "simple"}},
			{"update-disposition", suspended(amqp.Pair{Key: "properties-to-modify",
				Value: amqp.Map{{Key: "k", Value: amqp.Described{Descriptor: uint64(1), Value: amqp.Map{}}}}}),
				[]string{"'properties-to-modify.k'", "described", "simple"}},
		}
		for _, tt := range tests {
			a := f.request(tt.operation, tt.fields)
			if a.code != 400 || a.condition != "com.microsoft:argument-error" {
				f.Errorf("%s %v: %d %q", tt.operation, tt.fields, a.code, a.condition)
			}
			for _, part := range tt.text {
				if !strings.Contains(a.text, part) {
					f.Errorf("%s: text %q does not say %q", tt.operation, a.text, part)
				}
			}
		}
	})
}

func suspended(more amqp.Pair) amqp.Map {
	return amqp.Map{{Key: "lock-tokens", Value: []amqp.UUID{{1}}},
		{Key: "disposition-status", Value: "suspended"}, more}
}

func TestBodiesThatAreNoMap(t *testing.T) {
	inBubble(t, func(f *fixture) {
		head := amqptest.EncodeRequest(f, "1", amqp.Map{{Key: "operation", Value: "com.microsoft:renew-lock"}}, nil)
		for name, body := range map[string][]byte{
			"a list": amqptest.AppendSection(f, nil, amqptest.CodeValue, amqp.List{"x"}),
			"data":   amqptest.AppendSection(f, nil, 0x75, []byte("{}")),
			"null":   amqptest.AppendSection(f, nil, amqptest.CodeValue, nil),
			"none":   nil,
		} {
			a := decodeAnswer(f, f.handle(f.ctx, append(bytes.Clone(head), body...)))
			if a.code != 400 || a.condition != "com.microsoft:argument-error" {
				f.Errorf("body %s: %d %q %q", name, a.code, a.condition, a.text)
			}
		}
	})
}

func TestOversizedBodyIsRefusedUndecoded(t *testing.T) {
	inBubble(t, func(f *fixture) {
		fields := amqp.Map{{Key: "sequence-numbers", Value: amqp.List{}}, {Key: "x", Value: make([]byte, 5<<20)}}
		f.request("cancel-scheduled-message", fields).want(f, 403, "amqp:link:message-size-exceeded")
	})
}
