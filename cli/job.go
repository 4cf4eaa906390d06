package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/entitypath"
	"minibus/mgmt/control/api"
)

// filterFlags are those by which purge, dlq purge and wait choose messages.
type filterFlags struct {
	deferred, scheduled     bool
	sql, text               string
	reason, session, before string
	numbers                 []int64
	names                   []string // of the flags
}

const filterHelp = "With one of --deferred, --scheduled, --where, --text, --reason, --session, --before and " +
	"--number\nit lets a Minibus choose the messages, in the background; Ctrl-C ends that. A namespace in Azure can't."

func (f *filterFlags) add(c *cobra.Command) {
	p := c.Flags()
	p.BoolVar(&f.deferred, "deferred", false, "deferred messages instead of active ones")
	p.BoolVar(&f.scheduled, "scheduled", false, "scheduled messages instead of active ones")
	p.Int64SliceVar(&f.numbers, "number", nil, "only those with these sequence `numbers`")
	f.addContent(c)
	f.names = append(f.names, "deferred", "scheduled", "number")
}

// addContent adds those that choose messages by what they are.
func (f *filterFlags) addContent(c *cobra.Command) {
	p := c.Flags()
	p.StringVar(&f.sql, "where", "", "only those that this SQL `filter` selects, such as \"color = 'red'\"")
	p.StringVar(&f.text, "text", "", "only those with this `text` in the body or a property")
	p.StringVar(&f.reason, "reason", "", "only dead letters with this `reason`")
	p.StringVar(&f.session, "session", "", "only those of this session, by its `id`")
	p.StringVar(&f.before, "before", "", "only those enqueued before this `time`, such as 2026-03-01T12:00:00Z")
	f.names = []string{"where", "text", "reason", "session", "before"}
}

// filter returns what the flags say, nil if none was given.
func (f *filterFlags) filter(c *cobra.Command) (*api.JobFilter, error) {
	some := false
	for _, name := range f.names {
		some = some || c.Flags().Changed(name)
	}
	if !some {
		return nil, nil
	}
	out := &api.JobFilter{SQL: f.sql, Text: f.text, Reason: given(c, "reason", &f.reason),
		SessionID: given(c, "session", &f.session), SequenceNumbers: f.numbers}
	if f.before != "" {
		before, err := time.Parse(time.RFC3339, f.before)
		if err != nil {
			return nil, Usage("--before: found %q; allowed: a time such as 2026-03-01T12:00:00Z", oneLine(f.before))
		}
		out.Before = &before
	}
	for name, set := range map[string]bool{"deferred": f.deferred, "scheduled": f.scheduled} {
		if set {
			out.States = append(out.States, name)
		}
	}
	return out, nil
}

// runJob starts a job and follows it to its end. An interrupt cancels it.
func (a *app) runJob(ctx context.Context, what string, o api.JobOrder) (api.Job, error) {
	var j api.Job
	// Or an interrupt would not know what to cancel.
	if err := a.control(context.WithoutCancel(ctx), http.MethodPost, inThis("jobs"), o, &j); err != nil {
		return j, err
	}
	path := inThis("jobs", strconv.FormatInt(j.ID, 10))
	shown := a.progress(what, int(o.Max))
	defer shown.end()
	for j.State == "running" {
		shown.step(int(j.Done))
		err := a.control(ctx, http.MethodGet, path+"?wait=500ms", nil, &j)
		if err != nil && ctx.Err() == nil {
			return j, err
		}
		if ctx.Err() != nil {
			cancelling, end := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			defer end()
			if err := a.control(cancelling, http.MethodPost, path+"/cancel?wait=5s", nil, &j); err != nil {
				return j, err
			}
			return j, context.Cause(ctx)
		}
	}
	if j.State != "done" {
		return j, failed(exitFailed, "%s", oneLine(a.redact(j.Why)))
	}
	return j, nil
}

// purgeSome lets a Minibus remove the messages that a filter selects.
func (a *app) purgeSome(cmd *cobra.Command, arg string, sub subQueueFlags, f *purgeFlags, filter *api.JobFilter) error {
	if f.count < 0 {
		return Usage("purge: --count must not be negative")
	}
	ctx := cmd.Context()
	entity, err := a.controlPath(ctx, arg, sub)
	if err != nil {
		return err
	}
	if *f.dryRun {
		n, err := a.countChosen(ctx, entity, filter, f.count)
		if err != nil {
			return a.about("purge "+entity, err)
		}
		return a.wouldDo("purged", entity, n, "message", "")
	}
	if err := a.connect(); err != nil {
		return err
	}
	if err := a.confirm(f.yes, "Purge the messages of %s at %s that the flags choose?", entity, a.host()); err != nil {
		return err
	}
	j, err := a.runJob(ctx, "purged", api.JobOrder{Kind: "purge", Entity: entity, Max: int64(f.count), Filter: filter})
	a.interrupted = fmt.Sprintf(", after %s purged", config.Plural(int(j.Done), "message"))
	if err != nil {
		return a.about(fmt.Sprintf("purge %s, after %s purged", entity, config.Plural(int(j.Done), "message")), err)
	}
	if err := a.out.done(map[string]any{"entity": entity, "purged": j.Done, "skipped": j.Skipped,
		"failed": j.Failed}, "purged %s from %s", config.Plural(int(j.Done), "message"), entity); err != nil {
		return err
	}
	if j.Skipped > 0 {
		a.note("%s stayed: clients have them", config.Plural(int(j.Skipped), "message"))
	}
	if j.Failed > 0 && len(j.Errors) > 0 {
		return failed(exitNotFound, "%s", oneLine(j.Errors[0].Detail))
	}
	return nil
}

