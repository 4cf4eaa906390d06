package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// supportEvents is how many events a bundle has at most.
const supportEvents = 5000

// supportState returns what the control API shows, without what clients put into messages.
func (a *app) supportState(ctx context.Context) []SupportPart {
	var clock json.RawMessage
	err := a.control(ctx, http.MethodGet, inThis("clock"), nil, &clock)
	parts := []SupportPart{jsonPart("clock.json", clock, err)}
	entities, err := a.supportList(ctx, "entities")
	parts = append(parts, jsonPart("entities.json", entities, err))
	connections, err := a.supportList(ctx, "connections")
	for _, c := range connections {
		links, _ := c["links"].([]any)
		for _, l := range links {
			without(l, "sessionId", "name")
		}
	}
	parts = append(parts, jsonPart("connections.json", connections, err))
	refusals, err := a.supportList(ctx, "refusals")
	for _, r := range refusals {
		without(r["client"], "link")
		if text, _ := r["text"].(string); text != "" {
			r["text"] = withoutSession(text)
		}
	}
	parts = append(parts, jsonPart("refusals.json", refusals, err))
	history, err := a.supportHistory(ctx)
	return append(parts, SupportPart{Name: "history.jsonl", Data: history, Err: err})
}

// supportList returns all items of a list.
func (a *app) supportList(ctx context.Context, of string) (all []map[string]any, err error) {
	all = []map[string]any{}
	query := url.Values{}
	if of != "refusals" {
		query.Set("limit", "1000")
	}
	for {
		var page struct {
			Items []map[string]any
			Next  string
		}
		if err := a.control(ctx, http.MethodGet, inThis(of)+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Items...); page.Next == "" {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

// discreetEvent is what a bundle has of an event. Ids and sentences are left out: clients choose what is in them.
type discreetEvent struct {
	Number         int64      `json:"number"`
	Time           time.Time  `json:"time"`
	Kind           string     `json:"kind"`
	Entity         string     `json:"entity"`
	SubQueue       string     `json:"subQueue,omitempty"`
	SequenceNumber int64      `json:"sequenceNumber,omitempty"`
	NewNumber      int64      `json:"newSequenceNumber,omitempty"`
	FirstNumber    int64      `json:"enqueuedSequenceNumber,omitempty"`
	DeliveryCount  int64      `json:"deliveryCount"`
	LockedUntil    *time.Time `json:"lockedUntil,omitempty"`
	ScheduledFor   *time.Time `json:"scheduledFor,omitempty"`
	Copies         *int       `json:"copies,omitempty"`
	Detail         string     `json:"detail,omitempty"`
	Client         *struct {
		Connection string `json:"connection,omitempty"`
		Container  string `json:"container,omitempty"`
		Product    string `json:"product,omitempty"`
		Remote     string `json:"remote"`
	} `json:"client,omitempty"`
}

// ownDetails are the kinds of events whose detail is the name of a rule or an entity.
var ownDetails = []string{"copied", "forwarded", "forwardedHere"}

// ownReasons are those for which the service dead-letters messages. A program chooses others.
var ownReasons = []string{"MaxDeliveryCountExceeded", "TTLExpiredException", "HeaderSizeExceeded", "MaxTransferHopCountExceeded", "Session ID is null."}

// supportHistory returns the last events, a line each, the oldest first.
func (a *app) supportHistory(ctx context.Context) ([]byte, error) {
	var events []discreetEvent
	for cursor := int64(0); len(events) < supportEvents; {
		var page struct {
			Items []discreetEvent
			Next  int64
		}
		if err := a.control(ctx, http.MethodGet, inThis("history")+"?"+eventPageQuery("newest", cursor, eventPageSize).Encode(), nil, &page); err != nil {
			return nil, err
		}
		events, cursor = append(events, page.Items...), page.Next
		if len(page.Items) < eventPageSize {
			break
		}
	}
	var lines bytes.Buffer
	for _, e := range slices.Backward(events) {
		if e.Detail != "" && !slices.Contains(ownDetails, e.Kind) && !slices.Contains(ownReasons, e.Detail) {
			e.Detail = "***"
		}
		line, err := encode(e, "")
		if err != nil {
			return nil, err
		}
		lines.Write(line)
	}
	return lines.Bytes(), nil
}

// discreetFindings returns the findings without what clients were told of sessions.
func discreetFindings(all []Finding) []Finding {
	all = slices.Clone(all)
	for i := range all {
		all[i].Detail = withoutSession(all[i].Detail)
	}
	return all
}

// withoutSession returns a text, or stars if it may have the id of a session.
func withoutSession(text string) string {
	if strings.Contains(strings.ToLower(text), "session") {
		return "***"
	}
	return text
}

// without removes members of an object.
func without(object any, names ...string) {
	o, _ := object.(map[string]any)
	for _, name := range names {
		delete(o, name)
	}
}
