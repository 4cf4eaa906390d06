package cli

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completionPatience bounds how long a person waits for the names of entities after the tabulator key.
const completionPatience = 3 * time.Second

// completions lets the shell complete the names of entities, asked for where the connection leads.
func (a *app) completions(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "send":
			c.ValidArgsFunction = a.namesOf(true, true, false)
		case "peek", "receive", "tail", "purge", "why", "wait", "open":
			c.ValidArgsFunction = a.namesOf(true, false, true)
		case "bench":
			c.ValidArgsFunction = a.namesOf(true, false, false)
		case "message":
			for _, sub := range c.Commands() {
				sub.ValidArgsFunction = a.namesOf(true, true, true)
			}
		case "queue", "topic", "sub", "rule", "dlq":
			for _, sub := range c.Commands() {
				if sub.Name() != "create" && (sub.Name() != "ls" || c.Name() == "dlq" || c.Name() == "rule") ||
					c.Name() == "rule" {
					sub.ValidArgsFunction = a.namesOf(c.Name() == "queue" || c.Name() == "dlq", c.Name() == "topic",
						slices.Contains([]string{"sub", "rule", "dlq"}, c.Name()))
				}
			}
		}
	}
	a.completeMore(root)
	if ls, _, err := root.Find([]string{"sub", "ls"}); err == nil {
		ls.ValidArgsFunction = a.namesOf(false, true, false)
	}
}

// namesOf returns the function that lists entities of these kinds as the first argument. It stays silent if it can't
// ask.
func (a *app) namesOf(q, t, s bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begin string) (found []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		client, err := a.entities()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if q {
			properties, states, _ := queues.list(ctx, client, "")
			found = append(found, pathsOf(sorted(&queues, properties, states))...)
		}
		if t {
			properties, states, _ := topics.list(ctx, client, "")
			found = append(found, pathsOf(sorted(&topics, properties, states))...)
		}
		if s {
			properties, states, _ := subscriptions.list(ctx, client, "")
			found = append(found, pathsOf(sorted(&subscriptions, properties, states))...)
		}
		return slices.DeleteFunc(found, func(name string) bool { return !strings.HasPrefix(name, begin) }),
			cobra.ShellCompDirectiveNoFileComp
	}
}

func pathsOf(all []entity) (paths []string) {
	for _, e := range all {
		paths = append(paths, e.path())
	}
	return paths
}

// eventKinds are the kinds of events, which the shell completes.
var eventKinds = []string{"sent", "scheduled", "copied", "forwardedHere", "activated", "delivered",
	"receivedAndDeleted", "lockRenewed", "completed", "abandoned", "released",
	"deferred", "lockExpired", "returned", "deadLettered", "expired", "forwarded", "duplicate", "cancelled",
	"purged", "rescheduled", "sendRefused", "settlementRefused", "fault", "sessionBroken"}

// completeMore lets the shell complete values of flags, and arguments that are no entities.
func (a *app) completeMore(root *cobra.Command) {
	flag := func(command, name string, complete cobra.CompletionFunc) {
		if c, _, err := root.Find(strings.Fields(command)); err == nil {
			_ = c.RegisterFlagCompletionFunc(name, complete)
		}
	}
	flag("history", "kind", listOf(eventKinds))
	flag("wait", "events", listOf(eventKinds))
	flag("message ls", "state", listOf([]string{"active", "locked", "deferred", "scheduled"}))
	paths := a.namesOf(true, true, true)
	entity := func(c *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
		return paths(c, nil, begin)
	}
	flag("fault add", "entity", entity)
	flag("history", "entity", entity)
	for command, complete := range map[string]cobra.CompletionFunc{
		"snapshot restore": a.itemsOf("snapshots"), "snapshot rm": a.itemsOf("snapshots"),
		"conn show": a.itemsOf("connections"),
	} {
		if c, _, err := root.Find(strings.Fields(command)); err == nil {
			c.ValidArgsFunction = complete
		}
	}
}

// listOf completes the last of several values with commas between.
func listOf(all []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begin string) (found []string, _ cobra.ShellCompDirective) {
		i := strings.LastIndexByte(begin, ',') + 1
		for _, value := range all {
			if strings.HasPrefix(value, begin[i:]) {
				found = append(found, begin[:i]+value)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// itemsOf completes the first argument with what a list of the control API has: its name, or else its id.
func (a *app) itemsOf(list string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begin string) (found []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
		defer cancel()
		var page struct{ Items []struct{ Name, ID string } }
		if len(args) > 0 || a.control(ctx, http.MethodGet, inThis(list), nil, &page) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, item := range page.Items {
			name := item.Name
			if name == "" {
				name = item.ID
			}
			if strings.HasPrefix(name, begin) {
				found = append(found, name)
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
