package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/spf13/cobra"
)

// rule is a rule as JSON.
type rule struct {
	Topic        string         `json:"topic"`
	Subscription string         `json:"subscription"`
	Name         string         `json:"name"`
	Filter       string         `json:"filter"` // sql, correlation, true, false
	SQL          string         `json:"sql,omitempty"`
	Correlation  map[string]any `json:"correlation,omitempty"`
	Properties   map[string]any `json:"applicationProperties,omitempty"` // of a correlation filter
	Parameters   map[string]any `json:"parameters,omitempty"`
	Action       string         `json:"action,omitempty"`
}

func (a *app) ruleCommand() *cobra.Command {
	return group("rule", "the same for rules of a subscription, TOPIC/SUBSCRIPTION RULE", "",
		a.ruleList(), a.ruleShow(), a.ruleWrite(true), a.ruleWrite(false), a.ruleRemove(), a.ruleTest())
}

const ruleArgument = "TOPIC/SUBSCRIPTION"

// ruleNames wants a subscription and the name of a rule.
func ruleNames(c *cobra.Command, args []string) error {
	if err := Arguments(ruleArgument, "RULE")(c, args); err != nil {
		return err
	}
	_, err := clean(args[1])
	return err
}

// subscription takes the argument apart and makes the client.
func (a *app) subscription(arg string) (topic, name string, client *admin.Client, err error) {
	arg, err = clean(arg)
	if err != nil {
		return "", "", nil, err
	}
	topic, name, ok := splitSubscription(arg)
	if !ok {
		return "", "", nil, Usage("a subscription is given as TOPIC/SUBSCRIPTION, found %q", oneLine(arg))
	}
	client, err = a.entities()
	return topic, name, client, err
}

func (a *app) ruleList() *cobra.Command {
	return &cobra.Command{Use: "ls " + ruleArgument, Aliases: []string{"list"},
		Short: "list the rules of a subscription", Args: Arguments(ruleArgument),
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, sub, client, err := a.subscription(args[0])
			if err != nil {
				return err
			}
			if found, err := subscriptions.get(cmd.Context(), client, topic+"/"+sub); err != nil || found == nil {
				return a.about("subscription "+topic+"/"+sub, missing("subscription", err))
			}
			all, err := pages(cmd.Context(), client.NewListRulesPager(topic, sub, nil),
				func(r admin.ListRulesResponse) []admin.RuleProperties { return r.Rules })
			if err != nil {
				return a.about("list rules", err)
			}
			a.out.list("NAME", "FILTER", "CONDITION", "ACTION")
			for _, p := range all {
				r := ruleOf(topic, sub, p)
				if err := a.out.add(r, r.Name, r.Filter, r.condition(), r.Action); err != nil {
					return err
				}
			}
			if len(all) == 0 {
				a.note("no rules: the subscription takes no messages")
			}
			return nil
		}}
}

func (a *app) ruleShow() *cobra.Command {
	return &cobra.Command{Use: "show " + ruleArgument + " RULE", Short: "show a rule", Args: ruleNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, sub, client, err := a.subscription(args[0])
			if err != nil {
				return err
			}
			found, err := client.GetRule(cmd.Context(), topic, sub, args[1], nil)
			if err != nil || found == nil {
				return a.about("rule "+args[1]+" of "+topic+"/"+sub,
					a.missingRule(cmd.Context(), client, topic, sub, err))
			}
			r := ruleOf(topic, sub, found.RuleProperties)
			return a.out.one(r, [2]string{"rule", r.Name}, [2]string{"subscription", topic + "/" + sub},
				[2]string{"filter", r.Filter},
				[2]string{"condition", r.condition()}, [2]string{"action", r.Action})
		}}
}

// missingRule is the error for a rule or a subscription that does not exist, if there is no other.
func (a *app) missingRule(ctx context.Context, client *admin.Client, topic, sub string, err error) error {
	if err != nil && a.explain(err).code != exitNotFound {
		return err
	}
	if found, err := subscriptions.get(ctx, client, topic+"/"+sub); err != nil || found == nil {
		return missing("subscription", err)
	}
	return failed(exitNotFound, "there is no such rule; minibus rule ls %s/%s lists what there is", topic, sub)
}

