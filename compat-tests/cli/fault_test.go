package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// shownFault has what these tests read of a fault.
type shownFault struct {
	ID                          int64
	Kind, Entity, State, Client string
	Operations                  []string
	Hits, Count                 int
	DelayMilliseconds           int64
	Until                       *string
}

// TestFault injects faults by flags and by a document, lists them and removes them. A send tries again when it is throttled.
func TestFault(t *testing.T) {
	b, again := durable(t)
	if text := b.run("fault", "add", "throttle", "--entity", "orders", "--count", "2"); text != "injected fault 1: throttle hits send\n" {
		t.Errorf("fault add prints %q", text)
	}
	b.run("send", "orders", "x")
	file := filepath.Join(t.TempDir(), "fault.json")
	b.must("write the document", os.WriteFile(file, []byte(`{"kind": "refuse", "operations": ["attachReceiver"], "condition": "not-found", "count": 1}`), 0o600))
	if f := decode[shownFault](b, b.run("fault", "add", "--json", file, "-o", "json")); f.ID != 2 || f.Kind != "refuse" || len(f.Operations) != 1 {
		t.Errorf("fault add prints %+v", f)
	}
	b.fails(3, []string{"The messaging entity 'orders' could not be found. (by fault 2 of Minibus)"}, "receive", "orders")
	if f := decode[shownFault](b, b.feed(`{"kind": "starve"}`, "fault", "add", "--json", "-", "-o", "json")); f.ID != 3 || f.Kind != "starve" {
		t.Errorf("fault add prints %+v", f)
	}
	delay := decode[shownFault](b, b.run("fault", "add", "delay", "--delay", "1.5s", "--operation", "settle,renew", "--for", "1h", "--client", "worker", "-o", "json"))
	if delay.DelayMilliseconds != 1500 || delay.Until == nil || delay.Client != "worker" || len(delay.Operations) != 2 {
		t.Errorf("fault add prints %+v", delay)
	}
	list := lines[shownFault](b, b.run("fault", "ls", "-o", "jsonl"))
	if len(list) != 4 || list[0].State != "spent" || list[0].Hits != 2 || list[1].Hits != 1 || list[2].State != "active" || list[3].ID != 4 {
		t.Errorf("fault ls prints %+v", list)
	}
	if text := b.run("fault", "ls"); !strings.HasPrefix(text, "ID  KIND ") || !strings.Contains(text, "\n 2  refuse not-found ") || !strings.Contains(text, "delay 1.5s ") {
		t.Errorf("fault ls prints %q", text)
	}
	if text := b.run("fault", "rm", "3", "4"); text != "removed fault 3\nremoved fault 4\n" {
		t.Errorf("fault rm prints %q", text)
	}
	b.fails(3, []string{"remove fault 3: There is no fault 3"}, "fault", "rm", "3")
	if text := b.run("fault", "rm", "--all", "-o", "json"); !strings.Contains(text, `"removed": "all"`) {
		t.Errorf("fault rm prints %q", text)
	}
	b.run("fault", "add", "starve")
	again()
	if text := b.run("fault", "ls", "-o", "jsonl"); text != "" {
		t.Errorf("after kill -9 there are %q", text)
	}
}

// TestFaultsThatAreWrong are refused, with what to do.
func TestFaultsThatAreWrong(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, nil)
	b.fails(2, []string{"fault needs a second word: fault ls|add|rm"}, "fault")
	b.fails(2, []string{"fault add needs KIND"}, "fault", "add")
	b.fails(2, []string{"KIND: expected value to be one of"}, "fault", "add", "explode")
	b.fails(2, []string{"can't hit the operation", "It can hit settle, renew"}, "fault", "add", "loseLock", "--operation", "send")
	b.fails(2, []string{`--for: found "soon"`}, "fault", "add", "throttle", "--for", "soon")
	b.fails(2, []string{`--delay: found "1"`}, "fault", "add", "delay", "--delay", "1")
	b.fails(3, []string{"The messaging entity 'nothing' could not be found"}, "fault", "add", "throttle", "--entity", "nothing")
	b.fails(2, []string{"the document says all"}, "fault", "add", "throttle", "--json", "x")
	b.fails(2, []string{"no such file"}, "fault", "add", "--json", "nothing.json")
	b.fails(2, []string{"fault rm needs the numbers of faults, or --all"}, "fault", "rm")
	b.fails(2, []string{`found "x"; give the number`}, "fault", "rm", "x")
	b.fails(6, []string{"nothing listens at localhost:1"}, "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", "fault", "ls")
}
