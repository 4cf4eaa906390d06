package cli

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/spf13/cobra"
)

func (a *app) dlqCommand() *cobra.Command {
	return group("dlq", "dead letters: list them by reason, send them again, remove them", "", a.dlqList(),
		a.dlqResubmit(), a.dlqPurge())
}

// deadLetterGroup is the dead letters of an entity with the same reason.
type deadLetterGroup struct {
	Entity      string     `json:"entity"`
	Reason      string     `json:"reason"`
	Description string     `json:"description,omitempty"` // of the newest one
	Count       int        `json:"count"`
	Oldest      *time.Time `json:"oldest,omitempty"` // when it was enqueued
	Newest      *time.Time `json:"newest,omitempty"`
}

func (a *app) dlqList() *cobra.Command {
	var transfer bool
	c := &cobra.Command{Use: "ls [ENTITY]",
		Short: "list the dead letters of an entity by reason, or the entities that have some",
		Args:  Arguments("[ENTITY]"),
		Long: `With ENTITY it looks at all dead letters and counts them by reason. Without, it lists the queues and
subscriptions that have dead letters; that needs the right to manage.`,
		Example: "  minibus dlq ls\n  minibus dlq ls events/audit -o json"}
	c.Flags().BoolVar(&transfer, "transfer", false,
		"the transfer dead-letter queue: messages that could not be forwarded")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.entitiesWithDeadLetters(cmd.Context(), transfer)
		}
		at, err := parseDead(args[0], transfer)
		if err != nil {
			return err
		}
		return a.reasons(cmd.Context(), at)
	}
	return c
}

// parseDead reads the path of an entity whose dead letters are meant.
func parseDead(arg string, transfer bool) (address, error) {
	at, err := parseAddress(arg, subQueueFlags{transfer: transfer})
	if err == nil && at.sub == 0 {
		at.sub = azservicebus.SubQueueDeadLetter
	}
	return at, err
}

// entitiesWithDeadLetters lists them, with their counts.
func (a *app) entitiesWithDeadLetters(ctx context.Context, transfer bool) error {
	client, err := a.entities()
	if err != nil {
		return err
	}
	q, states, err := queues.list(ctx, client, "")
	if err != nil {
		return a.about("list queues", err)
	}
	all := sorted(&queues, q, states)
	s, states, err := subscriptions.list(ctx, client, "")
	if err != nil {
		return a.about("list subscriptions", err)
	}
	a.out.list("ENTITY", "DEAD-LETTERS")
	some := false
	for _, e := range append(all, sorted(&subscriptions, s, states)...) {
		if e.Counts == nil {
			continue
		}
		count := e.Counts.DeadLetter
		if transfer {
			count = e.Counts.TransferDeadLetter
		}
		if count == nil || *count == 0 {
			continue
		}
		some = true
		if err := a.out.add(map[string]any{"entity": e.path(), "count": *count}, e.path(), number(count)); err != nil {
			return err
		}
	}
	if !some {
		a.note("no entity has dead letters")
	}
	return nil
}

// reasons lists the dead letters of one entity by reason, the most frequent first.
func (a *app) reasons(ctx context.Context, at address) error {
	p, err := a.peeker(ctx, at, nil)
	if err != nil {
		return err
	}
	entity := p.at // an unsure address is resolved
	entity.sub = 0
	p.does = "list the dead letters of " + entity.String()
	found := make(map[string]*deadLetterGroup)
	err = p.each(ctx, math.MaxInt, func(m *message) error {
		reason := reasonOf(m)
		l := found[reason]
		if l == nil {
			l = &deadLetterGroup{Entity: p.at.String(), Reason: reason, Oldest: m.EnqueuedTime}
			found[reason] = l
		}
		l.Count++
		l.Newest = m.EnqueuedTime
		l.Description, _ = m.ApplicationProperties["DeadLetterErrorDescription"].(string)
		return nil
	})
	if err != nil {
		return err
	}
	a.out.list("REASON", "COUNT", "OLDEST", "NEWEST", "DESCRIPTION OF THE NEWEST")
	for _, l := range slices.SortedFunc(maps.Values(found), func(x, y *deadLetterGroup) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Reason, y.Reason))
	}) {
		count := int64(l.Count)
		if err := a.out.add(l, cmp.Or(l.Reason, "(none)"), number(&count), stamp(l.Oldest), stamp(l.Newest),
			oneLine(l.Description)); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		a.note("no dead letters in %s", entity)
	}
	return nil
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}