// ruleFlags are the flags of create and update.
type ruleFlags struct {
	sql, action string
	all, none   bool
	correlation []string
	properties  []string
	ifNotExists bool
}

// ruleWrite is create, or update, which replaces filter and action.
func (a *app) ruleWrite(creating bool) *cobra.Command {
	f := &ruleFlags{}
	c := &cobra.Command{Use: "create " + ruleArgument + " RULE", Short: "create a rule", Args: ruleNames,
		Long: "A rule has one filter: --sql, or --correlation and --property, which must all match, or --true, or " +
			"--false. Names for --correlation are\n" +
			strings.Join(slices.Sorted(maps.Keys(correlationFields)), ", ") + ".",
		Example: "  minibus rule rm events/large '$Default'    the rule of a new subscription, which takes every " +
			"message\n" +
			"  minibus rule create events/large big --sql \"amount > 1000\" --action \"SET priority = 'high'\"\n" +
			"  minibus rule create events/audit red --correlation subject=red --property tenant=a --property " +
			"size=int:5"}
	if !creating {
		c.Use = "update " + ruleArgument + " RULE"
		c.Short = "replace the filter and the action of a rule"
		c.Example = "  minibus rule update events/large big --sql \"amount > 5000\""
	}
	c.Flags().StringVar(&f.sql, "sql", "", "SQL `condition`")
	c.Flags().StringArrayVar(&f.correlation, "correlation", nil, "`name=value` of a system property that must be equal")
	c.Flags().StringArrayVarP(&f.properties, "property", "p", nil,
		"`name=value` of an application property that must be equal; name=type:value for other types than string")
	c.Flags().BoolVar(&f.all, "true", false, "take every message")
	c.Flags().BoolVar(&f.none, "false", false, "take no message")
	c.Flags().StringVar(&f.action, "action", "", "SQL `statements` that change the copy")
	if creating {
		c.Flags().BoolVar(&f.ifNotExists, "if-not-exists", false, "succeed if it exists, and leave it as it is")
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := f.filter()
		if err != nil {
			return err
		}
		topic, sub, client, err := a.subscription(args[0])
		if err != nil {
			return err
		}
		p := admin.RuleProperties{Name: args[1], Filter: filter}
		if f.action != "" {
			p.Action = &admin.SQLAction{Expression: f.action}
		}
		return a.writeRule(cmd.Context(), client, topic, sub, p, creating, f.ifNotExists)
	}
	return c
}

func (a *app) writeRule(ctx context.Context, client *admin.Client, topic, sub string, p admin.RuleProperties,
	creating, ifNotExists bool) error {
	what, err := "rule "+p.Name+" of "+topic+"/"+sub, error(nil)
	if !creating {
		if _, err = client.UpdateRule(ctx, topic, sub, p); err != nil {
			return a.about("update "+what, a.missingRule(ctx, client, topic, sub, err))
		}
		return a.out.done(ruleOf(topic, sub, p), "updated %s", what)
	}
	_, err = client.CreateRule(ctx, topic, sub,
		&admin.CreateRuleOptions{Name: &p.Name, Filter: p.Filter, Action: p.Action})
	switch {
	case exists(err) && ifNotExists:
		found, err := client.GetRule(ctx, topic, sub, p.Name, nil)
		if err != nil || found == nil {
			return a.about(what, a.missingRule(ctx, client, topic, sub, err))
		}
		return a.out.done(ruleOf(topic, sub, found.RuleProperties), "%s exists", what)
	case exists(err):
		return a.about("create "+what,
			failed(exitFailed, "it exists; --if-not-exists accepts that, minibus rule update changes it"))
	case err != nil:
		return a.about("create "+what, a.missingRule(ctx, client, topic, sub, err))
	}
	return a.out.done(ruleOf(topic, sub, p), "created %s", what)
}