// resubmitSome lets a Minibus send the dead letters again that a filter selects, with what edit changes in them, nil
// for nothing but the properties of a dead letter.
func (a *app) resubmitSome(ctx context.Context, at address, filter *api.JobFilter, edit *api.JobEdit,
	f *resubmitFlags) error {
	if f.newIDs || f.ttl != "" {
		return Usage("dlq resubmit: --new-ids and --ttl don't go with --where, --text and the flags that edit: " +
			"leave them out")
	}
	if edit == nil {
		edit = &api.JobEdit{Strip: new(true)}
	}
	entity, err := a.controlPath(ctx, at.String(), subQueueFlags{})
	if err != nil {
		return err
	}
	to := f.to
	if to == "" { // the topic of a subscription
		to, _ = entitypath.CutSubQueue(entity)
		if root := entitypath.Root(to); root != to {
			a.noteTopic(root)
			to = root
		}
	}
	if *f.dryRun {
		n, err := a.countChosen(ctx, entity, filter, f.count)
		if err != nil {
			return a.about("resubmit from "+entity, err)
		}
		return a.wouldDo("resubmitted", entity, n, "dead letter", to)
	}
	j, err := a.runJob(ctx, "resubmitted",
		api.JobOrder{Kind: "resubmit", Entity: entity, Target: to, Max: int64(f.count), Edit: edit, Filter: filter})
	a.interrupted = fmt.Sprintf(", after %s were sent to %s", config.Plural(int(j.Done), "dead letter"), to)
	if err != nil {
		return a.about(fmt.Sprintf("resubmit from %s, after %s", entity, config.Plural(int(j.Done), "dead letter")),
			err)
	}
	result := map[string]any{"entity": entity, "to": to, "resubmitted": j.Done, "left": j.Failed + j.Skipped}
	if err := a.out.done(result, "resubmitted %s from %s to %s", config.Plural(int(j.Done), "dead letter"), entity,
		to); err != nil {
		return err
	}
	if j.Failed > 0 && len(j.Errors) > 0 {
		return failed(exitFailed, "%s could not be moved: number %d: %s",
			config.Plural(int(j.Failed), "dead letter"), j.Errors[0].SequenceNumber,
			oneLine(a.redact(j.Errors[0].Detail)))
	}
	return nil
}

// editFlags are those by which dlq resubmit changes messages.
type editFlags struct {
	set, unset          []string
	subject, body, file string
	strip               bool
}

// editNames are the names of the flags.
var editNames = []string{"set", "unset", "subject", "body", "body-file", "strip"}

func (f *editFlags) add(c *cobra.Command) {
	p := c.Flags()
	p.StringArrayVar(&f.set, "set", nil,
		"give each the application property `name=value`, or name=type:value; only with a Minibus")
	p.StringArrayVar(&f.unset, "unset", nil, "take the application property with this `name` away; only with a Minibus")
	p.StringVar(&f.subject, "subject", "", "give each this subject, a `text`; only with a Minibus")
	p.StringVar(&f.body, "body", "", "give each this body, a `text`; only with a Minibus")
	p.StringVar(&f.file, "body-file", "", "give each the body in this `file`; only with a Minibus")
	p.BoolVar(&f.strip, "strip", true,
		"take the properties DeadLetterReason and DeadLetterErrorDescription away; --strip=false only with a Minibus")
}

// edit returns what the flags say, nil if none was given.
func (f *editFlags) edit(c *cobra.Command) (*api.JobEdit, error) {
	some := false
	for _, name := range editNames {
		some = some || c.Flags().Changed(name) && (name != "strip" || !f.strip)
	}
	if !some {
		return nil, nil
	}
	set, err := propertyPairs("--set", f.set)
	if err != nil {
		return nil, err
	}
	e := &api.JobEdit{Strip: &f.strip, Properties: mapToJSON(set), RemoveProperties: f.unset,
		Subject: given(c, "subject", &f.subject), Body: given(c, "body", &f.body)}
	if f.file == "" {
		return e, nil
	}
	if e.Body != nil {
		return nil, Usage("dlq resubmit: --body and --body-file contradict each other: leave one out")
	}
	data, err := os.ReadFile(f.file)
	if err != nil {
		return nil, Usage("--body-file: %v", err)
	}
	if len(data) == 0 {
		e.Body = new(string) // no bytes in base64 would mean that the body stays
		return e, nil
	}
	e.BodyBase64 = data
	return e, nil
}
