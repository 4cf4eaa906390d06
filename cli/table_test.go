package cli

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"minibus/internal/printable"
)

// atWidth returns what a terminal of this width shows of a list.
func atWidth(width int, columns []string, rows ...[]string) string {
	var out bytes.Buffer
	raw := bufio.NewWriter(&out)
	o := output{format: formatTable, raw: raw, text: printable.Screen(raw), width: width, people: width > 0,
		askNow: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }}
	o.list(columns...)
	for _, row := range rows {
		_ = o.add(nil, row...)
	}
	_ = o.flush()
	return out.String()
}

// TestTablesFitTheTerminal: cut in the middle, without the columns that matter least, in every width.
func TestTablesFitTheTerminal(t *testing.T) {
	long := strings.Repeat("team/service/", 7) + "queue" // 96 characters
	queues := []string{"NAME", "STATUS", "ACTIVE", "DEAD-LETTER", "SCHEDULED", "TRANSFER", "TRANSFER-DLQ", "BYTES"}
	messages := []string{"NUMBER", "STATE", "ENQUEUED", "ID", "SUBJECT", "SESSION", "DELIVERIES", "REASON", "BODY"}
	id := strings.Repeat("0123456789abcdef", 8)
	message := []string{"123456", "active", "2026-03-01T11:58:00Z", id, strings.Repeat("created ", 9), id, "1", "because", strings.Repeat("👩‍👩‍👧 text ", 20)}
	for _, c := range []struct {
		width   int
		columns []string
		row     []string
		want    []string
		without []string
	}{
		{80, queues, []string{long, "Active", "12345", "0", "1", "0", "0", "1234567"}, []string{"team/", "…", "queue  Active  12,345", "1.2 MiB"}, []string{"TRANSFER"}},
		{80, queues, []string{"q", "Active", "12345", "0", "1", "7", "0", "1234567"}, []string{"TRANSFER ", "\nq     Active  12,345"}, []string{"TRANSFER-DLQ"}},
		{80, messages, message, []string{"2 min ago", "0123", "cdef", "…"}, []string{"created", "DELIVERIES"}},
		{120, messages, message, []string{"2 min ago", "👩‍👩‍👧", "created"}, nil},
	} {
		shown := atWidth(c.width, c.columns, c.row)
		for line := range strings.Lines(shown) {
			if displaywidth.String(strings.TrimSuffix(line, "\n")) > c.width {
				t.Errorf("a line is wider than %d: %s", c.width, line)
			}
		}
		for _, want := range c.want {
			if !strings.Contains(shown, want) {
				t.Errorf("at %d the table lacks %q:\n%s", c.width, want, shown)
			}
		}
		for _, without := range c.without {
			if strings.Contains(shown, without) {
				t.Errorf("at %d the table has %q:\n%s", c.width, without, shown)
			}
		}
		if whole := atWidth(0, c.columns, c.row); !strings.Contains(whole, c.columns[6]) || !strings.Contains(whole, c.row[0]) || !strings.Contains(whole, c.row[2]) || strings.Contains(whole, "…") {
			t.Errorf("without a terminal the table is\n%s", whole)
		}
	}
	for _, width := range []int{60, 100, 200} {
		for line := range strings.Lines(atWidth(width, messages, message)) {
			if displaywidth.String(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("a line is wider than %d: %s", width, line)
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		end   bool
		want  string
	}{
		{"orders", 6, false, "orders"}, {"a-long-name", 7, false, "a-l…ame"}, {"a-long-name", 8, false, "a-lo…ame"}, {"a-long-name", 7, true, "a-long…"},
		{"日本語の名前", 7, false, "日…前"}, {"👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 13, false, "👩‍👩‍👧…👩‍👩‍👧"},
	} {
		if got := shorten(c.text, c.width, c.end); got != c.want || cells(got) > c.width {
			t.Errorf("%q in %d columns is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestRelativeTimes(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{0: "now", 12 * time.Second: "12 s ago", 3*time.Minute + 59*time.Second: "3 min ago", -58*time.Minute - 30*time.Second: "in 58 min", 47 * time.Hour: "47 h ago", 49 * time.Hour: "2 days ago"} {
		if got := relative(now.Add(-ago).Format(time.RFC3339Nano), now); got != want {
			t.Errorf("%v ago is %q, want %q", ago, got, want)
		}
	}
	if got := relative("2024-05-06T12:00:00Z", now) + relative("", now) + relative("soon", now); got != "2024-05-06soon" {
		t.Errorf("other texts become %q", got)
	}
}

func TestAmounts(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "999": "999", "1000": "1,000", "1234567": "1,234,567", "": "", "-1234": "-1234", "1000000": "1,000,000"} {
		if got := count(nil, text); got != want {
			t.Errorf("count of %q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"0": "0 B", "999": "999 B", "1536": "1.5 KiB", "1234567": "1.2 MiB", "52428800": "50 MiB", "": ""} {
		if got := bytesText(nil, text); got != want {
			t.Errorf("%q bytes are %q, want %q", text, got, want)
		}
	}
}

// TestLongLinesFit: at a terminal they break between words, and what is no terminal gets them as they are.
func TestLongLinesFit(t *testing.T) {
	const text = "minibus: nothing listens at localhost:5672: start a Minibus\n  allowed: one two three four five\nshort"
	for width, want := range map[int]string{
		0: text, 80: text, 30: "minibus: nothing listens at\n  localhost:5672: start a\n  Minibus\n  allowed: one two three\n    four five\nshort",
	} {
		if got := fit(text, width); got != want {
			t.Errorf("at %d columns it is\n%s", width, got)
		}
	}
	if got := Fit(new(bytes.Buffer), text); got != text {
		t.Errorf("elsewhere it is\n%s", got)
	}
}

// TestPeekShowsWhenMessagesAreDue to people. A program has the time of each message as JSON, and its columns stay.
func TestPeekShowsWhenMessagesAreDue(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	number := int64(7)
	for _, c := range []struct {
		width       int
		state       string
		want, never string
	}{{100, "scheduled", "in 58 min", "in 2 h"}, {100, "active", "ENQUEUED", "DUE"}, {0, "scheduled", "2026-03-01T11:00:00Z", "DUE"}} {
		var out bytes.Buffer
		raw := bufio.NewWriter(&out)
		a := &app{out: output{format: formatTable, raw: raw, text: printable.Screen(raw), width: c.width, people: c.width > 0, askNow: func() time.Time { return at }}}
		a.listMessages(address{}, false)
		due, sent := at.Add(58*time.Minute), at.Add(-time.Hour)
		if err := a.addMessage(address{}, message{SequenceNumber: &number, State: c.state, EnqueuedTime: &sent, ScheduledEnqueueTime: &due}); err != nil {
			t.Fatal(err)
		}
		if err := a.out.flush(); err != nil {
			t.Fatal(err)
		}
		if shown := out.String(); !strings.Contains(shown, c.want) || strings.Contains(shown, c.never) {
			t.Errorf("%s at %d columns: want %q, never %q in\n%s", c.state, c.width, c.want, c.never, shown)
		}
	}
}

func TestReflowed(t *testing.T) {
	const text = "one two three\nfour five\n\n  kept   as it is, however wide\nname  what it means, however wide\nsix"
	if got := reflowed(text, 13); got != "one two three\nfour five\n\n  kept   as it is, however wide\nname  what it means, however wide\nsix\n" {
		t.Errorf("at 13: %q", got)
	}
	if got := reflowed(text, 8); got != "one two\nthree\nfour\nfive\n\n  kept   as it is, however wide\nname  what it means, however wide\nsix\n" {
		t.Errorf("at 8: %q", got)
	}
}
