package cli

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/internal/entitypath"
	"minibus/internal/printable"
)

// trackingTail is what the service appends to its errors, for its own support.
var trackingTail = regexp.MustCompile(`[ .]*TrackingId:\S+,\s*SystemTracker:.*?,\s*Timestamp:[^\s;)]+( \(|;|$)`)

// listsWhatIs finds the hint of an error about an entity that does not exist.
var listsWhatIs = regexp.MustCompile(`; minibus \S+ ls\b.* lists? what there is$`)

// forwardsInstead is in the error for a receiver of an entity whose messages go elsewhere.
const forwardsInstead = "Cannot create a message receiver on an entity with auto-forwarding enabled"

// guessPatience bounds how long a better hint may take.
const guessPatience = 2 * time.Second

// improve puts the likely fix into an error about the entity that the first argument names: the nearest name, or where
// its messages go. It leaves the error as it is if it can't ask.
func (a *app) improve(ctx context.Context, f *failure) {
	args := a.command.Flags().Args()
	if len(args) == 0 {
		return
	}
	isForward := strings.Contains(f.text, forwardsInstead)
	if !isForward && !(f.code == exitNotFound && listsWhatIs.MatchString(f.text)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, guessPatience)
	defer cancel()
	client, err := a.entities()
	if err != nil {
		return
	}
	path, sub := entitypath.CutSubQueue(strings.Trim(args[0], "/"))
	if isForward {
		dead := sub != entitypath.Main || strings.HasPrefix(called(a.command), "dlq ")
		if flag := a.command.Flags().Lookup("dlq"); flag != nil && flag.Changed {
			dead = true
		}
		if to := targetOf(ctx, client, path, dead); to != "" {
			begin, _, _ := strings.Cut(f.text, forwardsInstead)
			what := "its messages"
			if dead {
				what = "its dead letters"
			}
			f.text = begin + what + " are forwarded to " + to + ": look there, with minibus peek " + to
		}
		return
	}
	if topic, name, ok := splitSubscription(path); ok {
		path = topic + "/" + name
	}
	var all []string
	q, states, _ := queues.list(ctx, client, "")
	all = append(all, pathsOf(sorted(&queues, q, states))...)
	t, states, _ := topics.list(ctx, client, "")
	all = append(all, pathsOf(sorted(&topics, t, states))...)
	s, states, _ := subscriptions.list(ctx, client, "")
	all = append(all, pathsOf(sorted(&subscriptions, s, states))...)
	near := printable.Closest(path, all)
	topic, name, isSubscription := splitSubscription(path)
	if of, other, ok := splitSubscription(near); isSubscription && ok && strings.EqualFold(of, topic) &&
		printable.Closest(name, []string{other}) == "" {
		return // only the topic is alike
	}
	if near != "" && !strings.EqualFold(near, path) {
		f.text = listsWhatIs.ReplaceAllString(f.text, "; did you mean "+strings.ReplaceAll(near, "$", "$$")+"?")
	}
}

// targetOf returns where the messages or the dead letters of an entity are forwarded; empty if that is not known.
func targetOf(ctx context.Context, client *admin.Client, path string, dead bool) string {
	name := "ForwardTo"
	if dead {
		name = "ForwardDeadLetteredMessagesTo"
	}
	if topic, subscription, ok := splitSubscription(path); ok {
		path = topic + "/" + subscription
		if p, err := subscriptions.get(ctx, client, path); err == nil && p != nil {
			to, _ := asMap(p)[name].(string)
			return to
		}
	}
	if p, err := queues.get(ctx, client, path); err == nil && p != nil {
		to, _ := asMap(p)[name].(string)
		return to
	}
	return ""
}
