package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/spf13/cobra"

	"minibus/config"
)

func (a *app) queueCommand() *cobra.Command {
	return group("queue", "list, show, create, change and delete queues", "", entityCommands(a, &queues)...)
}

func (a *app) topicCommand() *cobra.Command {
	return group("topic", "the same for topics", "", entityCommands(a, &topics)...)
}

func (a *app) subCommand() *cobra.Command {
	c := group("sub", "the same for subscriptions, TOPIC/SUBSCRIPTION", "", entityCommands(a, &subscriptions)...)
	c.Aliases = []string{"subscription"}
	return c
}

// entityCommands makes the second words of a kind.
func entityCommands[P any](a *app, k *kind[P]) []*cobra.Command {
	return []*cobra.Command{listCommand(a, k), showCommand(a, k), createCommand(a, k), updateCommand(a, k),
		removeCommand(a, k)}
}

// path checks the path of an entity.
func (k *kind[P]) path(arg string) (string, error) {
	arg, err := clean(arg)
	if err != nil || k.name != "subscription" {
		return arg, err
	}
	topic, name, ok := splitSubscription(arg)
	if !ok {
		return "", Usage("a subscription is given as TOPIC/SUBSCRIPTION, found %q", oneLine(arg))
	}
	return topic + "/" + name, nil
}

// clean checks a name that becomes part of an address, which the SDK does not escape: what follows a question mark
// would be cut off.
func clean(name string) (string, error) {
	if i := strings.IndexFunc(name,
		func(r rune) bool { return strings.ContainsRune("?#%\\", r) || !unicode.IsPrint(r) }); i >= 0 {
		return "", Usage("no name of an entity has the character %q, found in %q", []rune(name[i:])[0], oneLine(name))
	}
	return strings.Trim(name, "/"), nil
}

func listCommand[P any](a *app, k *kind[P]) *cobra.Command {
	c := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "list " + k.plural + " with their counts",
		Args: Arguments(),
		Example: "  minibus " + word(k.name) + " ls\n  minibus " + word(k.name) +
			" ls -o json | jq '.[] | select(.counts.deadLetter > 0)'"}
	if k.name == "subscription" {
		c.Use, c.Args = "ls [TOPIC]", Arguments("[TOPIC]")
		c.Example = "  minibus sub ls            all topics'\n  minibus sub ls events"
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return list(cmd.Context(), a, k, strings.Join(args, ""))
	}
	return c
}

// list lists the entities of a kind, those of the topic parent if it is given.
func list[P any](ctx context.Context, a *app, k *kind[P], parent string) error {
	parent, err := clean(parent)
	if err != nil {
		return err
	}
	client, err := a.entities()
	if err != nil {
		return err
	}
	if parent != "" {
		if found, err := topics.get(ctx, client, parent); err != nil || found == nil {
			return a.about("topic "+parent, missing("topic", err))
		}
	}
	properties, states, err := k.list(ctx, client, parent)
	if err != nil {
		return a.about("list "+k.plural, err)
	}
	a.out.list(k.columns...)
	all := sorted(k, properties, states)
	for _, e := range all {
		if e.Counts == nil {
			e.Counts = &counts{} // made between the two lists
		}
		if err := a.out.add(e, k.row(e)...); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		a.note("no %s", k.plural)
	}
	return nil
}

// missing is the error for an entity that does not exist, if there is no other.
func missing(what string, err error) error {
	if err != nil {
		return err
	}
	return failed(exitNotFound, "there is no such %s; minibus %s ls lists what there is", what, word(what))
}

// word is the first word of a kind's commands.
func word(kind string) string {
	if kind == "subscription" {
		return "sub"
	}
	return kind
}

func showCommand[P any](a *app, k *kind[P]) *cobra.Command {
	return &cobra.Command{Use: "show " + k.argument, Short: "show one with its counts and all properties",
		Args: Arguments(k.argument),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := k.path(args[0])
			if err != nil {
				return err
			}
			client, err := a.entities()
			if err != nil {
				return err
			}
			properties, err := k.get(cmd.Context(), client, path)
			if err != nil || properties == nil {
				return a.about(k.name+" "+path, missing(k.name, err))
			}
			state, err := k.state(cmd.Context(), client, path)
			if err != nil || state == nil {
				if other := otherKind(cmd.Context(), client, k.name, path); other != "" {
					return failed(exitNotFound, "%s is a %s; see minibus %s show %s", path, other, other, path)
				}
				return a.about(k.name+" "+path, missing(k.name, err))
			}
			e := k.describe(path, properties, state)
			return a.out.one(e, append(e.pairs(), pairs(properties)...)...)
		}}
}

