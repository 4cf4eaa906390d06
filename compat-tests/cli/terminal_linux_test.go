package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/clipperhouse/displaywidth"
	"golang.org/x/sys/unix"

	"minibus/compat-tests/harness"
)

// atTerminal runs a command at a terminal, with what a person types, and returns what the person sees.
func (b *bench) atTerminal(environ []string, typed string, args ...string) (seen string, code int) {
	b.Helper()
	person, program := harness.Terminal(b.T)
	cmd := b.command(args...)
	cmd.Env = append(cmd.Env, append([]string{"TERM=xterm", "NO_COLOR="}, environ...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	_, err := person.WriteString(typed)
	b.must("type", err)
	b.must("size the terminal", unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 80, Row: 24}))
	b.must("start", cmd.Start())
	out := make(chan string)
	go func() {
		var text strings.Builder
		buffer := make([]byte, 4096)
		for {
			n, err := person.Read(buffer)
			text.Write(buffer[:n])
			if err != nil { // the program's side is closed
				out <- text.String()
				return
			}
		}
	}()
	_ = cmd.Wait()
	_ = program.Close()
	return <-out, cmd.ProcessState.ExitCode()
}

func TestAtATerminal(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"))
	b.send("q", "1", "2")
	const bold = "\x1b[1mNUMBER"
	if seen, _ := b.atTerminal(nil, "", "peek", "q"); !strings.Contains(seen, bold) {
		t.Errorf("peek at a terminal prints %q", seen)
	}
	for _, environ := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if seen, _ := b.atTerminal([]string{environ}, "", "peek", "q"); strings.Contains(seen, "\x1b") {
			t.Errorf("peek with %s prints %q", environ, seen)
		}
	}
	if seen, code := b.atTerminal(nil, "n\n", "queue", "rm", "q"); code != 1 || !strings.Contains(seen, "Delete queue q at localhost:") || !strings.Contains(seen, "left as it is") {
		t.Errorf("queue rm, answered with n, ended with %d: %q", code, seen)
	}
	if seen, code := b.atTerminal(nil, "\n", "purge", "q"); code != 1 || !strings.Contains(seen, "Purge the messages of q at localhost:") {
		t.Errorf("purge, answered with nothing, ended with %d: %q", code, seen)
	}
	b.wantBodies("after two refusals", b.peek("q"), "1", "2")
	if seen, code := b.atTerminal(nil, "y\n", "purge", "q", "--wait", "1s"); code != 0 || !strings.Contains(seen, "purged 2 messages") {
		t.Errorf("purge, answered with y, ended with %d: %q", code, seen)
	}
	b.run("send", "q", "x", "--repeat", "120")
	b.run("receive", "q", "-n", "120", "--dead-letter", "--wait", "2s")
	if r := b.try("dlq", "resubmit", "q"); r.code != 0 || r.errors != "" || !strings.HasPrefix(r.out, "resubmitted 120 ") {
		t.Errorf("dlq resubmit without a terminal gives %+v", r)
	}
	b.run("receive", "q", "-n", "120", "--dead-letter", "--wait", "2s")
	if seen, code := b.atTerminal(nil, "", "dlq", "resubmit", "q"); code != 0 || !strings.Contains(seen, "resubmitted 50 of 120 (41 %)") ||
		!strings.HasSuffix(seen, "resubmitted 120 dead letters from q/$DeadLetterQueue to q\r\n") {
		t.Errorf("dlq resubmit shows %q", seen)
	}
	if seen, code := b.atTerminal(nil, "", "queue", "rm", "q", "--yes"); code != 0 || strings.Contains(seen, "[y/N]") {
		t.Errorf("queue rm --yes ended with %d: %q", code, seen)
	}
	if seen, code := b.atTerminal(nil, "", "send", "q"); code != 2 || !strings.Contains(seen, "needs a body") {
		t.Errorf("send without a body ended with %d: %q", code, seen)
	}
}

