package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// running is a minibus run with a script of a shell, in which $minibus is the binary.
type running struct {
	*exec.Cmd
	out, errors bytes.Buffer
}

func runScript(t *testing.T, environ []string, flags []string, script string) *running {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a Unix shell")
	}
	binary := harness.Binary(t)
	args := append(append([]string{"run"}, flags...), "--", "sh", "-c", script)
	r := &running{Cmd: exec.Command(binary, args...)}
	r.Dir = t.TempDir()
	r.Stdout = &r.out
	r.Stderr = &r.errors
	r.Env = append(append(os.Environ(), "minibus="+binary, "GITHUB_STEP_SUMMARY="), environ...)
	return r
}

// code waits for the end and returns the exit code.
func (r *running) code(t *testing.T) int {
	t.Helper()
	err := r.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return r.ProcessState.ExitCode()
}

// TestRun_Traces sends what happened to a collector before it ends.
func TestRun_Traces(t *testing.T) {
	t.Parallel()
	sent := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Api-Key") != "of the test" {
			t.Errorf("the collector got %s %s %v, %v", r.Method, r.URL, r.Header, err)
		}
		sent <- string(body)
	}))
	defer collector.Close()
	r := runScript(t, []string{"OTEL_EXPORTER_OTLP_HEADERS=api-key=of%20the%20test"}, []string{"--quiet", "--otlp", collector.URL},
		`"$minibus" send queue.1 x --message-id order-7 && "$minibus" receive queue.1`)
	if code := r.code(t); code != 0 {
		t.Fatalf("it ended with %d: %s", code, r.errors.String())
	}
	close(sent)
	var all strings.Builder
	for body := range sent {
		all.WriteString(body)
	}
	for _, want := range []string{"send queue.1", "wait queue.1", "lock queue.1", "order-7", "minibus"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the collector got no %q", want)
		}
	}
	r = runScript(t, nil, []string{"--otlp", "nonsense"}, "true")
	if code := r.code(t); code != 2 && code != 1 || !strings.Contains(r.errors.String(), "the URL of a collector") {
		t.Errorf("with another URL it ended with %d: %s", code, r.errors.String())
	}
}

// TestRun_Summary counts what the script has done, in each form.
func TestRun_Summary(t *testing.T) {
	t.Parallel()
	const script = `set -e
		for i in 1 2 3 4 5; do echo "m$i" | "$minibus" send queue.1; done
		"$minibus" receive queue.1 -n 2
		"$minibus" receive queue.1 --dead-letter --reason "Bad | order"
		"$minibus" receive queue.1 --abandon
		"$minibus" receive nowhere --wait 1s || true`
	r := runScript(t, []string{"GITHUB_STEP_SUMMARY=job.md"}, []string{"--report", "s.json,s.xml,s.md", "--fail-on", "dead-letter,left"}, script)
	if code := r.code(t); code != 9 {
		t.Fatalf("exit code %d\n%s%s", code, &r.out, &r.errors)
	}
	if !strings.Contains(r.out.String(), "m2") || strings.Contains(r.out.String(), "minibus:") {
		t.Errorf("standard output is not the command's alone:\n%s", &r.out)
	}
	var sum struct {
		Messages []struct {
			Event string
			Count int
		}
		DeadLetters []struct {
			Entity, Reason string
			Count          int
		}
		Left []struct {
			Entity              string
			Active, DeadLetters int
		}
		Refusals []struct {
			Entity, Text string
			Count        int
		}
		Checks []struct {
			Name   string
			Count  int
			Failed bool
		}
	}
	read(t, filepath.Join(r.Dir, "s.json"), json.Unmarshal, &sum)
	got := make(map[string]int)
	for _, m := range sum.Messages {
		got[m.Event] = m.Count
	}
	if want := "map[abandoned:1 completed:2 dead-lettered:1 delivered:4 sent:5]"; fmt.Sprint(got) != want {
		t.Errorf("messages %v, want %s", got, want)
	}
	if want := "[{queue.1 Bad | order 1}]"; fmt.Sprint(sum.DeadLetters) != want {
		t.Errorf("dead letters %v, want %s", sum.DeadLetters, want)
	}
	if want := "[{queue.1 2 1}]"; fmt.Sprint(sum.Left) != want {
		t.Errorf("left %v, want %s", sum.Left, want)
	}
	if len(sum.Refusals) == 0 || sum.Refusals[0].Entity != "nowhere" {
		t.Errorf("refusals %+v, want one of nowhere", sum.Refusals)
	}
	if len(sum.Checks) != 6 || !sum.Checks[0].Failed || !sum.Checks[1].Failed || sum.Checks[1].Count != 2 || sum.Checks[2].Failed {
		t.Errorf("checks %+v", sum.Checks)
	}
	var suite struct {
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string  `xml:"name,attr"`
			Failure *string `xml:"failure"`
		} `xml:"testcase"`
	}
	read(t, filepath.Join(r.Dir, "s.xml"), xml.Unmarshal, &suite)
	if suite.Failures != 2 || len(suite.Cases) != 6 || suite.Cases[0].Failure == nil || suite.Cases[2].Failure != nil {
		t.Errorf("JUnit %+v", suite)
	}
	for _, file := range []string{"s.md", "job.md"} {
		if text, err := os.ReadFile(filepath.Join(r.Dir, file)); err != nil || !strings.Contains(string(text), `| dead-lettered from queue.1: Bad \| order | 1 |`) {
			t.Errorf("%s: %v\n%s", file, err, text)
		}
	}
	if text := r.errors.String(); !strings.Contains(text, "5 sent") || !strings.Contains(text, "(--fail-on left)") {
		t.Errorf("the summary is\n%s", text)
	}
}

