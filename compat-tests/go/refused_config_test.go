package compat

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/go-amqp"

	"minibus/compat-tests/harness"
)

// refuses fails unless a configuration is refused in a text that contains all of these words.
func refuses(t *testing.T, config, limits string, words ...string) {
	t.Helper()
	out, err := exec.Command(harness.Binary(t), "config", "check", "--limits", limits, config).CombinedOutput()
	if err == nil {
		t.Errorf("the configuration was taken: %s", out)
	}
	for _, word := range words {
		if !strings.Contains(string(out), word) {
			t.Errorf("the refusal does not say %q: %s", word, out)
		}
	}
}

func TestFWD2_FWD5_TargetsAreChecked(t *testing.T) {
	t.Parallel()
	refuses(t, configOf(t, harness.Queue{Name: "source", ForwardTo: "nowhere"}), "relaxed", "ForwardTo", "nowhere")
	refuses(t, configOf(t, harness.Queue{Name: "source", ForwardDeadLettersTo: "nowhere"}), "relaxed", "ForwardDeadLetteredMessagesTo", "nowhere")
	refuses(t, configOf(t, harness.Queue{Name: "source", RequiresSession: true, ForwardTo: "target"}, harness.Queue{Name: "target"}),
		"relaxed", "ForwardTo", "RequiresSession")
}

func TestQUO1_QUO11_PART1_DEC1_LimitsOfEntities(t *testing.T) {
	t.Parallel()
	var many []harness.Queue
	for i := range 10_001 {
		many = append(many, harness.Queue{Name: fmt.Sprint("q", i)})
	}
	refuses(t, configOf(t, many...), "standard", "10001", "10000")
	refuses(t, configOf(t, harness.Queue{Name: "q", MaxSizeInMegabytes: 6 * 1024}), "standard", "MaxSizeInMegabytes", "5120")
	refuses(t, configOf(t, harness.Queue{Name: "q", Partitioned: true}), "premium", "EnablePartitioning")
	refuses(t, configOf(t, harness.Queue{Name: "q", LockDuration: "PT6M"}), "standard", "LockDuration", "PT5M")
}

// A batch is at most 1 MiB even where single messages may be larger, and never larger than a message.
func TestQUO6_SizeOfABatch(t *testing.T) {
	b := serve(t, harness.Queue{Name: queueName}, harness.Queue{Name: "large", MaxMessageSizeInKilobytes: 4096})
	session := b.dial()
	refusal := map[string]string{queueName: "size exceeds", "large": "received a batch message with no data in it"}
	for queue, most := range map[string]int{queueName: 256 << 10, "large": 1 << 20} {
		sender, err := session.NewSender(b.ctx, queue, nil)
		b.must("attach sender", err)
		body := make([]byte, 10_000)
		one, err := (&amqp.Message{Data: [][]byte{body}}).MarshalBinary()
		b.must("encode", err)
		fits := &amqp.Message{Format: 0x80013700}
		for size := 0; size < most-20_000; size += len(one) + 10 {
			fits.Data = append(fits.Data, one)
		}
		b.must("send a batch that fits", sender.Send(b.ctx, fits, nil))
		over := &amqp.Message{Format: 0x80013700, Data: append(fits.Data, one, one, one)}
		if err := sender.Send(b.ctx, over, nil); err == nil || !strings.Contains(err.Error(), refusal[queue]) {
			b.Errorf("%s: a batch of more than %d bytes: %v", queue, most, err)
		}
	}
	b.put("large", &azservicebus.Message{Body: make([]byte, 2<<20)}) // a single one may be so large
}

// Bad rules are refused before anything is served, with their place in the file and the place in their text: by the check, and at
// the start. The relaxed profile takes long ones.
func TestQUO10_TOP8_DEC1_RulesAreChecked(t *testing.T) {
	t.Parallel()
	with := func(r harness.Rule) string {
		r.Name = "r"
		return topicConfig(t, []harness.Subscription{subscription("s", r)})
	}
	const rule = "Topics[0].Subscriptions[0].Rules[0].Properties."
	refuses(t, with(harness.Rule{SQL: "n = '" + strings.Repeat("1", 1020) + "'"}), "standard",
		rule+"SqlFilter.SqlExpression", "1026 characters", "1024", "--limits relaxed")
	refuses(t, with(harness.Rule{SQL: "1=1", Action: strings.Repeat("REMOVE a;", 33)}), "standard", rule+"Action.SqlExpression", "33 statements", "32")
	bad := with(harness.Rule{SQL: "n BETWEEN 1 AND 2"})
	where := regexp.MustCompile(regexp.QuoteMeta(filepath.Base(bad)) + `:\d+:\d+: error: \$\.UserConfig\.Namespaces\[0\]\.` + regexp.QuoteMeta(rule) + "SqlFilter")
	args := []string{"--config", bad, "--ephemeral", "--amqp-port", "0", "--tls-port", "0", "--http-port", "0"}
	for what, args := range map[string][]string{"check": {"config", "check", bad}, "start": args} {
		out, err := exec.Command(harness.Binary(t), args...).CombinedOutput()
		const want = "There was an error parsing the SQL expression. [Token line=1, column=2, Token in error= BETWEEN"
		if err == nil || !strings.Contains(string(out), want) || !where.Match(out) {
			t.Errorf("%s: a rule that does not parse (%v): %s", what, err, out)
		}
	}
}