// TestNoTableWrapsAtATerminal of 80 columns, with a name of 90 characters and an id of 128. A pipe gets all of it.
func TestNoTableWrapsAtATerminal(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	name := strings.Repeat("team-of-9/", 9)[:89] + "q"
	b := start(t, queue(name), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	id := strings.Repeat("0123456789abcdef", 8)
	family := "\U0001F469\u200d\U0001F469\u200d\U0001F467"
	b.run("send", name, `{"text":"`+family+strings.Repeat(" and more", 20)+`"}`, "--message-id", id, "--subject", strings.Repeat("made ", 8), "--session", id)
	b.run("send", name, "bad", "--message-id", "bad")
	b.run("receive", name, "--dead-letter", "--reason", strings.Repeat("because ", 20))
	b.send("events", "x")
	for _, c := range []struct{ line, want string }{
		{"queue ls", "team-of-9/"}, {"peek " + name, "bad"}, {"peek --dlq " + name, family}, {"message ls --dlq " + name, "because"}, {"tail --dlq " + name, "0123"}, {"sub ls", "events/audit"},
		{"dlq ls", "team-of-9/"}, {"dlq ls " + name, "because"}, {"conn ls", ""}, {"conn refused", ""}, {"namespace ls", "sbemulatorns"}, {"history", "deadLettered"},
		{"history " + id, "sent"}, {"snapshot ls", ""}, {"clock show", "in "}, {"why events/audit", "no-receiver"}, {"fault ls", ""}, {"rule ls events/audit", "$Default"}, {"--help", "minibus queue"}, {"purge --help", "Usage:"},
	} {
		seen, code := b.atTerminal([]string{"NO_COLOR=1"}, "", strings.Fields(c.line)...)
		if code > 5 || !strings.Contains(seen, c.want) {
			t.Errorf("minibus %s ended with %d: %s", c.line, code, seen)
		}
		for line := range strings.Lines(seen) {
			if width := displaywidth.String(strings.TrimRight(line, "\r\n")); width > 80 && !strings.HasPrefix(line, "  minibus ") && !strings.Contains(line, `{"amqp"`) {
				t.Errorf("minibus %s writes a line of %d columns: %s", c.line, width, line)
			}
		}
	}
	wide, _ := b.atTerminal([]string{"NO_COLOR=1"}, "", "message", "ls", "--dlq", name, "-o", "wide")
	if piped := b.run("message", "ls", "--dlq", name); !strings.Contains(wide, id) || !strings.Contains(piped, id) || strings.ReplaceAll(wide, "\r", "") != piped {
		t.Errorf("-o wide writes\n%s\nand a pipe gets\n%s", wide, piped)
	}
	if seen, _ := b.atTerminal(nil, "", "queue", "ls"); !strings.Contains(seen, "\x1b[32mActive") {
		t.Errorf("queue ls has no colours: %q", seen)
	}
	if seen, _ := b.atTerminal(nil, "", "queue", "ls", "--no-color"); strings.Contains(seen, "\x1b") {
		t.Errorf("queue ls --no-color has colours: %q", seen)
	}
	relative := regexp.MustCompile(`created +\S+Z  \((now|\d+ ?\w+ ago)\)`)
	if seen, _ := b.atTerminal(nil, "", "queue", "show", name); !strings.Contains(seen, "auto-delete-on-idle                      forever") || !relative.MatchString(seen) {
		t.Errorf("queue show prints %q", seen)
	}
	if seen, _ := b.atTerminal(nil, "", "message", "show", "--dlq", name, "1"); !strings.Contains(seen, "{\r\n  \"text\": \""+family) {
		t.Errorf("message show prints %q", seen)
	}
}

// TestBenchShowsProgress to a person.
func TestBenchShowsProgress(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"))
	if seen, code := b.atTerminal(nil, "", "bench", "--duration", "1s", "--in-flight", "1"); code != 0 || !strings.Contains(seen, "\rsent ") || !strings.Contains(seen, "\x1b[1mOPERATION") {
		t.Errorf("bench at a terminal ended with %d: %q", code, seen)
	}
}

// TestNoMessageSteersATerminal sends one whose texts and names would, by escape sequences, by the C1 controls that stand for them, and by what
// turns text around.
func TestNoMessageSteersATerminal(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"))
	const evil = "a\x1b]0;owned\x07b\u009b31mc\u202ed\re\U000e0001"
	sender, err := b.client.NewSender("q", nil)
	b.must("make a sender", err)
	evilText := evil
	b.must("send", sender.SendMessage(b.ctx, &azservicebus.Message{Body: []byte(evil), MessageID: &evilText, Subject: &evilText,
		ApplicationProperties: map[string]any{evil: evil}}, nil))
	for _, line := range []string{"peek q", "message ls q", "message show q 1", "message body q 1", "history q"} {
		for _, format := range []string{"table", "json", "jsonl"} {
			seen, _ := b.atTerminal([]string{"NO_COLOR=1"}, "", append(strings.Fields(line), "-o", format)...)
			if strings.ContainsAny(strings.ReplaceAll(seen, "\r\n", "\n"), "\x1b\x07\r\u009b\u202e\U000e0001") || seen == "" {
				t.Errorf("minibus %s -o %s writes %q to a terminal", line, format, seen)
			}
		}
	}
	if body := b.try("message", "body", "q", "1").out; body != evil {
		t.Errorf("message body writes %q to a file", body)
	}
	if shown := b.run("message", "show", "q", "1"); strings.ContainsAny(shown, "\x1b\x07\r\u009b\u202e") {
		t.Errorf("message show writes %q", shown)
	}
	type message struct {
		MessageID, Body       string
		ApplicationProperties map[string]any
	}
	shown := b.run("message", "show", "q", "1", "-o", "json")
	if m := decode[message](b, shown); m.Body != evil || m.MessageID != evil || m.ApplicationProperties[evil] != evil || strings.ContainsAny(shown, "\u009b\u202e") {
		t.Errorf("as JSON it is %q, read back %+v", shown, m)
	}
}