func (a *app) ruleRemove() *cobra.Command {
	c := &cobra.Command{Use: "rm " + ruleArgument + " RULE", Aliases: []string{"delete"},
		Short: "delete a rule; it asks first if a person is at the terminal", Args: ruleNames}
	yes := yesFlag(c)
	ifExists := c.Flags().Bool("if-exists", false, "succeed if there is none")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		topic, sub, client, err := a.subscription(args[0])
		if err != nil {
			return err
		}
		what := "rule " + args[1] + " of " + topic + "/" + sub
		if err := a.confirm(*yes, "Delete %s at %s?", what, a.host()); err != nil {
			return err
		}
		if _, err = client.DeleteRule(cmd.Context(), topic, sub, args[1], nil); err != nil {
			f := a.explain(err)
			if f.code == exitNotFound && *ifExists {
				return nil
			}
			if f.code == exitNotFound {
				return a.about("delete "+what, a.missingRule(cmd.Context(), client, topic, sub, nil))
			}
			return a.about("delete "+what, f)
		}
		return a.out.done(map[string]any{"deleted": args[1], "kind": "rule", "topic": topic, "subscription": sub},
			"deleted %s", what)
	}
	return c
}

// correlationFields are the system properties of a correlation filter, by their names here.
var correlationFields = map[string]func(*admin.CorrelationFilter) **string{
	"contentType":      func(f *admin.CorrelationFilter) **string { return &f.ContentType },
	"correlationId":    func(f *admin.CorrelationFilter) **string { return &f.CorrelationID },
	"messageId":        func(f *admin.CorrelationFilter) **string { return &f.MessageID },
	"replyTo":          func(f *admin.CorrelationFilter) **string { return &f.ReplyTo },
	"replyToSessionId": func(f *admin.CorrelationFilter) **string { return &f.ReplyToSessionID },
	"sessionId":        func(f *admin.CorrelationFilter) **string { return &f.SessionID },
	"subject":          func(f *admin.CorrelationFilter) **string { return &f.Subject },
	"to":               func(f *admin.CorrelationFilter) **string { return &f.To },
}

// filter makes the filter that the flags describe.
func (f *ruleFlags) filter() (admin.RuleFilter, error) {
	given := 0
	for _, yes := range []bool{f.sql != "", len(f.correlation)+len(f.properties) > 0, f.all, f.none} {
		if yes {
			given++
		}
	}
	if given != 1 {
		return nil, Usage("a rule needs one filter: --sql CONDITION, or --correlation and --property, or --true, " +
			"or --false")
	}
	switch {
	case f.sql != "":
		return &admin.SQLFilter{Expression: f.sql}, nil
	case f.all:
		return &admin.TrueFilter{}, nil
	case f.none:
		return &admin.FalseFilter{}, nil
	}
	c := &admin.CorrelationFilter{}
	for _, pair := range f.correlation {
		name, value, ok := strings.Cut(pair, "=")
		field := correlationFields[name]
		if !ok || field == nil {
			return nil, Usage("--correlation: found %q; allowed: NAME=VALUE with a NAME of %s", oneLine(pair),
				strings.Join(slices.Sorted(maps.Keys(correlationFields)), ", "))
		}
		*field(c) = &value
	}
	var err error
	c.ApplicationProperties, err = propertyPairs("--property", f.properties)
	return c, err
}

// ruleOf returns a rule as JSON.
func ruleOf(topic, sub string, p admin.RuleProperties) rule {
	r := rule{Topic: topic, Subscription: sub, Name: p.Name}
	switch f := p.Filter.(type) {
	case *admin.TrueFilter:
		r.Filter = "true"
	case *admin.FalseFilter:
		r.Filter = "false"
	case *admin.SQLFilter:
		r.Filter = "sql"
		r.SQL = f.Expression
		r.Parameters = f.Parameters
	case *admin.CorrelationFilter:
		r.Filter = "correlation"
		r.Correlation = make(map[string]any)
		r.Properties = f.ApplicationProperties
		for name, field := range correlationFields {
			if v := *field(f); v != nil {
				r.Correlation[name] = *v
			}
		}
	default:
		r.Filter = "unknown"
	}
	if action, ok := p.Action.(*admin.SQLAction); ok {
		r.Action = action.Expression
	}
	return r
}

// condition shows the filter on a line.
func (r rule) condition() string {
	if r.Filter != "correlation" {
		return r.SQL
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Correlation)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, r.Correlation[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Properties)) {
		parts = append(parts, fmt.Sprintf("property %s=%v", name, r.Properties[name]))
	}
	return strings.Join(parts, " AND ")
}
