package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/amqp/messagejson"
	"minibus/mgmt/control/api"
)

// matchFlags are the flags of rule test.
type matchFlags struct {
	sendFlags
	sql, action string
	rule        string // file
}

func (a *app) ruleTest() *cobra.Command {
	f := &matchFlags{sendFlags: sendFlags{repeat: 1}}
	c := &cobra.Command{Use: "test TOPIC",
		Short: "say which subscriptions a message would reach, and why not the others; nothing is sent",
		Args:  Arguments("TOPIC"),
		Long: `Asks the rules of a topic, or of one subscription as TOPIC/SUBSCRIPTION, about a message. The flags
describe it as those of send do; with --jsonl each line of --file or of the standard input is a message in JSON, as
minibus peek -o jsonl writes it. With --sql, or --rule and a file with a rule as Config.json has it, this rule is
asked in place of those of the subscription, or on a topic as that of a new subscription.
` + controlHelp,
		Example: "  minibus rule test events -p amount=int:1500 --subject order\n" +
			"  minibus rule test events/large -p amount=int:1500 --sql \"amount > 1000\" --action \"SET priority = " +
			"'high'\"\n" +
			"  minibus peek orders --dlq -o jsonl | minibus rule test events --jsonl"}
	f.describe(c)
	c.Flags().BoolVar(&f.jsonl, "jsonl", false, "each line of the input is a message in JSON")
	c.Flags().StringVarP(&f.file, "file", "f", "", "read the lines from this `file`")
	c.Flags().StringVar(&f.sql, "sql", "", "ask a rule with this SQL `condition`, which is not stored")
	c.Flags().StringVar(&f.action, "action", "", "SQL `statements` of the rule of --sql")
	c.Flags().StringVar(&f.rule, "rule", "", "ask the rule in this `file`, in the form of Config.json")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.finish(cmd); err != nil {
			return err
		}
		at, err := parseAddress(args[0], subQueueFlags{})
		if err != nil {
			return err
		}
		rule, err := f.tried()
		if err != nil {
			return err
		}
		if f.ScheduledEnqueueTime, err = a.scheduled(cmd.Context(), "--schedule", f.schedule); err != nil {
			return err
		}
		return a.match(cmd.Context(), &at, f, rule)
	}
	return c
}

// tried returns the rule that is asked instead; nil: none.
func (f *matchFlags) tried() (json.RawMessage, error) {
	switch {
	case f.sql != "" && f.rule != "":
		return nil, Usage("--sql and --rule name two rules: leave one out")
	case f.action != "" && f.sql == "":
		return nil, Usage("--action belongs to the rule of --sql, which is missing")
	case f.file != "" && !f.jsonl:
		return nil, Usage("--file has messages in JSON, a line each: add --jsonl")
	case f.rule != "":
		text, err := os.ReadFile(f.rule)
		if err != nil {
			return nil, Usage("--rule: %v", err)
		}
		if !json.Valid(text) {
			return nil, Usage("--rule: %s has no JSON", f.rule)
		}
		return text, nil
	case f.sql == "":
		return nil, nil
	}
	properties := map[string]any{"FilterType": "Sql", "SqlFilter": map[string]string{"SqlExpression": f.sql}}
	if f.action != "" {
		properties["Action"] = map[string]string{"SqlExpression": f.action}
	}
	return json.Marshal(map[string]any{"Properties": properties})
}

// match asks about each message of the input.
func (a *app) match(ctx context.Context, at *address, f *matchFlags, rule json.RawMessage) error {
	if !f.jsonl {
		return a.matchOne(ctx, at, f, &message{}, rule)
	}
	input, closeInput, err := a.input(nil, &f.sendFlags)
	if err != nil {
		return err
	}
	defer closeInput()
	lines := bufio.NewReaderSize(input, 64<<10)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d: %w", number, err)
		}
		end := err != nil
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m, err := messagejson.Read(line)
			if err != nil {
				return Usage("line %d: %v", number, err)
			}
			if err := a.matchOne(ctx, at, f, m, rule); err != nil {
				return a.about(fmt.Sprintf("line %d", number), err)
			}
		}
		if end {
			return nil
		}
	}
}

