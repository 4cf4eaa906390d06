package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
)

// completionPatience bounds how long a person waits for the names of entities after the tabulator key.
const completionPatience = 3 * time.Second

// completions lets the shell complete the names of entities, asked for where the connection leads.
func (a *app) completions(root *cobra.Command) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "send":
			c.ValidArgsFunction = a.namesOf(true, true, false)
		case "peek", "receive", "tail", "purge", "why", "wait":
			c.ValidArgsFunction = a.namesOf(true, false, true)
		case "bench":
			c.ValidArgsFunction = a.namesOf(true, false, false)
		case "message":
			for _, sub := range c.Commands() {
				sub.ValidArgsFunction = a.namesOf(true, true, true)
			}
		case "queue", "topic", "sub", "rule", "dlq":
			for _, sub := range c.Commands() {
				if sub.Name() != "create" && (sub.Name() != "ls" || c.Name() == "dlq" || c.Name() == "rule") || c.Name() == "rule" {
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

// namesOf returns the function that lists entities of these kinds as the first argument. It stays silent if it can't ask.
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
		return slices.DeleteFunc(found, func(name string) bool { return !strings.HasPrefix(name, begin) }), cobra.ShellCompDirectiveNoFileComp
	}
}

func pathsOf(all []entity) (paths []string) {
	for _, e := range all {
		paths = append(paths, e.path())
	}
	return paths
}

// completeServer adds the other commands of the program, so that the shell completes them too. They are never run here.
func completeServer(root *cobra.Command) {
	for i, w := range config.AllWords() {
		c := root
		if i > 0 {
			c = branch(root, strings.Fields(w.Name), w.Short)
		}
		for _, f := range w.Flags {
			if f.Arg == "" {
				c.Flags().Bool(f.Name, false, f.Help)
			} else {
				c.Flags().String(f.Name, "", f.Help)
			}
		}
	}
}

// branch makes the command of these words.
func branch(root *cobra.Command, words []string, short string) *cobra.Command {
	c := root
	for i, word := range words {
		at := slices.IndexFunc(c.Commands(), func(x *cobra.Command) bool { return x.Name() == word })
		if at >= 0 {
			c = c.Commands()[at]
			continue
		}
		next := &cobra.Command{Use: word, Run: func(*cobra.Command, []string) {}}
		if i == len(words)-1 {
			next.Short = short
		}
		c.AddCommand(next)
		c = next
	}
	return c
}