// otherKind returns "topic" if a path that was taken for a queue's is that of a topic, "queue" for the reverse, and
// else nothing. The service answers about either under the same address, so only the content tells.
func otherKind(ctx context.Context, client *admin.Client, kind, path string) string {
	switch kind {
	case queues.name:
		if s, err := topics.state(ctx, client, path); err == nil && s != nil {
			return topics.name
		}
	case topics.name:
		if s, err := queues.state(ctx, client, path); err == nil && s != nil {
			return queues.name
		}
	}
	return ""
}

// pairs returns what is not a property, for people.
func (e entity) pairs() [][2]string {
	all := [][2]string{{e.Kind, e.path()}}
	add := func(name, value string) {
		if value != "" {
			all = append(all, [2]string{name, value})
		}
	}
	c := e.Counts
	add("active", number(c.Active))
	add("dead-letter", number(c.DeadLetter))
	add("scheduled", number(c.Scheduled))
	add("transfer", number(c.Transfer))
	add("transfer dead-letter", number(c.TransferDeadLetter))
	add("subscriptions", number(c.Subscriptions))
	add("bytes", number(e.SizeInBytes))
	for _, t := range []struct {
		name string
		at   *time.Time
	}{{"created", e.CreatedAt}, {"updated", e.UpdatedAt}, {"accessed", e.AccessedAt}} {
		if t.at != nil {
			add(t.name, t.at.Format(time.RFC3339))
		}
	}
	return all
}

func createCommand[P any](a *app, k *kind[P]) *cobra.Command {
	c := &cobra.Command{Use: "create " + k.argument, Short: "create one", Args: Arguments(k.argument),
		Example: createExample(k.name)}
	fill := propertyFlags[P](c, true)
	ifNotExists := c.Flags().Bool("if-not-exists", false, "succeed if it exists, and leave it as it is")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := k.path(args[0])
		if err != nil {
			return err
		}
		properties := new(P)
		if _, err := fill(properties); err != nil {
			return err
		}
		client, err := a.entities()
		if err != nil {
			return err
		}
		a.absolute(properties)
		made, err := k.create(cmd.Context(), client, path, properties)
		if exists(err) && *ifNotExists {
			found, err := k.get(cmd.Context(), client, path)
			if err != nil || found == nil {
				return a.about(k.name+" "+path, missing(k.name, err))
			}
			e := k.describe(path, found, nil)
			return a.out.done(e, "%s %s exists", k.name, e.path())
		}
		if exists(err) {
			return a.about("create "+k.name+" "+path, fmt.Errorf("%w", &failure{exitFailed,
				"it exists; --if-not-exists accepts that, minibus " + word(k.name) + " update changes it"}))
		}
		if err != nil && k.name == "subscription" && a.explain(err).code == exitNotFound {
			err = missing("topic", nil)
		}
		if err != nil {
			return a.about("create "+k.name+" "+path, err)
		}
		e := k.describe(path, &made, nil)
		return a.out.done(e, "created %s %s", k.name, e.path())
	}
	return c
}

func createExample(kind string) string {
	switch kind {
	case "queue":
		return "  minibus queue create orders --lock-duration 30s --max-delivery-count 3\n" +
			"  minibus queue create orders --requires-session --default-message-time-to-live 14d --if-not-exists"
	case "topic":
		return "  minibus topic create events --requires-duplicate-detection " +
			"--duplicate-detection-history-time-window 10m"
	}
	return "  minibus sub create events/audit --max-delivery-count 5\n" +
		"  minibus sub create events/large --forward-to bulk"
}

// exists reports whether an entity was not created because there is one.
func exists(err error) bool {
	var answer *azcore.ResponseError
	return errors.As(err, &answer) && answer.StatusCode == http.StatusConflict
}

