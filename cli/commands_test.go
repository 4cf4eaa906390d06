package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
)

// fake is a control API whose answers are given. It notes the requests.
type fake struct {
	*httptest.Server
	answers map[string]string // by "METHOD path", without the prefix; a status may stand in front, "404 {...}"

	mu    sync.Mutex
	asked []string // "METHOD path?query body"
}

func newFake(t *testing.T, answers map[string]string) *fake {
	t.Helper()
	f := &fake{answers: answers}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "Minibus/1")
	if r.URL.Path == "/health" {
		return
	}
	body, _ := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.EscapedPath(), controlPrefix+thisNamespace+"/")
	line := r.Method + " " + path
	answer, known := f.answers[line]
	if r.URL.RawQuery != "" {
		if special, ok := f.answers[line+"?"+r.URL.RawQuery]; ok {
			answer, known = special, true
		}
		line += "?" + r.URL.RawQuery
	}
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimSpace(line+" "+strings.TrimSpace(string(body))))
	f.mu.Unlock()
	status := http.StatusOK
	if !known {
		status = http.StatusNotFound
		answer = `{"detail": "there is no ` + path + `"}`
	}
	if _, err := fmt.Sscanf(answer, "%d {", &status); err == nil {
		answer = answer[4:]
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// run runs a command line against the fake, and returns its two outputs and its exit code. The error is at the end of the second.
func (f *fake) run(t *testing.T, stdin string, args ...string) (out, notes string, code int) {
	t.Helper()
	f.mu.Lock()
	f.asked = nil
	f.mu.Unlock()
	connection := strings.Replace(f.URL, "http", "Endpoint=sb", 1) +
		";SharedAccessKeyName=root;SharedAccessKey=a-key;UseDevelopmentEmulator=true"
	return runIn(t, []string{"SERVICEBUS_CONNECTION_STRING=" + connection}, stdin, args...)
}

// runIn runs a command line with an environment.
func runIn(t *testing.T, environ []string, stdin string, args ...string) (out, notes string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context()) // as the program's, it has no deadline
	defer cancel()
	server := &cobra.Command{Use: "minibus", Long: "a server", RunE: func(*cobra.Command, []string) error { return nil }}
	err := Run(ctx, server, args, Environment{
		Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Environ: environ,
		Authority: func() (string, error) { return "", errors.New("none") },
	})
	if err != nil {
		code = exitFailed
		var f *failure
		if errors.As(err, &f) {
			code = f.code
		}
		stderr.WriteString(err.Error())
	}
	return stdout.String(), stderr.String(), code
}

const (
	clockJSON = `{"now":"2026-01-02T03:04:05Z","offset":"PT1H","frozen":true,"due":[
		{"at":"2026-01-02T03:05:00Z","entity":"orders","kind":"lockEnds"}]}`
	connectionJSON = `{"id":"c1","remote":"127.0.0.1:5","transport":"tcp","product":"azsdk","version":"1.2","container":"billing",
		"since":"2026-01-02T03:04:05.5Z","policies":["root"],"busy":false,"ending":false,"pendingBytes":7,"more":1,"links":[
		{"id":2,"role":"receiver","address":"orders","mode":"peekLock","selector":"n > 6","credit":10,"unsettled":3,"sessionWindow":5,"deliveries":8,
		"waitsFor":"message"},{"id":3,"role":"sender","address":"$cbs"}]}`
	snapshotJSON = `{"name":"seeded","saved":"2026-01-02T03:04:05Z","now":"2026-01-02T03:04:05Z","frozen":true,"entities":2,"messages":30,
		"bytes":400}`
	faultJSON   = `{"id":4,"kind":"delay","operations":["send","receive"],"delayMilliseconds":500,"after":true,"state":"active","hits":6}`
	sessionJSON = `{"id":"s1","active":1,"locked":2,"deferred":3,"scheduled":4,"holder":"me","lockedUntil":"2026-01-02T03:04:05Z","stateBytes":5}`
	messageJSON = `{"sequenceNumber":12,"state":"locked","enqueuedTime":"2026-01-02T03:04:05Z","messageId":"m1","subject":"red",
		"deliveryCount":2,"lockedBy":"me","deadLetterReason":"poison","body":"hello","applicationProperties":{"size":{"int":5}}}`
	eventJSON = `{"number":9,"time":"2026-01-02T03:04:05.678Z","kind":"sent","entity":"orders","text":"sent by me"}`
)