// matchOne asks about one message, and shows the answer.
func (a *app) matchOne(ctx context.Context, at *address, f *matchFlags, m *message, rule json.RawMessage) error {
	f.complete(m)
	if m.TimeToLive != "" {
		if d, err := parseDuration(m.TimeToLive); err == nil {
			m.TimeToLive = config.FormatDuration(d)
		}
	}
	body := struct {
		Message *message        `json:"message"`
		Rule    json.RawMessage `json:"rule,omitempty"`
	}{m, rule}
	var s answered[api.Matching]
	is := *at
	if at.subscription != "" {
		is.queue = "" // a topic with a slash in its name is given as such, if there is no such subscription
	}
	err := a.control(ctx, http.MethodPost, inThis("entities", is.path(), "match"), body, &s)
	if err != nil && at.unsure && isNotFound(err) {
		is.queue = at.queue
		is.topic = ""
		is.subscription = ""
		err = a.control(ctx, http.MethodPost, inThis("entities", is.path(), "match"), body, &s)
	}
	if err != nil {
		return a.about("rule test", err)
	}
	switch {
	case a.out.format == formatTable:
		a.matchText(&s.is)
		return a.out.push()
	case f.jsonl:
		return a.out.line(s)
	}
	return a.out.document(s)
}

// matchText writes what becomes of the message for people: a line for each subscription, with copies and reasons
// below it.
func (a *app) matchText(m *api.Matching) {
	switch {
	case m.Refused != "":
		a.out.write("%s would refuse it: %s\n", visible(m.Topic), visible(m.Refused))
	case m.Duplicate:
		a.out.write("%s would drop it: it had a message with the id\n", visible(m.Topic))
	case m.ScheduledFor != nil:
		a.out.write("%s would keep it until %s and ask the rules then\n", visible(m.Topic), shownTime(*m.ScheduledFor))
	}
	for _, s := range m.Subscriptions {
		name, status := s.Name, ""
		if name == "" {
			name = "(a new subscription)"
		}
		if s.Status != "Active" {
			status = ", status " + s.Status
		}
		if len(s.Copies) == 0 {
			a.out.write("%s: not reached%s\n", visible(name), status)
		} else {
			a.out.write("%s: reached%s\n", visible(name), status)
		}
		for i := range s.Copies {
			a.copyText(&s.Copies[i])
		}
		for _, r := range s.Rules {
			if r.Outcome == "true" && !r.ActionFails {
				continue
			}
			a.out.write("  rule %s is %s\n", visible(r.Name), r.Outcome)
			for _, why := range r.Reasons {
				a.out.write("    %s\n", visible(why.Text))
			}
			if r.ActionFails {
				a.out.write("    its action fails: %s\n", visible(r.Error))
			}
		}
	}
	if m.Unexplained > 0 {
		a.out.write("and %s that do not select it\n", config.Plural(m.Unexplained, "more rule"))
	}
}

func (a *app) copyText(c *api.MatchedCopy) {
	what := "a copy by rule " + c.Rule
	if c.Rule == "" {
		what = "a copy since a rule failed"
	}
	if c.SubQueue != "" {
		what += ", dead-lettered: " + c.Reason + ": " + c.Description
	}
	a.out.write("  %s\n", visible(what))
	for _, x := range c.Changes {
		after := "removed"
		if !x.Removed {
			after = jsonText(x.After)
		}
		a.out.write("    %s: %s -> %s\n", visible(x.Property), visible(jsonText(x.Before)), visible(after))
	}
	if len(c.Forwards) > 0 {
		a.out.write("    goes on to %s\n", visible(strings.Join(c.Forwards, ", then ")))
	}
	if c.Stopped != "" {
		a.out.write("    goes no further: %s\n", visible(c.Stopped))
	}
}

// jsonText shows a value of a message.
func jsonText(v any) string {
	if v == nil {
		return "none"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return string(text)
}
