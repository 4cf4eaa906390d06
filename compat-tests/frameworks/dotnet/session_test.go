package dotnetfw

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
)

// session makes the filter for a session, or for the next one.
func session(id string) []amqp.LinkFilter {
	if id == "next" {
		return []amqp.LinkFilter{amqp.NewLinkFilter(sessionFilter, 0x137000000C, nil)}
	}
	return []amqp.LinkFilter{amqp.NewLinkFilter(sessionFilter, 0x137000000C, id)}
}

func (c *client) accept(ctx context.Context, args []string) (string, error) {
	receiver, err := c.link(ctx, args[0], session(args[1]))
	if err != nil {
		return "", err
	}
	c.receivers[args[0]] = receiver
	return held(receiver), nil
}

func held(receiver *amqp.Receiver) string {
	return fmt.Sprint(receiver.LinkSourceFilterValue(sessionFilter))
}

// cancelAccept detaches, and ends the AMQP session, before there was an answer.
func (c *client) cancelAccept(ctx context.Context, args []string) (string, error) {
	brief, stop := context.WithTimeout(ctx, 500*time.Millisecond)
	defer stop()
	_, err := c.link(brief, args[0], session("next"))
	if errors.Is(err, context.DeadlineExceeded) {
		return "ok", nil
	}
	return "accepted", err
}

// acceptAtOnce opens links as a session processor does, and sorts the ids of the sessions that they get.
func (c *client) acceptAtOnce(ctx context.Context, args []string) (string, error) {
	count, _ := strconv.Atoi(args[1])
	type result struct {
		id  string
		err error
	}
	results := make(chan result, count)
	for range count {
		go func() {
			receiver, err := c.link(ctx, args[0], session("next"))
			if err != nil {
				results <- result{err: err}
				return
			}
			results <- result{id: held(receiver)}
		}()
	}
	var ids []string
	for range count {
		got := <-results
		if got.err != nil {
			return "", got.err
		}
		ids = append(ids, got.id)
	}
	slices.Sort(ids)
	return strings.Join(ids, " "), nil
}

var states = map[any]string{int32(0): "active", int32(1): "deferred", int32(2): "scheduled", nil: "active"}

func (c *client) peek(ctx context.Context, args []string) (string, error) {
	answer, err := c.manage(ctx, args[0], "peek-message", map[string]any{"from-sequence-number": int64(0), "message-count": int32(100)})
	if err != nil || status(answer, "statusCode") == "204" {
		return "none", err
	}
	body, _ := answer.Value.(map[string]any)
	list, _ := body["messages"].([]any)
	var found []string
	for _, one := range list {
		entry, _ := one.(map[string]any)
		encoded, _ := entry["message"].([]byte)
		var m amqp.Message
		if err := m.UnmarshalBinary(encoded); err != nil {
			return "", err
		}
		found = append(found, string(m.GetData())+":"+states[m.Annotations["x-opt-message-state"]])
	}
	return strings.Join(found, " "), nil
}

func (c *client) schedule(ctx context.Context, args []string) (string, error) {
	m, err := message(args[1], []string{"at=" + args[2]})
	if err != nil {
		return "", err
	}
	encoded, err := m.MarshalBinary()
	if err != nil {
		return "", err
	}
	answer, err := c.manage(ctx, args[0], "schedule-message", map[string]any{
		"messages": []any{map[string]any{"message-id": args[1], "message": encoded}}})
	if err != nil {
		return "", err
	}
	body, _ := answer.Value.(map[string]any)
	if numbers, _ := body["sequence-numbers"].([]int64); len(numbers) == 1 {
		c.number = numbers[0]
	}
	return status(answer, "statusCode"), nil
}

func (c *client) cancel(ctx context.Context, args []string) (string, error) {
	answer, err := c.manage(ctx, args[0], "cancel-scheduled-message", map[string]any{"sequence-numbers": []int64{c.number}})
	return status(answer, "statusCode"), err
}

// renew renews the lock of what came last. The delivery's tag is the token, as .NET writes a GUID.
func (c *client) renew(ctx context.Context, args []string) (string, error) {
	tag := c.last[0].DeliveryTag
	if len(tag) != 16 {
		return "", fmt.Errorf("the tag is %s", hex.EncodeToString(tag))
	}
	id := amqp.UUID(tag)
	slices.Reverse(id[:4])
	slices.Reverse(id[4:6])
	slices.Reverse(id[6:8])
	answer, err := c.manage(ctx, args[0], "renew-lock", map[string]any{"lock-tokens": []amqp.UUID{id}})
	return status(answer, "statusCode"), err
}

// addRule adds a rule with an SQL filter, or with a correlation filter for a property that is true.
func (c *client) addRule(ctx context.Context, args []string) (string, error) {
	description := map[string]any{"sql-filter": map[string]any{"expression": args[2]}}
	if property, isCorrelation := strings.CutPrefix(args[2], "p:"); isCorrelation {
		description = map[string]any{"correlation-filter": map[string]any{"properties": map[string]any{property: "true"}}}
	}
	answer, err := c.manage(ctx, args[0], "add-rule", map[string]any{"rule-name": args[1], "rule-description": description})
	return status(answer, "statusCode"), err
}

func (c *client) removeRule(ctx context.Context, args []string) (string, error) {
	answer, err := c.manage(ctx, args[0], "remove-rule", map[string]any{"rule-name": args[1]})
	return status(answer, "statusCode"), err
}

func (c *client) setState(ctx context.Context, args []string) (string, error) {
	answer, err := c.manage(ctx, args[0], "set-session-state", map[string]any{"session-id": args[1], "session-state": []byte(args[2])})
	return status(answer, "statusCode"), err
}

func (c *client) getState(ctx context.Context, args []string) (string, error) {
	answer, err := c.manage(ctx, args[0], "get-session-state", map[string]any{"session-id": args[1]})
	if err != nil {
		return "", err
	}
	body, _ := answer.Value.(map[string]any)
	state, _ := body["session-state"].([]byte)
	return string(state), nil
}