// TestTables compares what commands print for people, and what they ask.
func TestTables(t *testing.T) {
	f := newFake(t, map[string]string{
		"GET clock": clockJSON, "POST clock/advance": clockJSON, "PUT clock": clockJSON, "POST clock/freeze": clockJSON,
		"GET connections": `{"items":[` + connectionJSON + `],"next":"more"}`, "GET connections?cursor=more&entity=orders": `{"items":[]}`,
		"GET connections/c1": connectionJSON, "DELETE connections/c1": `{}`, "DELETE connections/c1/links/2": `{}`,
		"GET refusals": `{"items":[{"time":"2026-01-02T03:04:05Z","operation":"attach","entity":"orders","subQueue":"$DeadLetterQueue",
			"condition":"amqp:not-found","text":"none","client":{"connection":"c1","remote":"r","container":"a container with a long name"}}]}`,
		"GET snapshots": `{"items":[` + snapshotJSON + `]}`, "POST snapshots": snapshotJSON, "GET snapshots/seeded": snapshotJSON,
		"POST snapshots/seeded/restore": snapshotJSON, "DELETE snapshots/seeded": `{}`,
		"GET faults": `{"items":[` + faultJSON + `]}`, "POST faults": faultJSON, "DELETE faults/4": `{}`, "DELETE faults": `{}`,
		"GET entities/orders/sessions": `{"items":[` + sessionJSON + `]}`, "GET entities/orders/sessions/s1": sessionJSON,
		"GET entities/orders/sessions/s1/state": `{"text":"half done"}`, "PUT entities/orders/sessions/s1/state": `{}`,
		"DELETE entities/orders/sessions/s1/state": `{}`, "POST entities/orders/sessions/$empty/break": `{}`,
		"GET entities/orders/messages": `{"items":[` + messageJSON + `]}`, "GET entities/orders/messages/12": messageJSON,
		"GET entities/orders/messages/12/body": "raw", "DELETE entities/orders/messages": `{}`,
		"PATCH entities/orders/messages/12": `{"sequenceNumber":12,"scheduledEnqueueTime":"2026-01-31T12:00:00Z"}`,
		"GET history":                       `{"items":[` + eventJSON + `],"next":10,"oldest":1}`,
		"GET history/life":                  `{"items":[` + eventJSON + `]}`,
		"GET entities/orders/why": `{"entity":"orders","available":3,"receivers":0,"findings":[
			{"code":"noReceiver","blocks":true,"text":"Nobody receives.","fix":"Start a receiver."}]}`,
		"POST wait": `{"met":true,"events":0,"text":"no messages"}`,
		"POST entities/events/match": `{"topic":"events","duplicate":false,"subscriptions":[{"name":"red","status":"Active","copies":[
			{"rule":"r","changes":[{"property":"a","before":1,"after":"x"}],"forwards":["bulk"]}],"rules":[]},
			{"name":"blue","status":"Disabled","copies":[],"rules":[{"name":"b","outcome":"false","reasons":[{"text":"color is 'red'"}]}]}]}`,
		"POST config/diff": `{"same":false,"applied":false,"summary":{"create":1,"change":1,"keep":2,"leave":1},"notes":["a note"],"entities":[
			{"path":"q","kind":"queue","action":"create"},{"path":"p","kind":"queue","action":"change","settings":[
			{"name":"MaxDeliveryCount","from":3,"to":7},{"name":"RequiresSession","from":false,"to":true,"fixed":true}]}]}`,
		"GET config": `{"UserConfig": {}}`, "POST reset": `{}`,
		"POST jobs": `{"id":3,"state":"done","done":5,"skipped":1}`,
	})
	file := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ line, out, asked string }{
		{"clock show", "now     2026-01-02T03:04:05Z\noffset  PT1H\nfrozen  true\n" +
			"due     2026-01-02T03:05:00Z  orders: the lock of a message ends\n", "GET clock"},
		{"clock advance 1d12h", "now ", `POST clock/advance {"by":"P1DT12H"}`},
		{"clock set 2030-01-01T00:00:00Z", "now ", `PUT clock {"now":"2030-01-01T00:00:00Z"}`},
		{"clock freeze", "now ", "POST clock/freeze"},
		{"conn ls --entity orders", "ID  REMOTE       TRANSPORT  SDK        RECEIVES  SENDS  STATE  SINCE                   CONTAINER\n" +
			"c1  127.0.0.1:5  tcp        azsdk 1.2  orders           open   2026-01-02T03:04:05.5Z  billing\n",
			"GET connections?entity=orders"},
		{"conn show c1", "LINK  ROLE      ADDRESS  MODE      SESSION  SELECTOR  CREDIT  UNSETTLED  WINDOW  MESSAGES  WAITS FOR\n" +
			"   2  receiver  orders   peekLock           n > 6         10          3       5         8  message\n", "GET connections/c1"},
		{"conn show c1", "pending-bytes  7\n", "GET connections/c1"},
		{"conn close c1 c1/2", "closed connection c1\ndetached link c1/2\n", "DELETE connections/c1/links/2"},
		{"conn refused", "orders/$DeadLetterQueue  amqp:not-found", "GET refusals"},
		{"snapshot ls", "NAME    SAVED                 ENTITIES  MESSAGES  BYTES  CLOCK\n" +
			"seeded  2026-01-02T03:04:05Z         2        30    400  2026-01-02T03:04:05Z frozen\n", "GET snapshots"},
		{"snapshot save seeded --replace", "saved the snapshot seeded: messages: 30, entities: 2\n",
			`POST snapshots {"name":"seeded","replace":true}`},
		{"snapshot restore seeded", "restored the snapshot seeded: messages: 30, entities: 2\n", "POST snapshots/seeded/restore"},
		{"snapshot rm seeded", "deleted the snapshot seeded\n", "DELETE snapshots/seeded"},
		{"fault ls", "ID  KIND               OPERATIONS    ENTITY  CLIENT  STATE   HITS  UNTIL\n" +
			" 4  delay 500ms after  send receive                  active     6\n", "GET faults"},
		{"fault add delay --delay 500ms --after --count 2 --for 1m --operation send,receive",
			"injected fault 4: delay 500ms after hits send, receive\n",
			`POST faults {"kind":"delay","operations":["send","receive"],"delayMilliseconds":500,"after":true,"count":2,"for":"PT1M"}`},
		{"fault rm 4", "removed fault 4\n", "DELETE faults/4"},
		{"fault rm --all", "removed all faults\n", "DELETE faults"},
		{"sessions ls orders", "SESSION  ACTIVE  LOCKED  DEFERRED  SCHEDULED  STATE  HOLDER  LOCKED-UNTIL\n" +
			"s1            1       2         3          4      5  me      2026-01-02T03:04:05Z\n", "GET entities/orders/sessions?limit=1000"},
		{"sessions show orders s1", "state          half done\n", "GET entities/orders/sessions/s1/state"},
		{"sessions set orders s1 half", "wrote the state of the session s1\n",
			`PUT entities/orders/sessions/s1/state {"text":"half"}`},
		{"sessions clear orders s1", "cleared the state of the session s1\n", "DELETE entities/orders/sessions/s1/state"},
		{"message ls orders --state locked,active --newest -n 5 --where a=1", "NUMBER  STATE   ENQUEUED              ID  SUBJECT",
			"GET entities/orders/messages?body=4096&limit=5&order=newest&properties=true&sql=a%3D1&state=locked%2Cactive"},
		{"message show orders 12", "locked-by   me\n", "GET entities/orders/messages/12?body=1048576"},
		{"message body orders 12", "raw", "GET entities/orders/messages/12/body"},
		{"message rm orders 12 14", "deleted 2 messages from orders\n", "DELETE entities/orders/messages?sequenceNumbers=12,14"},
		{"message reschedule orders 12 2026-01-31T12:00:00Z", "message 12 becomes active at 2026-01-31T12:00:00Z\n",
			`PATCH entities/orders/messages/12 {"scheduledEnqueueTime":"2026-01-31T12:00:00Z"}`},
		{"history --kind sent --client me", "TIME                      AFTER  EVENT  WHAT HAPPENED\n" +
			"2026-01-02T03:04:05.678Z         sent   sent by me\n", "GET history?client=me&cursor=0&kind=sent&limit=20&order=newest"},
		{"history --since 1h", "sent by me", "GET history?cursor=0&limit=20&order=newest&since=2026-01-02T02%3A04%3A05Z"},
		{"history order-7", "sent by me", "GET history/life?messageId=order-7"},
		{"history orders#12", "sent by me", "GET history/life?entity=orders&sequenceNumber=12"},
		{"why orders --client me", "orders: available messages: 3, attached receivers: 0\n! noReceiver  Nobody receives.\n" +
			"              -> Start a receiver.\n", "GET entities/orders/why?client=me"},
		{"wait orders --active 0-5 --dead-letter 1+ --idle --timeout 2m", "met: no messages\n",
			`POST wait {"timeoutSeconds":120,"entity":"orders","counts":[{"of":"active","most":5},{"of":"deadLetter","least":1}],"idle":true}`},
		{"wait --events deadLettered,expired=2 --from 7", "met: 0 of 2 events\n",
			`POST wait {"timeoutSeconds":30,"events":{"kinds":["deadLettered","expired"],"times":2,"from":7}}`},
		{"rule test events -p size=int:5 --subject order", "red: reached\n  a copy by rule r\n    a: 1 -> \"x\"\n    goes on to bulk\n" +
			"blue: not reached, status Disabled\n  rule b is false\n    color is 'red'\n",
			`POST entities/events/match {"message":{"subject":"order","applicationProperties":{"size":{"int":5}}}}`},
		{"config print", `{"UserConfig": {}}`, "GET config"},
		{"config apply " + file, "", "POST config {}"},
		{"purge orders --scheduled --number 4,5 -n 9", "purged 5 messages from orders\n",
			`POST jobs {"kind":"purge","entity":"orders","max":9,"filter":{"states":["scheduled"],"sequenceNumbers":[4,5]}}`},
		{"dlq resubmit orders --where a=1 --set b=int:2 --unset c --body x --to other",
			"resubmitted 5 dead letters from orders/$DeadLetterQueue to other\n",
			`POST jobs {"kind":"resubmit","entity":"orders/$DeadLetterQueue","target":"other","filter":{"sql":"a=1"},` +
				`"edit":{"strip":true,"removeProperties":["c"],"properties":{"b":{"int":2}},"body":"x"}}`},
	} {
		out, notes, code := f.run(t, "", strings.Fields(tt.line)...)
		last := ""
		if len(f.asked) > 0 {
			last = f.asked[len(f.asked)-1]
		}
		unanswered := strings.HasPrefix(tt.line, "config apply")
		if (code != 0) != unanswered || !strings.Contains(out, tt.out) {
			t.Errorf("minibus %s: code %d, %s\n%s", tt.line, code, notes, out)
		}
		if strings.HasPrefix(tt.line, "conn ls") || tt.line == "conn show c1" {
			last = f.asked[0]
		}
		if last != tt.asked {
			t.Errorf("minibus %s asks %s\nwant %s", tt.line, last, tt.asked)
		}
	}
	out, notes, code := f.run(t, "", "config", "diff", file)
	if want := "+ queue q\n~ queue p\n    MaxDeliveryCount: 3 -> 7\n    RequiresSession: false -> true  (fixed: delete the queue first)\n" +
		"would create 1, change 1, delete 0; the same: 2\n"; out != want || code != 1 || !strings.Contains(notes, "a note\n") {
		t.Errorf("config diff: code %d, %s\n%s", code, notes, out)
	}
}

