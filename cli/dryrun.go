package cli

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

// dryRunFlag gives a command the flag by which it only says what it would do.
func dryRunFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("dry-run", false, "only say what would happen; nothing changes")
}

// countActive returns how many active messages an entity has, those among them that clients have locked, but no more
// than most, unless that is 0.
func (a *app) countActive(ctx context.Context, at address, most int) (n int, err error) {
	p, err := a.peeker(ctx, at, nil)
	if err != nil {
		return 0, err
	}
	err = p.each(ctx, math.MaxInt, func(m *message) error {
		if (m.State == "active" || m.State == "locked") && (most == 0 || n < most) {
			n++
		}
		return nil
	})
	return n, err
}

// countChosen returns how many messages of an entity a filter of a job selects, but no more than most, unless that is
// 0.
func (a *app) countChosen(ctx context.Context, entity string, f *api.JobFilter, most int) (n int, err error) {
	states := f.States
	if len(states) == 0 {
		states = []string{"active"}
	}
	query := url.Values{"limit": {strconv.Itoa(messagesPage)}, "body": {"0"}, "state": {strings.Join(states, ",")}}
	for name, value := range map[string]string{"sql": f.SQL, "text": f.Text} {
		if value != "" {
			query.Set(name, value)
		}
	}
	for name, value := range map[string]*string{"reason": f.Reason, "sessionId": f.SessionID} {
		if value != nil && *value == "" {
			query.Set(name, "$empty")
		} else if value != nil {
			query.Set(name, *value)
		}
	}
	if f.Before != nil {
		query.Set("enqueuedBefore", f.Before.Format(time.RFC3339Nano))
	}
	for {
		var page struct {
			Items []struct{ SequenceNumber int64 }
			Next  string
		}
		if err := a.control(ctx, http.MethodGet, inThis("entities", entity, "messages")+"?"+query.Encode(), nil,
			&page); err != nil {
			return 0, err
		}
		for _, m := range page.Items {
			if len(f.SequenceNumbers) == 0 || slices.Contains(f.SequenceNumbers, m.SequenceNumber) {
				n++
			}
		}
		if page.Next == "" || most > 0 && n >= most {
			break
		}
		query.Set("cursor", page.Next)
	}
	if most > 0 {
		n = min(n, most)
	}
	return n, nil
}

// wouldDo reports what a command would do to messages.
func (a *app) wouldDo(verb, entity string, n int, noun, to string) error {
	result := map[string]any{"dryRun": true, "entity": entity, verb: n}
	if to != "" {
		result["to"] = to
		to = " to " + to
	}
	return a.out.done(result, "would have %s %s from %s%s; nothing changed", verb, config.Plural(n, noun), entity, to)
}
