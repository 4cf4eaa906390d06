package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// cloudHost is the name by which the tests reach a server as one reaches a namespace of Azure.
const cloudHost = harness.DefaultSpace + ".servicebus.windows.net"

// cloud is a server as Azure is one: reached by the name of a namespace, with TLS, at the ports 5671 and 443, with keys that are checked.
type cloud struct {
	*bench
	server *harness.Server
	data   string // directory of the database
	hosts  string // the file with its name
}

// newCloud starts one, with a queue q.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	b := start(t, nil)
	if out, err := harness.Output(nil, "unshare", "--mount", "true"); err != nil {
		harness.Lack(t, "mount a file in a namespace: %v\n%s", err, out)
	}
	address := harness.Loopback()
	c := &cloud{bench: b, data: t.TempDir(), hosts: file(t, address+" "+cloudHost+"\n")}
	c.server = harness.Start(t, harness.Options{Data: filepath.Join(c.data, "minibus.db"), Ports: harness.Ports{TLS: 5671},
		Config: harness.WriteTopology(t, []harness.Queue{{Name: "q"}, {Name: "sessions", RequiresSession: true}}, nil),
		Args:   []string{"--host", address, "--extra-ports", "443", "--auth", "sas", "--root-key", "a-key-of-the-test"}})
	b.connection = "Endpoint=sb://" + cloudHost + "/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=a-key-of-the-test"
	return c
}

// there runs a command where the name of the server is known.
func (c *cloud) there(environ []string, args ...string) result {
	c.Helper()
	cmd := c.command(args...)
	inside := exec.CommandContext(c.ctx, "unshare", append([]string{"--mount", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, c.hosts}, cmd.Args...)...)
	inside.Env = append(cmd.Env, environ...)
	return c.finish(inside)
}

// trusting wants a command to succeed that is told of the authority, and returns what it printed.
func (c *cloud) trusting(args ...string) string {
	c.Helper()
	r := c.there(nil, append([]string{"--ca", c.server.CA()}, args...)...)
	if r.code != 0 {
		c.Fatalf("%v ended with %d: %s", args, r.code, r.errors)
	}
	return r.out
}

// lines are the commands of a script, a line each, with what their output has behind a #.
func (c *cloud) lines(script string) {
	c.Helper()
	for line := range strings.Lines(strings.TrimSpace(script)) {
		command, want, _ := strings.Cut(strings.TrimSpace(line), "#")
		if out := c.trusting(strings.Fields(command)...); !strings.Contains(out, strings.TrimSpace(want)) {
			c.Errorf("%s prints %q, want %q in it", command, out, strings.TrimSpace(want))
		}
	}
}