func read(t *testing.T, file string, decode func([]byte, any) error, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = decode(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, text)
	}
}

// TestRun_Azure fails for what Minibus takes and Azure refuses: a setting that the Standard tier refuses, and a name
// and a property that both refuse.
func TestRun_Azure(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	const script = `set -e
		"$minibus" queue create large --max-message-size-in-kilobytes 2048
		"$minibus" queue create usual
		[ "$1" = both ] && "$minibus" send usual hello --property large="$(head -c 40000 /dev/zero | tr '\0' x)"
		exit 0`
	for _, c := range []struct {
		script, failOn string
		code           int
	}{
		{"set -- one\n" + script, "azure", 0}, {"set -- one\n" + script, "standard", 9}, {"set -- one\n" + script, "premium", 0},
		{"set -- both\n" + script, "azure", 9}, {"set -- both\n" + script, "premium", 9}, {"exit 0", "azure,standard,premium", 0},
	} {
		r := runScript(t, nil, []string{"--fail-on", c.failOn}, c.script)
		if code := r.code(t); code != c.code {
			t.Errorf("--fail-on %s: exit code %d, want %d\n%s%s", c.failOn, code, c.code, &r.out, &r.errors)
		}
		if text := r.errors.String(); strings.HasPrefix(c.script, "set -- both") && (!strings.Contains(text, "large") || !strings.Contains(text, "QUO-8")) {
			t.Errorf("the summary is\n%s", text)
		}
	}
}

