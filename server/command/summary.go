package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"minibus/emulator"
	"minibus/server"
)

// summary is what happened to messages while a command ran. Its JSON is that of --report FILE.json.
type summary struct {
	Command  []string `json:"command"`
	ExitCode int      `json:"exitCode"`
	Seconds  float64  `json:"seconds"`

	Messages    []counted      `json:"messages"` // in the order of a message's way
	DeadLetters []deadLettered `json:"deadLetters"`
	Left        []leftBehind   `json:"left"`
	Refusals    []refusal      `json:"refusals"` // of links and tokens, as far as they are remembered
	Azure       []beyondAzure  `json:"azure"`
	Checks      []check        `json:"checks"`
}

// counted is how often something has happened to messages.
type counted struct {
	Event string `json:"event"`
	Count int64  `json:"count"`
}

type deadLettered struct {
	Namespace string `json:"namespace"`
	Entity    string `json:"entity"`
	Reason    string `json:"reason"`
	Count     int64  `json:"count"`

	inDefault bool // the namespace is the default one
}

// leftBehind is what an entity still holds at the end.
type leftBehind struct {
	Namespace   string `json:"namespace"`
	Entity      string `json:"entity"`
	Active      int64  `json:"active"` // with locked and deferred ones
	Scheduled   int64  `json:"scheduled"`
	DeadLetters int64  `json:"deadLetters"`

	inDefault bool // the namespace is the default one
}

type refusal struct {
	Entity    string `json:"entity"`
	Operation string `json:"operation"`
	Text      string `json:"text"`
	Count     int    `json:"count"`
}

// check is something that --fail-on can name.
type check struct {
	Name    string `json:"name"`
	Count   int64  `json:"count"`
	Failed  bool   `json:"failed"` // it has happened, and --fail-on names it
	problem string // the sentence for people
}

// The names of --fail-on.
const (
	checkDeadLetter = "dead-letter"
	checkLeft       = "left"
	checkRefused    = "refused"
	checkAzure      = "azure" // every tier of Azure refuses something
	checkStandard   = "standard"
	checkPremium    = "premium"
)

var checkNames = []string{checkDeadLetter, checkLeft, checkRefused, checkAzure, checkStandard, checkPremium}

// reported are the events of a summary. Those at the end stand there only if they have happened.
var reported = []struct {
	name   string
	kinds  []emulator.EventKind
	always bool
}{
	{"sent", []emulator.EventKind{emulator.EventSent, emulator.EventScheduled}, true},
	{"delivered", []emulator.EventKind{emulator.EventDelivered, emulator.EventDeliveredDeleted}, true},
	{"completed", []emulator.EventKind{emulator.EventCompleted, emulator.EventDeliveredDeleted}, true},
	{"dead-lettered", []emulator.EventKind{emulator.EventDeadLettered}, true},
	{"scheduled", []emulator.EventKind{emulator.EventScheduled}, false},
	{"copied to subscriptions", []emulator.EventKind{emulator.EventCopied}, false},
	{"abandoned", []emulator.EventKind{emulator.EventAbandoned}, false},
	{"deferred", []emulator.EventKind{emulator.EventDeferred}, false},
	{"locks expired", []emulator.EventKind{emulator.EventLockExpired}, false},
	{"session locks lost", []emulator.EventKind{emulator.EventSessionBroken}, false},
	{"expired", []emulator.EventKind{emulator.EventExpired}, false},
	{"duplicates dropped", []emulator.EventKind{emulator.EventDuplicate}, false},
	{"cancelled", []emulator.EventKind{emulator.EventCancelled}, false},
	{"purged", []emulator.EventKind{emulator.EventPurged}, false},
	{"sends refused", []emulator.EventKind{emulator.EventRefusedSend}, false},
	{"settlements refused", []emulator.EventKind{emulator.EventRefusedSettlement}, false},
	{"faults hit", []emulator.EventKind{emulator.EventFault}, false},
}