// TestCloud runs all commands for entities and messages.
func TestCloud(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	c := newCloud(t)
	c.lines(`
		queue create made --forward-to q      # made
		queue show made -o json               # "ForwardTo": "q"
		queue update made --max-delivery-count 3
		queue ls                              # made
		topic create events
		topic update events --max-size-in-megabytes 2048
		topic show events -o jsonl            # 2048
		topic ls                              # events
		sub create events/audit
		sub update events/audit --lock-duration 30s
		sub show events/audit -o json         # PT30S
		sub ls events                         # audit
		rule create events/audit red --sql color='red'
		rule update events/audit red --sql color='blue'
		rule show events/audit red            # color='blue'
		rule ls events/audit                  # red
		rule rm events/audit red --yes
		send made x                           # sent 1 message
		send q y --repeat 3                   # sent 3 messages
		send events z                         # sent 1 message
		send sessions s --session one         # sent 1 message
		peek q -o jsonl                       # "body":"x"
		tail q -n 1 -o json                   # "body": "y"
		receive events/audit -o jsonl         # "body":"z"
		receive sessions --next-session       # one
		receive q --dead-letter --reason bad  # x
		dlq ls                                # q
		dlq ls q                              # bad
		dlq resubmit q                        # resubmitted 1 dead letter
		receive q -n 2 --dead-letter
		dlq purge q --wait 1s --yes           # purged 2 messages
		purge q --wait 1s --yes               # purged 2 messages
		bench --messages 50 -o jsonl          # "operation":"complete"
		sub rm events/audit --yes
		topic rm events --yes
		queue rm made --yes
	`)
	// Without --ca the authority of the Minibus with these settings counts.
	if r := c.there([]string{"MINIBUS_DATA=" + filepath.Join(c.data, "minibus.db")}, "queue", "ls"); r.code != 0 {
		t.Errorf("with the local authority it ended with %d: %s", r.code, r.errors)
	}
	for _, args := range [][]string{{"queue", "ls"}, {"send", "q", "x"}, {"clock", "show"}} {
		c.failed(c.there([]string{"MINIBUS_DATA=" + t.TempDir() + "/x.db"}, args...), 6, []string{"not trusted", cloudHost}, args...)
	}
	began := time.Now()
	right := c.connection
	c.connection = strings.Replace(right, cloudHost, "none.servicebus.windows.net", 1)
	c.failed(c.there(nil, "peek", "q"), 6, []string{"none.servicebus.windows.net"}, "peek of an unknown host")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("an unknown host took %v", took)
	}
	c.connection = strings.Replace(right, "a-key-of-the-test", "another-key", 1)
	for _, args := range [][]string{{"queue", "ls"}, {"topic", "ls"}, {"sub", "ls"}, {"rule", "ls", "events/audit"}, {"send", "q", "x"}, {"peek", "q"}, {"tail", "q"}, {"receive", "q"},
		{"dlq", "ls", "q"}, {"dlq", "resubmit", "q"}, {"dlq", "purge", "q", "--yes"}, {"purge", "q", "--yes"}, {"bench"}} {
		c.failed(c.there(nil, append([]string{"--ca", c.server.CA()}, args...)...), 4, nil, args...)
	}
}

// TestCloudControl runs the commands that steer, which take a Minibus.
func TestCloudControl(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	c := newCloud(t)
	c.lines(`
		clock freeze                          # frozen  true
		clock advance 1h                      # offset
		clock resume
		clock show -o json                    # "frozen": false
		send q x --message-id order-7
		send sessions s --session one
		why q                                 # no-receiver
		wait q --active 1                     # met: 1 active
		receive q                             # x
		history order-7 -o jsonl              # "kind":"completed"
		history --newest -n 1                 # completed
		conn ls
		conn refused -o json                  # [
		sessions ls sessions                  # one
		sessions set sessions one busy
		sessions show sessions one            # busy
		sessions clear sessions one
		namespace create others-ns              # others-ns
		namespace ls                          # others-ns
		namespace show others-ns                # others-ns
		namespace rm others-ns --yes
		send q a --repeat 3
		purge q --number 2 --yes              # purged 1 message
		reset --yes                           # reset the namespace
		wait q --idle                         # no messages
	`)
	right := c.connection
	c.connection = strings.Replace(right, "a-key-of-the-test", "another-key", 1)
	for _, args := range [][]string{{"clock", "show"}, {"why", "q"}, {"wait", "q", "--idle"}, {"history", "order-7"}, {"conn", "ls"}, {"conn", "refused"}, {"sessions", "ls", "sessions"},
		{"namespace", "ls"}, {"reset", "--yes"}, {"purge", "q", "--number", "1", "--yes"}} {
		c.failed(c.there(nil, append([]string{"--ca", c.server.CA()}, args...)...), 4, nil, args...)
	}
	c.connection = right
	made := filepath.Join(t.TempDir(), "fault.zip")
	if all := func() map[string]string { c.trusting("support-bundle", made); return c.bundle(made) }(); !strings.Contains(all["Config.json"], `"sessions"`) || strings.Contains(all["Config.json"]+all["settings.json"], "a-key-of-the-test") {
		t.Errorf("the bundle has %q", all["Config.json"])
	}
}
