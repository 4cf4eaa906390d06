// Package exchange proves that what each SDK sends every SDK receives intact: each property, each type and each body, in all
// pairs. The programs of the other languages stand beside their suites.
package exchange

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

//go:embed samples.json
var samplesText []byte

// clients are the SDKs. Each sends to the topic of its name, on which each has a subscription.
var clients = []string{"go", "js", "python", "java"}

// A client sends samples to a topic, and receives what subscriptions of its name have.
type client interface {
	send(samples []sample, topic string)
	receive(count map[string]int) map[string][]sample // by topic
}

const patience = 3 * time.Minute

// TestWhatEachSendsEveryOneReceives sends all samples with each SDK and compares what each SDK shows of them.
func TestWhatEachSendsEveryOneReceives(t *testing.T) {
	harness.NeedAll(t, "to run the clients of all languages")
	all := readSamples(t)
	sent := make(map[string][]sample)
	counts := make(map[string]int)
	for _, name := range clients {
		sent[name] = sendable(t, all, name)
		counts[name] = len(sent[name])
	}
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, nil, topics())})
	sides := sidesOf(t, server)
	for _, name := range clients {
		sides[name].send(sent[name], name)
	}
	bad := make(map[[2]string]bool) // by client and sample: what did not arrive, from it or at it
	for _, to := range clients {
		for from, got := range sides[to].receive(readable(counts, to)) {
			for id, fault := range compare(sent[from], got, from, to) {
				t.Errorf("%s from %s to %s: %s", id, from, to, fault)
				bad[[2]string{from, id}], bad[[2]string{to, id}] = true, true
			}
		}
	}
	for _, name := range clients {
		for _, s := range sent[name] {
			if id := s["id"].(string); !bad[[2]string{name, id}] {
				cases.Note(t, name, versionOf(t, name), "compat-tests/exchange/samples.json", id)
			}
		}
	}
}

// A pair is a sample on its way from one client to another.
type pair struct{ from, to, id string }

// unreadable are the samples that the receiving SDK fails on, and its receiver with it. The Java SDK's library wants symbols as the
// keys of a footer, as the standard says; every SDK writes texts. Of several data sections it shows the first.
var unreadable = map[pair]bool{
	{"go", "java", "raw.footer"}: true, {"js", "java", "raw.footer"}: true, {"python", "java", "raw.footer"}: true,
	{"go", "java", "body.sections"}: true, {"python", "java", "body.sections"}: true,
}

// topics are one for each sender, with a subscription for each receiver.
func topics() []harness.Topic {
	var list []harness.Topic
	for _, name := range clients {
		topic := harness.Topic{Name: name}
		for _, receiver := range clients {
			rule := harness.Rule{Name: "readable", SQL: "1=1"}
			for p := range unreadable {
				if p.from == name && p.to == receiver {
					rule.SQL += fmt.Sprintf(" AND sys.MessageId <> '%s'", p.id)
				}
			}
			topic.Subscriptions = append(topic.Subscriptions, harness.Subscription{
				Queue: harness.Queue{Name: receiver}, Rules: []harness.Rule{rule}})
		}
		list = append(list, topic)
	}
	return list
}

// readable are the numbers of messages that a client is to receive, by topic.
func readable(counts map[string]int, to string) map[string]int {
	counts = maps.Clone(counts)
	for p := range unreadable {
		if p.to == to {
			counts[p.from]--
		}
	}
	return counts
}

func sidesOf(t *testing.T, server *harness.Server) map[string]client {
	return map[string]client{
		"go": newSDK(t, server),
		"js": script{t, server, func(args ...string) *exec.Cmd {
			harness.InstallNodeModules(t, "../js")
			return inDir("../js", "node", append([]string{"exchange.mjs"}, args...)...)
		}, "js"},
		"python": script{t, server, func(args ...string) *exec.Cmd {
			return inDir("../python", harness.Python(t, "../python"), append([]string{"exchange.py"}, args...)...)
		}, "python"},
		"java": maven{t, server, harness.MavenCopy(t, "../java")},
	}
}

func inDir(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

// run runs a program and returns what it printed.
func run(t *testing.T, server *harness.Server, cmd *exec.Cmd) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	bounded := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	bounded.Dir = cmd.Dir
	bounded.Env = append(os.Environ(), server.Environ()...)
	var out, problems bytes.Buffer
	bounded.Stdout, bounded.Stderr = &out, &problems
	if err := bounded.Run(); err != nil {
		t.Fatalf("run %s: %v\n%s%s", cmd, err, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}

// script is a program of a language that does one thing at a time.
type script struct {
	t       *testing.T
	server  *harness.Server
	command func(args ...string) *exec.Cmd
	name    string
}

func (s script) send(samples []sample, topic string) {
	s.t.Helper()
	run(s.t, s.server, s.command("send", writeSamples(s.t, samples), topic))
}

func (s script) receive(counts map[string]int) map[string][]sample {
	s.t.Helper()
	all := make(map[string][]sample)
	for topic, count := range counts {
		all[topic] = parseLines(s.t, run(s.t, s.server, s.command("receive", fmt.Sprint(count), topic, s.name)))
	}
	return all
}

// maven runs the Java side, which starts slowly and so receives everything at once.
type maven struct {
	t       *testing.T
	server  *harness.Server
	project string
}

func (m maven) run(test, job string) {
	m.t.Helper()
	harness.Maven(m.t, m.project, append(m.server.Environ(), job), "-Dtest=Exchange#"+test)
}

func (m maven) send(samples []sample, topic string) {
	m.t.Helper()
	m.run("send", "MINIBUS_SEND="+writeSamples(m.t, samples)+" "+topic)
}

func (m maven) receive(counts map[string]int) map[string][]sample {
	m.t.Helper()
	dir := m.t.TempDir()
	var jobs []string
	for topic, count := range counts {
		jobs = append(jobs, fmt.Sprintf("%d %s java %s", count, topic, filepath.Join(dir, topic)))
	}
	m.run("receive", "MINIBUS_RECEIVE="+strings.Join(jobs, ","))
	all := make(map[string][]sample)
	for topic := range counts {
		lines, err := os.ReadFile(filepath.Join(dir, topic))
		if err != nil {
			m.t.Fatalf("read what Java received: %v", err)
		}
		all[topic] = parseLines(m.t, lines)
	}
	return all
}

// compare says what is wrong with the messages of a sender at a receiver, by sample.
func compare(sent, got []sample, from, to string) map[string]string {
	faults := make(map[string]string)
	for _, want := range sent {
		id := want["id"].(string)
		if unreadable[pair{from, to, id}] {
			continue
		}
		at := slices.IndexFunc(got, func(m sample) bool { return m["id"] == id })
		if at < 0 {
			faults[id] = "it did not come"
			continue
		}
		shown := got[at]
		for _, part := range []string{"properties", "app", "body", "header", "annotations", "footer"} {
			expected, found := view(from, to, want.part(part)), view("", to, without(shown[part], "x-opt-"))
			if !reflect.DeepEqual(expected, found) {
				faults[id] = fmt.Sprintf("%s: %v, want %v", part, found, expected)
			}
		}
	}
	return faults
}