// summarize asks the server what has happened.
func summarize(a *server.Server, command []string, code int, took time.Duration) *summary {
	sum := &summary{Command: command, ExitCode: code, Seconds: math.Round(took.Seconds()*1000) / 1000,
		DeadLetters: []deadLettered{}, Left: []leftBehind{}, Refusals: []refusal{}, Azure: findBeyond(a)}
	tally := a.Namespace().History().Record().Tally()
	for _, r := range reported {
		n := int64(0)
		for _, kind := range r.kinds {
			n += tally.Events[kind]
		}
		if n > 0 || r.always {
			sum.Messages = append(sum.Messages, counted{r.name, n})
		}
	}
	for group, n := range tally.DeadLetters {
		sum.DeadLetters = append(sum.DeadLetters, deadLettered{group.Namespace, group.Entity, group.Reason, n,
			group.Namespace == a.Namespace().Name()})
	}
	slices.SortFunc(sum.DeadLetters, func(x, y deadLettered) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Namespace, y.Namespace),
			cmp.Compare(x.Entity, y.Entity), cmp.Compare(x.Reason, y.Reason))
	})
	refused := tally.Events[emulator.EventRefusedSend] + tally.Events[emulator.EventRefusedSettlement]
	held := int64(0)
	for _, ns := range a.Broker().Namespaces() {
		for _, kind := range []emulator.EntityKind{emulator.KindQueue, emulator.KindTopic, emulator.KindSubscription} {
			entities, _ := ns.Entities().Page(kind, 0, math.MaxInt)
			for _, e := range entities {
				c := e.Counts()
				l := leftBehind{Namespace: ns.Name(), Entity: e.Path(), Active: c.Active + c.Transfer,
					Scheduled: c.Scheduled, DeadLetters: c.DeadLetter + c.TransferDeadLetter,
					inDefault: ns == a.Broker().Default()}
				if l.Active+l.Scheduled+l.DeadLetters > 0 {
					sum.Left = append(sum.Left, l)
				}
				held += l.Active + l.Scheduled
			}
		}
		refused += sum.addRefusals(a.Refusals(ns))
	}
	dead := int64(0)
	for _, d := range sum.DeadLetters {
		dead += d.Count
	}
	sum.Checks = []check{
		{Name: checkDeadLetter, Count: dead, problem: plural(dead, "message was", "messages were") + " dead-lettered"},
		{Name: checkLeft, Count: held, problem: plural(held, "message was", "messages were") + " left behind"},
		{Name: checkRefused, Count: refused, problem: plural(refused, "operation was", "operations were") + " refused"},
	}
	for _, name := range []string{checkAzure, checkStandard, checkPremium} {
		c := check{Name: name}
		for _, b := range sum.Azure {
			if name == checkAzure && len(b.Tiers) == len(server.Tiers) || slices.Contains(b.Tiers, name) {
				c.Count++
			}
		}
		who := "the tier " + name + " of Azure"
		if name == checkAzure {
			who = "Azure"
		}
		c.problem = who + " would refuse " + plural(c.Count, "thing", "things")
		sum.Checks = append(sum.Checks, c)
	}
	return sum
}

// addRefusals counts equal refusals together, and returns how many there are.
func (sum *summary) addRefusals(all []emulator.Refusal) int64 {
	for _, r := range all {
		i := slices.IndexFunc(sum.Refusals, func(x refusal) bool {
			return x.Entity == r.Entity && x.Operation == r.Operation && x.Text == r.Text
		})
		if i < 0 {
			i = len(sum.Refusals)
			sum.Refusals = append(sum.Refusals, refusal{r.Entity, r.Operation, r.Text, 0})
		}
		sum.Refusals[i].Count++
	}
	return int64(len(all))
}

// judge decides which checks have failed.
func (sum *summary) judge(failOn []string) {
	for i := range sum.Checks {
		c := &sum.Checks[i]
		c.Failed = c.Count > 0 && slices.Contains(failOn, c.Name)
	}
}