// TestJSON wants the answers as they came, with what the command does not know, one document or a line each.
func TestJSON(t *testing.T) {
	f := newFake(t, map[string]string{
		"GET connections": `{"items":[` + connectionJSON + `,` + connectionJSON + `]}`, "GET connections/c1": connectionJSON,
		"GET snapshots": `{"items":[]}`, "POST clock/freeze": clockJSON, "DELETE snapshots/s": `{}`,
	})
	var list []map[string]any
	out, _, _ := f.run(t, "", "conn", "ls", "-o", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != 2 || list[0]["more"] != 1.0 {
		t.Errorf("conn ls -o json: %v\n%s", err, out)
	}
	if out, _, _ = f.run(t, "", "-ojsonl", "conn", "ls"); strings.Count(out, "\n") != 2 || strings.Count(out, `"more":1`) != 2 {
		t.Errorf("conn ls -o jsonl:\n%s", out)
	}
	for line, want := range map[string]string{
		"snapshot ls -o json": "[]\n", "snapshot ls -o jsonl": "", "snapshot ls": "",
		"snapshot rm s -o jsonl": `{"deleted":"s","kind":"snapshot"}` + "\n",
	} {
		if out, notes, code := f.run(t, "", strings.Fields(line)...); out != want || code != 0 {
			t.Errorf("%s: %q, code %d %s", line, out, code, notes)
		}
	}
}

// TestWrongCommandLines are found before a server is asked.
func TestWrongCommandLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("no JSON"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"queue ls -o xml":                           `--output: found "xml"; allowed: table, wide, json, jsonl`,
		"queue ls --timeout 0s":                     `--timeout: found "0s"; allowed: a duration of more than zero`,
		"queue create":                              "queue create needs QUEUE; see minibus queue create --help",
		"queue ls x":                                `queue ls takes no argument "x"`,
		"queue rm":                                  "queue rm needs QUEUE",
		"queue create a?b":                          "no name of an entity has the character '?'",
		"queue create q --lock-duration soon":       "--lock-duration: found \"soon\"; allowed: a duration such as 30s",
		"queue create q --max-delivery-count many":  "--max-delivery-count: found \"many\"; allowed: a whole number",
		"queue create q --status on":                "--status: found \"on\"; allowed: Active, Disabled",
		"queue create q --lock-duraton 1m":          "there is no flag --lock-duraton, did you mean --lock-duration?",
		"queue update q":                            "no property to change",
		"queue update q --requires-session":         "--requires-session: an entity gets it when it is created",
		"queue lss":                                 `there is no command "lss" of queue, did you mean ls?`,
		"queue":                                     "queue needs a second word: queue ls|show|create|update|rm",
		"sub show x":                                "a subscription is given as TOPIC/SUBSCRIPTION",
		"rule create t/s r":                         "a rule needs one filter",
		"rule create t/s r --true --false":          "a rule needs one filter",
		"rule create t/s r --correlation color=red": "--correlation: found \"color=red\"; allowed: NAME=VALUE with a NAME of contentType",
		"rule test t --action x":                    "--action belongs to the rule of --sql",
		"rule test t --sql a --rule b":              "--sql and --rule name two rules",
		"rule test t --rule " + file:                "has no JSON",
		"send q x --jsonl --lines":                  "--jsonl and --lines contradict each other",
		"send q x --repeat 0":                       "--repeat: found 0; allowed: 1 or more",
		"send q x --rate -1":                        "--rate: found -1",
		"send q x --ttl soon":                       "--ttl: found \"soon\"",
		"send q x --schedule soon":                  "--schedule: found \"soon\"; allowed: a duration from now",
		"send q x -p a":                             "--property: found \"a\"; allowed: NAME=VALUE or NAME=TYPE:VALUE",
		"send q x -p a=int:b":                       "--property a: ",
		"peek q --dlq --transfer-dlq":               "--dlq and --transfer-dlq name two queues",
		"peek q -n 0":                               "--count: found 0; allowed: 1 or more",
		"peek /":                                    "an entity needs a name",
		"receive q --abandon --defer":               "contradict each other: give one",
		"receive q --reason x":                      "--reason and --description belong to --dead-letter",
		"receive q --session a --next-session":      "--session and --next-session contradict each other",
		"receive q/$DeadLetterQueue --dead-letter":  "is a dead-letter queue already",
		"receive q --wait 0s":                       "--wait: found 0s",
		"tail q --interval 1ms":                     "--interval must be 10ms or more",
		"dlq resubmit q --ttl x":                    "--ttl: found \"x\"",
		"dlq resubmit q --body a --body-file b":     "--body and --body-file contradict each other",
		"dlq resubmit q --where a --new-ids":        "--new-ids and --ttl don't go with --where",
		"purge q -n -1":                             "--count must not be negative",
		"purge q --before now":                      "--before: found \"now\"; allowed: a time such as",
		"bench -n 0":                                "--messages: found 0; allowed: 1 to 10000000",
		"clock advance -- -1h":                      "found \"-1h\"; give a duration of more than zero",
		"clock set now":                             "found \"now\"; give an instant",
		"history x --entity q":                      "--entity is for the list of events",
		"history -n 0":                              "--count: found 0",
		"history --all -n 3":                        "--all and --count contradict each other",
		"history -f --newest":                       "leave --newest out",
		"wait":                                      "wait: what for?",
		"wait --idle":                               "--idle, --message and counts need ENTITY",
		"wait q --active some":                      "--active: found \"some\"; allowed: 3 for exactly so many",
		"wait q --active 5-3":                       "--active: found \"5-3\"",
		"wait q --idle --timeout 2h":                "--timeout: found \"2h\"; allowed: a duration of more than zero and at most 1h",
		"wait q --idle --client x":                  "choose among --events, which is missing",
		"wait q --message=gone":                     "--message: found \"gone\"; allowed: active, deferred, scheduled",
		"wait q --idle --text x":                    "choose the message of --message, which is missing",
		"wait q --events sent=0":                    "--events: found \"sent=0\"",
		"fault add":                                 "fault add needs KIND",
		"fault add drop --json f":                   "fault add --json takes neither KIND nor other flags",
		"fault add --json " + file:                  "is not a JSON document",
		"fault add delay --delay 1us":               "--delay: found \"1us\"",
		"fault add drop --for -1s":                  "--for: found \"-1s\"",
		"fault rm":                                  "fault rm needs the numbers of faults, or --all",
		"fault rm x":                                "found \"x\"; give the number of a fault",
		"message rm q":                              "message rm needs NUMBER",
		"message show q x":                          "found \"x\"; allowed: a sequence number",
		"message ls q --after x":                    "--after: found \"x\"; allowed: a time such as",
		"sessions set q s":                          "give the state as STATE or with --file",
		"conn close":                                "conn close needs CONNECTION",
		"namespace create --limits none":            "--limits: no profile of limits is called \"none\"",
		"namespace create --entities " + file:       "--entities",
		"config print x --limits none":              "--limits: no profile of limits is called",
		"env xml":                                   "found \"xml\"; allowed: sh, powershell, dotenv, json",
		"env --name 1x":                             "--name: found \"1x\"; allowed: letters, digits and underscores",
		"env --namespace x":                         "--namespace belongs to --ports-file",
		"doctor x":                                  "flags of the server come after --",
		"support-bundle a b":                        "takes one FILE",
		"completion tcsh":                           `there is no script for "tcsh"`,
		"nothing":                                   `there is no command "nothing"`,
	} {
		out, text, code := runIn(t, []string{"SERVICEBUS_CONNECTION_STRING=Endpoint=sb://192.0.2.1;SharedAccessKeyName=a;SharedAccessKey=b"}, "",
			strings.Fields(line)...)
		if code != exitUsage || !strings.Contains(text, want) || strings.Contains(text, "\n") || out != "" {
			t.Errorf("minibus %s: code %d, %s %s\nwant %s", line, code, text, out, want)
		}
	}
}

