package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"golang.org/x/sys/unix"

	"minibus/compat-tests/harness"
)

// terminal opens a pseudo-terminal: the side of the person, and that of the program.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("open a terminal: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatalf("unlock the terminal: %v", err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatalf("name the terminal: %v", err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("open the other side: %v", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// atTerminal runs a command at a terminal, with what a person types, and returns what the person sees.
func (b *bench) atTerminal(environ []string, typed string, args ...string) (seen string, code int) {
	b.Helper()
	person, program := terminal(b.T)
	cmd := b.command(args...)
	cmd.Env = append(cmd.Env, append([]string{"TERM=xterm", "NO_COLOR="}, environ...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	_, err := person.WriteString(typed)
	b.must("type", err)
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
	if seen, code := b.atTerminal(nil, "\n", "purge", "q"); code != 1 || !strings.Contains(seen, "Remove the messages of q at localhost:") {
		t.Errorf("purge, answered with nothing, ended with %d: %q", code, seen)
	}
	b.wantBodies("after two refusals", b.peek("q"), "1", "2")
	if seen, code := b.atTerminal(nil, "y\n", "purge", "q", "--wait", "1s"); code != 0 || !strings.Contains(seen, "removed 2 messages") {
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