// TestRun_ExitCodes are the command's, or those of a shell.
func TestRun_ExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags  []string
		script string
		code   int
	}{
		{nil, "exit 0", 0},
		{nil, "exit 7", 7},
		{[]string{"--fail-on", "left"}, `echo x | "$minibus" send queue.1; exit 7`, 7},
		{[]string{"--fail-on", "left,refused,dead-letter"}, "exit 0", 0},
		{nil, "kill -9 $$", 128 + 9},
		{nil, `exec /nowhere/at/all`, 127},
		{[]string{"--fail-on", "wrong"}, "exit 0", 2},
		{[]string{"--report", "s.txt"}, "exit 0", 2},
		{[]string{"--env", "A=B"}, "exit 0", 2},
		{[]string{"--config", "-"}, "exit 0", 2},
		{[]string{"--report", "no/such/dir/s.md"}, "exit 0", 2},
	} {
		if r := runScript(t, nil, c.flags, c.script); r.code(t) != c.code {
			t.Errorf("%v %s: exit code %d, want %d\n%s", c.flags, c.script, r.ProcessState.ExitCode(), c.code, &r.errors)
		}
	}
	for text, code := range map[string]int{"nowhere-at-all": 127, "/": 126} {
		cmd := exec.Command(harness.Binary(t), "run", "--", text)
		out, _ := cmd.CombinedOutput() // the exit code is what counts
		if cmd.ProcessState.ExitCode() != code || !strings.Contains(string(out), text) {
			t.Errorf("%s: exit code %d, want %d\n%s", text, cmd.ProcessState.ExitCode(), code, out)
		}
	}
	for _, args := range [][]string{{"run"}, {"run", "true"}, {"run", "true", "--", "false"}} {
		cmd := exec.Command(harness.Binary(t), args...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "after --") {
			t.Errorf("%v: exit code %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// TestRun_Environment puts one string into all variables, and takes nothing from the shell's usual server.
func TestRun_Environment(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "usual.db")
	r := runScript(t, []string{"MINIBUS_DATA=" + data, "MINIBUS_AMQP_PORT=1", "MINIBUS_PORTS_FILE=" + data + ".json",
		"SERVICEBUS_CONNECTION_STRING=Endpoint=sb://elsewhere", "AzureWebJobsServiceBus=elsewhere", "KEPT=kept"},
		[]string{"--env", "My__Bus", "--quiet"},
		`echo "$My__Bus"; echo "$SERVICEBUS_CONNECTION_STRING"; printenv AzureWebJobsServiceBus ConnectionStrings__ServiceBus \
			AZURE_SERVICEBUS_CONNECTION_STRING SPRING_CLOUD_AZURE_SERVICEBUS_CONNECTION_STRING; echo x | "$minibus" send queue.1; echo "$KEPT"`)
	if code := r.code(t); code != 0 || r.errors.Len() > 0 {
		t.Fatalf("exit code %d\n%s", code, &r.errors)
	}
	lines := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	if len(lines) < 7 || !strings.HasPrefix(lines[0], "Endpoint=sb://localhost:") || lines[len(lines)-1] != "kept" {
		t.Fatalf("the command sees\n%s", &r.out)
	}
	for _, line := range lines[:6] {
		if line != lines[0] {
			t.Errorf("a variable has %s, another one %s", line, lines[0])
		}
	}
	for _, file := range []string{data, data + ".json"} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s of the usual server was written", file)
		}
	}
}

// TestRun_Signals reach the command each time, and its exit code counts.
func TestRun_Signals(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	r := runScript(t, nil, nil, `n=0; trap 'n=$((n+1)); echo "signal $n"; [ $n = 2 ] && exit 42' INT
		echo ready; while :; do sleep 0.05; done`)
	lines := make(lineWriter, 16)
	r.Stdout = lines
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ready", "signal 1", "signal 2"} {
		lines.await(t, want)
		if want != "signal 2" {
			_ = r.Process.Signal(os.Interrupt) // an error: it has ended, which the next line tells
		}
	}
	_ = r.Wait()
	if code := r.ProcessState.ExitCode(); code != 42 {
		t.Errorf("exit code %d\n%s", code, &r.errors)
	}
}

// TestRun_SignalsBeforeTheCommand end the start, whatever it waits for: here a pipe that nobody writes to.
func TestRun_SignalsBeforeTheCommand(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	r := runScript(t, nil, nil, `mkfifo seed.jsonl
		"$minibus" run --quiet --seed seed.jsonl -- true & run=$!
		sleep 0.3; kill -TERM $run; wait $run; echo "ended with $?"`)
	if code := r.code(t); code != 0 || r.out.String() != "ended with 143\n" {
		t.Errorf("exit code %d\n%s%s", code, &r.out, &r.errors)
	}
}

// TestRun_ReportsThatFail are told, and hide neither the command's exit code nor that of --fail-on. One that can't be
// written at all is refused before the command starts.
func TestRun_ReportsThatFail(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	for _, c := range []struct {
		report, script string
		code           int
		told           string
	}{
		{"none/x.json", "echo started", 2, "there is no directory none"},
		{"gone/x.json,kept.json", "rm -r gone; exit 7", 7, "write the summary: open gone/x.json"},
		{"gone/x.json,kept.json", `rm -r gone; "$minibus" send queue.1 a`, 9, "write the summary: open gone/x.json"},
		{"gone/x.json,kept.json", "rm -r gone", 1, "write the summary: open gone/x.json"},
	} {
		r := runScript(t, nil, []string{"--fail-on", "left", "--report", c.report}, c.script)
		if err := os.Mkdir(filepath.Join(r.Dir, "gone"), 0o700); err != nil {
			t.Fatal(err)
		}
		if code := r.code(t); code != c.code || !strings.Contains(r.errors.String(), c.told) || strings.Contains(r.out.String(), "started") {
			t.Errorf("%s, %s: exit code %d, want %d\n%s%s", c.report, c.script, code, c.code, &r.out, &r.errors)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "kept.json")); (err == nil) != strings.Contains(c.report, "kept") {
			t.Errorf("%s: the other report: %v", c.report, err)
		}
	}
}