func (sum *summary) failed() bool {
	return slices.ContainsFunc(sum.Checks, func(c check) bool { return c.Failed })
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxShown is how many entities, reasons and refusals the text shows of each.
const maxShown = 10

// text returns the summary for a terminal.
func (sum *summary) text() string {
	var b strings.Builder
	var parts []string
	for _, m := range sum.Messages {
		parts = append(parts, fmt.Sprintf("%d %s", m.Count, m.Event))
	}
	fmt.Fprintf(&b, "\nminibus: %s\n", strings.Join(parts, ", "))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	list := func(n int, line func(int) string) {
		for i := range min(n, maxShown) {
			fmt.Fprintf(w, "  %s\n", line(i))
		}
		if more := n - maxShown; more > 0 {
			fmt.Fprintf(w, "  and %d more\n", more)
		}
		_ = w.Flush()
	}
	list(len(sum.DeadLetters), func(i int) string {
		d := sum.DeadLetters[i]
		return fmt.Sprintf("dead-lettered\t%s\t%d\t%s", placed(d.Namespace, d.Entity, d.inDefault), d.Count, d.Reason)
	})
	list(len(sum.Left), func(i int) string { return "left behind\t" + sum.Left[i].String() })
	list(len(sum.Refusals), func(i int) string {
		r := sum.Refusals[i]
		return fmt.Sprintf("refused\t%s\t%d\t%s: %s", cmp.Or(r.Entity, "-"), r.Count, r.Operation, r.Text)
	})
	list(len(sum.Azure), func(i int) string { return "Azure refuses\t" + sum.Azure[i].String() })
	for _, c := range sum.Checks {
		if c.Failed {
			fmt.Fprintf(&b, "minibus: failed, since %s (--fail-on %s)\n", c.problem, c.Name)
		}
	}
	return b.String()
}

// String says what is left in an entity.
func (l leftBehind) String() string {
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{l.Active, "active"}, {l.Scheduled, "scheduled"}, {l.DeadLetters, "in the dead-letter queue"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return placed(l.Namespace, l.Entity, l.inDefault) + "\t" + strings.Join(parts, ", ")
}

// placed returns an entity, of another namespace than the default one with that.
func placed(namespace, entity string, inDefault bool) string {
	if inDefault {
		return entity
	}
	return namespace + ": " + entity
}

// reportForm returns what writes the summary to a file of this name; nil: nothing does.
func reportForm(file string) func(*summary) []byte {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json":
		return (*summary).json
	case ".xml":
		return (*summary).junit
	case ".md":
		return (*summary).markdown
	}
	return nil
}

func (sum *summary) json() []byte {
	text, err := json.MarshalIndent(sum, "", "  ")
	if err != nil {
		panic(err) // numbers and strings
	}
	return append(text, '\n')
}

// junit returns a suite with a case for each check. Those that --fail-on does not name pass.
func (sum *summary) junit() []byte {
	type failure struct {
		Message string `xml:"message,attr"`
	}
	type testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure,omitempty"`
	}
	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Time     float64    `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
		Out      string     `xml:"system-out"`
	}{Name: "minibus", Tests: len(sum.Checks), Time: sum.Seconds, Out: sum.text()}
	for _, c := range sum.Checks {
		t := testCase{Class: "minibus", Name: c.Name}
		if c.Failed {
			suite.Failures++
			t.Failure = &failure{c.problem}
		}
		suite.Cases = append(suite.Cases, t)
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		panic(err) // numbers and strings
	}
	return slices.Concat([]byte(xml.Header), text, []byte("\n"))
}

var markdownEscapes = strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", `\`+"`")

// markdown returns the summary for the page of a job.
func (sum *summary) markdown() []byte {
	var b bytes.Buffer
	b.WriteString("### Minibus\n\n| Messages | |\n| --- | ---: |\n")
	for _, m := range sum.Messages {
		fmt.Fprintf(&b, "| %s | %d |\n", m.Event, m.Count)
	}
	for _, d := range sum.DeadLetters {
		fmt.Fprintf(&b, "| dead-lettered from %s: %s | %d |\n",
			markdownEscapes.Replace(placed(d.Namespace, d.Entity, d.inDefault)), markdownEscapes.Replace(d.Reason),
			d.Count)
	}
	for _, l := range sum.Left {
		fmt.Fprintf(&b, "| left in %s | %d |\n", markdownEscapes.Replace(placed(l.Namespace, l.Entity, l.inDefault)),
			l.Active+l.Scheduled+l.DeadLetters)
	}
	for _, r := range sum.Refusals {
		fmt.Fprintf(&b, "| %s refused: %s | %d |\n", markdownEscapes.Replace(r.Operation),
			markdownEscapes.Replace(r.Text), r.Count)
	}
	for _, r := range sum.Azure {
		fmt.Fprintf(&b, "| Azure refuses: %s | %d |\n",
			markdownEscapes.Replace(strings.ReplaceAll(r.String(), "\t", " ")), r.Count)
	}
	for _, c := range sum.Checks {
		if c.Failed {
			fmt.Fprintf(&b, "\n**Failed:** %s.\n", c.problem)
		}
	}
	b.WriteString("\n")
	return b.Bytes()
}