func updateCommand[P any](a *app, k *kind[P]) *cobra.Command {
	c := &cobra.Command{Use: "update " + k.argument, Short: "change properties of one; the others stay as they are",
		Args:    Arguments(k.argument),
		Example: "  minibus " + word(k.name) + " update " + k.argument + " --status Disabled"}
	fill := propertyFlags[P](c, false)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := k.path(args[0])
		if err != nil {
			return err
		}
		given, err := fill(new(P)) // wrong flags are wrong without a connection too
		if err != nil {
			return err
		}
		if given == 0 {
			return Usage("%s: no property to change; see %s --help", called(cmd), cmd.CommandPath())
		}
		client, err := a.entities()
		if err != nil {
			return err
		}
		changed, err := change(cmd.Context(), a, k, client, path, fill)
		if err != nil {
			return a.about("update "+k.name+" "+path, err)
		}
		e := k.describe(path, changed, nil)
		return a.out.done(e, "updated %s %s", k.name, e.path())
	}
	return c
}

// change reads an entity and writes it back with other properties. The service offers no way to notice a change
// between the two.
func change[P any](ctx context.Context, a *app, k *kind[P], client *admin.Client, path string,
	fill func(*P) (int, error)) (*P, error) {
	properties, err := k.get(ctx, client, path)
	if err != nil || properties == nil {
		return nil, missing(k.name, err)
	}
	if _, err := fill(properties); err != nil {
		return nil, err
	}
	a.absolute(properties)
	changed, err := k.update(ctx, client, path, *properties)
	return &changed, err
}

func removeCommand[P any](a *app, k *kind[P]) *cobra.Command {
	c := &cobra.Command{Use: "rm " + k.argument + "...", Aliases: []string{"delete"},
		Short: "delete some with all their messages",
		Long:  "Deletes them with all their messages, without a way back. " + asksFirst,
		Args:  Arguments(k.argument + "...")}
	yes := yesFlag(c)
	dryRun := dryRunFlag(c)
	ifExists := c.Flags().Bool("if-exists", false, "succeed if there is none")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var paths []string
		for _, arg := range args {
			path, err := k.path(arg)
			if err != nil {
				return err
			}
			paths = append(paths, path)
		}
		client, err := a.entities()
		if err != nil {
			return err
		}
		if *dryRun {
			for _, path := range paths {
				if err := wouldDelete(cmd.Context(), a, k, client, path); err != nil {
					return err
				}
			}
			return nil
		}
		if err := a.confirm(*yes, "Delete %s %s at %s, with all messages?", k.name, strings.Join(paths, ", "),
			a.host()); err != nil {
			return err
		}
		for _, path := range paths {
			if err := removeOne(cmd.Context(), a, k, client, path, *ifExists); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// wouldDelete says what would be deleted with an entity.
func wouldDelete[P any](ctx context.Context, a *app, k *kind[P], client *admin.Client, path string) error {
	state, err := k.state(ctx, client, path)
	if err != nil || state == nil {
		return a.about(k.name+" "+path, missing(k.name, err))
	}
	var parts []string
	for _, p := range []struct {
		n    *int32
		noun string
	}{{state.Counts.Active, "active message"}, {state.Counts.DeadLetter, "dead letter"},
		{state.Counts.Scheduled, "scheduled message"}, {state.Counts.Subscriptions, "subscription"}} {
		if p.n != nil && *p.n > 0 {
			parts = append(parts, config.Plural(int(*p.n), p.noun))
		}
	}
	with := strings.Join(parts, ", ")
	if with == "" {
		with = "nothing in it"
	}
	return a.out.done(map[string]any{"dryRun": true, "deleted": path, "kind": k.name, "counts": state.Counts},
		"would have deleted %s %s, with %s; nothing changed", k.name, path, with)
}

func removeOne[P any](ctx context.Context, a *app, k *kind[P], client *admin.Client, path string, ifExists bool) error {
	err := k.remove(ctx, client, path)
	if err == nil {
		return a.out.done(map[string]any{"deleted": path, "kind": k.name}, "deleted %s %s", k.name, path)
	}
	f := a.explain(err)
	switch {
	case f.code == exitNotFound && ifExists:
		return nil
	case f.code == exitNotFound:
		return a.about("delete "+k.name+" "+path, missing(k.name, nil))
	}
	return a.about("delete "+k.name+" "+path, f)
}