// TestRun_TellsWhatIsLost of traces, and of flags without a value.
func TestRun_TellsWhatIsLost(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	r := runScript(t, nil, []string{"--quiet", "--otlp", "http://127.0.0.1:1"}, `"$minibus" send queue.1 a`)
	if code := r.code(t); code != 0 || !strings.Contains(r.errors.String(), "connection refused") {
		t.Errorf("with a dead collector: exit code %d\n%s", code, &r.errors)
	}
	for _, flag := range []string{"--fail-on", "--report", "--env"} {
		r := runScript(t, nil, []string{flag, ""}, "true")
		if code := r.code(t); code != 2 || !strings.Contains(r.errors.String(), flag+": found nothing") {
			t.Errorf("%s without a value: exit code %d\n%s", flag, code, &r.errors)
		}
	}
}

// TestRun_LeavesNothing ends the processes that the command has left behind.
func TestRun_LeavesNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	r := runScript(t, nil, nil, `(trap '' TERM; while :; do sleep 1; done) >/dev/null 2>&1 & echo $!`)
	if code := r.code(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, &r.errors)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(r.out.String()))
	if err != nil {
		t.Fatal(err)
	}
	left, err := os.FindProcess(pid)
	for until := time.Now().Add(patience); err == nil && left.Signal(syscall.Signal(0)) == nil; time.Sleep(20 * time.Millisecond) {
		if status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(status), ") Z ") {
			return // dead, and nobody has asked for its exit code yet
		}
		if time.Now().After(until) {
			t.Fatal("the process is still there")
		}
	}
}

// lineWriter passes on what is written, line by line.
type lineWriter chan string

func (w lineWriter) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		w <- strings.TrimSpace(line)
	}
	return len(text), nil
}

func (w lineWriter) await(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-w:
		if got != want {
			t.Fatalf("the command prints %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("no %q", want)
	}
}

// TestRun_Keep keeps the server until an interrupt.
func TestRun_Keep(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	t.Parallel()
	r := runScript(t, nil, []string{"--keep"}, "exit 3")
	lines := make(lineWriter, 64)
	r.Stderr = lines
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	for line := range lines {
		if strings.Contains(line, "until you press Ctrl-C") {
			break
		}
	}
	_ = r.Process.Signal(os.Interrupt)
	_ = r.Wait()
	if code := r.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// TestRun_Namespaces tells the dead letters of queues with the same name apart.
func TestRun_Namespaces(t *testing.T) {
	t.Parallel()
	r := runScript(t, nil, []string{"--report", "s.json,s.md"}, `set -e
		cs=$(echo '{"Queues":[{"Name":"queue.1"}]}' | "$minibus" namespace create second-bus --entities - -o json | sed -n 's/.*"connectionString": "\([^"]*\)".*/\1/p')
		for c in "$SERVICEBUS_CONNECTION_STRING" "$cs"; do
			echo x | "$minibus" send queue.1 -c "$c"
			"$minibus" receive queue.1 --dead-letter --reason same -c "$c"
		done`)
	if code := r.code(t); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &r.out, &r.errors)
	}
	var sum struct {
		DeadLetters []struct {
			Namespace, Entity, Reason string
			Count                     int
		}
	}
	read(t, filepath.Join(r.Dir, "s.json"), json.Unmarshal, &sum)
	if want := "[{sbemulatorns queue.1 same 1} {second-bus queue.1 same 1}]"; fmt.Sprint(sum.DeadLetters) != want {
		t.Errorf("dead letters %v, want %s", sum.DeadLetters, want)
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, "s.md"))
	if err != nil || !strings.Contains(string(text), "dead-lettered from second-bus: queue.1: same | 1 |") || !strings.Contains(string(text), "dead-lettered from queue.1: same | 1 |") ||
		!strings.Contains(r.errors.String(), "  dead-lettered  second-bus: queue.1  1  same\n") {
		t.Errorf("%v\n%s%s", err, text, &r.errors)
	}
}
