package management

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
)

func TestFWD4_RequestsToAnEntityThatForwards(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.ctx.Queue = f.create("source", emulator.QueueOptions{ForwardTo: "orders"})
		requests := map[string]func() answer{
			"peek-message": func() answer { return peek(f, int64(0), int32(1)) },
			"schedule-message": func() answer {
				return schedule(f,
					amqp.Map{{Key: "message", Value: scheduled(f, "a", time.Hour)}})
			},
			"cancel-scheduled-message":   func() answer { return cancel(f, []int64{1}) },
			"receive-by-sequence-number": func() answer { return receive(f, []int64{1}, uint32(1)) },
			"batch-delete-messages":      func() answer { return remove(f, int32(1), time.Now()) },
		}
		const text = "Cannot create a message browser on an entity with auto-forwarding enabled."
		for _, tx := range []*emulator.Transaction{nil, f.ns.Begin(false, "")} {
			f.ctx.Tx = tx
			for name, request := range requests {
				if tx != nil && operations["com.microsoft:"+name].inTx == refusedIn {
					continue
				}
				if a := request(); a.code != 400 || a.condition != "amqp:not-allowed" || a.text != text {
					f.Errorf("%s: %d %q %q", name, a.code, a.condition, a.text)
				}
			}
		}
		f.ctx = f.deadLetters()
		f.ctx.Tx = nil
		peek(f, int64(0), int32(1)).want(f, 204, "")
		receive(f, []int64{1}, uint32(1)).want(f, 404, "com.microsoft:message-not-found")
		remove(f, int32(1), time.Now()).want(f, 204, "")
	})
}

// TestFWD4_RulesOfASubscriptionThatForwards: they can be made and deleted here, but listed over HTTP only.
func TestFWD4_RulesOfASubscriptionThatForwards(t *testing.T) {
	inRuleBubble(t, func(f *fixture) {
		f.create("target", emulator.QueueOptions{})
		s := f.subscription()
		o := s.Options()
		o.Queue.ForwardTo = "target"
		if _, err := f.ns.Entities().UpdateSubscription("t", o); err != nil {
			f.Fatal(err)
		}
		f.request("add-rule", ruleNamed("a", sqlFilter("a = 1"))).want(f, 200, "")
		f.request("remove-rule", amqp.Map{{Key: "rule-name", Value: "$Default"}}).want(f, 200, "")
		a := f.request("enumerate-rules", amqp.Map{{Key: "skip", Value: int32(0)}, {Key: "top", Value: int32(100)}})
		const text = "Cannot create a message browser on an entity with auto-forwarding enabled."
		if a.code != 400 || a.condition != "amqp:not-allowed" || a.text != text {
			f.Errorf("%d %q %q", a.code, a.condition, a.text)
		}
		if rules, err := s.Rules(0, 10); err != nil || len(rules) != 1 || rules[0].Name != "a" {
			f.Errorf("rules %+v, %v", rules, err)
		}
	})
}