// TestProblems of the control API become errors with flags in them, and exit codes.
func TestProblems(t *testing.T) {
	f := newFake(t, map[string]string{
		"GET snapshots":                `401 {"detail": "no key."}`,
		"GET faults":                   `400 {"detail": "The request is not as /x says: query.limit: found 0", "errors": ["a", "query.kind: b"]}`,
		"GET entities/orders/messages": `400 {"detail": "query.sql: can't read it"}`,
		"GET clock":                    `501 {"type": "urn:minibus:control-off", "detail": "it is off"}`,
		"GET connections":              `503 {"detail": "starting"}`,
		"GET refusals":                 `<html>`,
		"POST snapshots":               `409 {"detail": "it exists"}`,
	})
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"snapshot ls":        {exitUnauthorized, "list snapshots: no key; give a connection string with a key that has the right"},
		"fault ls":           {exitUsage, "found 0\n  query.kind: b"},
		"message ls orders":  {exitUsage, "list the messages of orders: --where: can't read it"},
		"clock show":         {exitFailed, "show the clock: it is off"},
		"conn ls":            {exitUnreachable, "list connections: starting"},
		"conn refused":       {exitFailed, "did not answer in JSON"},
		"snapshot save x":    {exitFailed, "save the snapshot: it exists"},
		"conn show c9":       {exitNotFound, "show the connection: there is no connections/c9"},
		"snapshot rm x":      {exitNotFound, "delete the snapshot: there is no snapshots/x"},
		"sessions ls nobody": {exitNotFound, "list the sessions of nobody: there is no entities/nobody/sessions"},
	} {
		if _, text, code := f.run(t, "", strings.Fields(line)...); code != want.code || !strings.Contains(text, want.text) {
			t.Errorf("minibus %s: code %d, %s\nwant %d, %s", line, code, text, want.code, want.text)
		}
	}
	if out, text, code := f.run(t, "", "snapshot", "rm", "x", "--if-exists"); code != 0 || out != "" {
		t.Errorf("--if-exists: %d %s %s", code, out, text)
	}
}

