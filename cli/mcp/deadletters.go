package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostDeadLetters is how many dead letters are grouped.
const mostDeadLetters = 10_000

// deadLetters is the one tool that is made of several requests: an assistant that asks what went wrong wants
// reasons, not thousands of messages.
var deadLetters = &mcp.Tool{
	Name: "group_dead_letters", Title: "The dead letters of an entity, grouped by reason",
	Description: "The dead letters of a queue or subscription, grouped by reason and description, the largest " +
		"group first, each with its newest message. list_entities has the counts of dead letters; list_messages " +
		"of the path with /$DeadLetterQueue shows the messages. " + caution,
	InputSchema: map[string]any{"type": "object", "required": []string{"entity"}, "additionalProperties": false,
		"properties": map[string]any{
			"entity": map[string]any{"type": "string",
				"description": "The path of the queue or subscription, such as orders or events/Subscriptions/large"},
			namespaceParameter: map[string]any{"type": "string", "description": aboutNamespace},
		}},
	Annotations: &mcp.ToolAnnotations{Title: "The dead letters of an entity, grouped by reason", ReadOnlyHint: true,
		DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)},
}

// deadGroup is dead letters of one reason.
type deadGroup struct {
	Reason         string    `json:"reason"`
	Description    string    `json:"description,omitempty"`
	Messages       int       `json:"messages"`
	Oldest         time.Time `json:"oldestEnqueuedTime"`
	Newest         time.Time `json:"newestEnqueuedTime"`
	NewestSequence int64     `json:"newestSequenceNumber"`
	NewestID       any       `json:"newestMessageId,omitempty"`
}

// deadLetter has the fields that are read of a message.
type deadLetter struct {
	SequenceNumber        int64
	MessageID             any
	EnqueuedTime          time.Time
	DeadLetterReason      string
	ApplicationProperties struct{ DeadLetterErrorDescription any }
}

// groupDeadLetters reads the dead letters, the newest first.
func groupDeadLetters(o *Options) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in struct{ Entity, Namespace string }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil || in.Entity == "" {
			return o.refusal(`group_dead_letters needs the argument "entity"`), nil
		}
		if !strings.HasSuffix(strings.ToLower(in.Entity), "/$deadletterqueue") {
			in.Entity += "/$DeadLetterQueue"
		}
		path := "namespaces/" + url.PathEscape(cmp.Or(in.Namespace, "$this")) + "/entities/" +
			url.PathEscape(unescaped(in.Entity)) + "/messages"
		groups := make(map[[2]string]*deadGroup)
		seen := 0
		more := true
		for cursor := ""; more && seen < mostDeadLetters; {
			text, err := o.Call(ctx, http.MethodGet,
				path+"?"+url.Values{"limit": {"1000"}, "body": {"0"}, "properties": {"true"}, "order": {"newest"},
					"cursor": {cursor}}.Encode(), nil)
			if err != nil {
				return o.refusal(err.Error()), nil
			}
			var page struct {
				Items []deadLetter
				Next  string
			}
			if err := json.Unmarshal(text, &page); err != nil {
				return nil, fmt.Errorf("read messages: %w", err)
			}
			for i := range page.Items {
				page.Items[i].count(groups)
			}
			seen = seen + len(page.Items)
			cursor = page.Next
			more = page.Next != ""
		}
		text, err := json.Marshal(map[string]any{"entity": in.Entity, "messages": seen, "all": !more,
			"groups": sorted(groups)})
		if err != nil {
			return nil, fmt.Errorf("write groups: %w", err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: o.shown(text)}}}, nil
	}
}

// count adds the message to its group. Newer ones come first.
func (m *deadLetter) count(groups map[[2]string]*deadGroup) {
	description := written(m.ApplicationProperties.DeadLetterErrorDescription)
	key := [2]string{m.DeadLetterReason, description}
	g := groups[key]
	if g == nil {
		g = &deadGroup{Reason: m.DeadLetterReason, Description: description, Newest: m.EnqueuedTime,
			NewestSequence: m.SequenceNumber, NewestID: m.MessageID}
		groups[key] = g
	}
	g.Messages++
	g.Oldest = m.EnqueuedTime
}

func sorted(groups map[[2]string]*deadGroup) []*deadGroup {
	list := make([]*deadGroup, 0, len(groups))
	for _, g := range groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *deadGroup) int {
		return cmp.Or(cmp.Compare(b.Messages, a.Messages), cmp.Compare(b.NewestSequence, a.NewestSequence))
	})
	return list
}