// TestEnv prints connection strings in all formats, without a server.
func TestEnv(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ports.json")
	if err := os.WriteFile(file, []byte(`{"amqp":7,"http":8,"namespaces":{"shop":9}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	given := []string{"SERVICEBUS_CONNECTION_STRING=Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true"}
	for line, want := range map[string]string{
		"env":                      "export SERVICEBUS_CONNECTION_STRING='Endpoint=sb://localhost:1;",
		"env powershell":           "$env:SERVICEBUS_CONNECTION_STRING = 'Endpoint=sb://localhost:1;",
		"env dotenv --entity q":    "EntityPath=q",
		"env json --name BUS":      `"BUS": "Endpoint=`,
		"env appsettings":          `"ServiceBus": "Endpoint=`,
		"env launchsettings":       `"commandName": "Project"`,
		"env --ports-file " + file: "sb://localhost:7;",
		"env dotenv -o json":       "SERVICEBUS_CONNECTION_STRING='",
		"env --namespace shop --ports-file " + file: "sb://localhost:9;",
	} {
		if out, text, code := runIn(t, given, "", strings.Fields(line)...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("minibus %s: code %d, %s\n%s", line, code, text, out)
		}
	}
	if out, text, code := runIn(t, []string{"MINIBUS_AMQP_PORT=5", "MINIBUS_ROOT_KEY=mine"}, "", "env"); code != 0 ||
		!strings.Contains(out, "sb://localhost:5;") || !strings.Contains(out, "SharedAccessKey=mine") {
		t.Errorf("the Minibus of this machine: code %d, %s\n%s", code, text, out)
	}
}

// TestConfigPrintReadsSeveralFiles and says on standard error what it warns of.
func TestConfigPrintReadsSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	template, parameters := filepath.Join(dir, "main.json"), filepath.Join(dir, "main.parameters.json")
	for file, text := range map[string]string{
		template: `{"contentVersion": "1.0.0.0", "parameters": {"name": {"type": "string"}, "lock": {"type": "string"}}, "resources": [
			{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "[format('n/{0}', parameters('name'))]", "properties": {"lockDuration": "[parameters('lock')]"}}]}`,
		parameters: `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#", "parameters": {"name": {"value": "orders"}}}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := newFake(t, nil)
	out, notes, code := f.run(t, "", "config", "print", template, parameters)
	if code != 0 || !strings.Contains(out, `"orders"`) || strings.Contains(out, "warning") || !strings.Contains(notes, "warning: ") || !strings.Contains(notes, "lockDuration can't be evaluated") {
		t.Errorf("code %d\n%s\n%s", code, notes, out)
	}
	if out, notes, code = f.run(t, "", "config", "print", template); code != 2 || out != "" || !strings.Contains(notes, `the parameter "name" has no default value`) {
		t.Errorf("without parameters: code %d\n%s\n%s", code, notes, out)
	}
}
