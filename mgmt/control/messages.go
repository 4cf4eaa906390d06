package control

import (
	"context"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/amqp/messagejson"
	"minibus/mgmt/control/api"
)

// Browsing are the arguments that choose the messages of a list.
type Browsing struct {
	Limit      int       `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The most items of a page"`
	Cursor     string    `query:"cursor" doc:"What the page before had in next"`
	From       int64     `query:"from" doc:"The first sequence number to look at; none, and no cursor: the first"`
	Order      string    `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first, by number"`
	States     []string  `query:"state" enum:"active,locked,deferred,scheduled" doc:"Only those; several with commas"`
	SQL        string    `query:"sql" example:"color = 'red'" doc:"Only those that a SQL filter selects, as in rules"`
	Text       string    `query:"text" doc:"Only those with it in the body, a property or its name; case-insensitive"`
	Reason     string    `query:"reason" doc:"Only those with this DeadLetterReason. $empty: none"`
	SessionID  string    `query:"sessionId" doc:"Only those of a session. $empty: of that with the empty id"`
	After      time.Time `query:"enqueuedAfter" doc:"Only those enqueued then or later"`
	Before     time.Time `query:"enqueuedBefore" doc:"Only those enqueued earlier"`
	DueAfter   time.Time `query:"dueAfter" doc:"Only scheduled ones that become active then or later"`
	DueBefore  time.Time `query:"dueBefore" doc:"Only scheduled ones that become active earlier"`
	Shown      int64     `query:"body" minimum:"0" maximum:"4096" default:"200" doc:"How many bytes of a body to show"`
	Properties bool      `query:"properties" doc:"Show application properties, annotations and footer too"`
}

// textOrNone returns a parameter that selects by a text; nil if it was not given.
func textOrNone(s string) *string {
	switch s {
	case "":
		return nil
	case emptySession:
		s = ""
	}
	return &s
}

// standings are the domain's, by name.
var standings = map[string]emulator.Standing{"active": emulator.StandingActive, "locked": emulator.StandingLocked,
	"deferred": emulator.StandingDeferred, "scheduled": emulator.StandingScheduled}

// browse returns what the arguments say.
func (in *Browsing) browse(sub emulator.SubQueue) (b emulator.Browse, err error) {
	b = emulator.Browse{Sub: sub, Max: in.Limit, Newest: in.Order == "newest",
		Select: emulator.Selection{
			SQL:       in.SQL,
			Text:      in.Text,
			Reason:    textOrNone(in.Reason),
			SessionID: textOrNone(in.SessionID),
		}}
	for _, name := range in.States {
		b.Standings = append(b.Standings, standings[name])
	}
	if !in.After.IsZero() {
		b.Select.After = in.After.UnixMilli()
	}
	if !in.Before.IsZero() {
		b.Select.Before = in.Before.UnixMilli()
	}
	if !in.DueAfter.IsZero() {
		b.Select.DueAfter = in.DueAfter.UnixMilli()
	}
	if !in.DueBefore.IsZero() {
		b.Select.DueBefore = in.DueBefore.UnixMilli()
	}
	if in.From != 0 {
		b.From = &in.From
	}
	if in.Cursor != "" {
		from, err := strconv.ParseInt(in.Cursor, 10, 64)
		if err != nil {
			return b, badRequest("cursor: %q is not what a page had in next.", clipped(in.Cursor))
		}
		b.From = &from
	}
	return b, nil
}

// messages registers the operations on messages.
func (h *handler) messages() {
	const all, one = oneEntity + "/messages", oneEntity + "/messages/{sequenceNumber}"
	register(h, "listMessages", "GET "+all, tagged("messages"), h.listMessages, 200, 400, 404)
	register(h, "getMessage", "GET "+one, tagged("messages"), h.getMessage, 200, 400, 404)
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	register(h, "getMessageBody", "GET "+one+"/body", huma.Operation{
		Tags:      []string{"messages"},
		Responses: answered("The bytes", "application/octet-stream", binary),
	}, h.getMessageBody, 200, 400, 404)
	register(h, "sendMessages", "POST "+all, huma.Operation{
		Tags:             []string{"messages"},
		SkipValidateBody: true,
		MaxBodyBytes:     maxSend,
		BodyReadTimeout:  sendPatience,
		Middlewares:      huma.Middlewares{h.makeRoom},
	}, h.sendMessages, 201, 400, 404, 409, 413)
	register(h, "deleteMessages", "DELETE "+all, tagged("messages"), h.deleteMessages, 204, 400, 404, 409)
	register(h, "deleteMessage", "DELETE "+one, tagged("messages"), h.deleteMessage, 204, 400, 404, 409)
	register(h, "rescheduleMessage", "PATCH "+one, tagged("messages"), h.rescheduleMessage, 200, 400, 404, 409)
}

func (h *handler) listMessages(ctx context.Context, in *struct {
	AtEntity
	Browsing
}) (*struct{ Body api.MessagePage }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	b, err := in.browse(sub)
	if err != nil {
		return nil, err
	}
	done, err := h.take(ctx, browseShare)
	if err != nil {
		return nil, err
	}
	defer done()
	var out struct{ Body api.MessagePage }
	out.Body.Items = []*messagejson.Message{}
	end, err := e.Messages().Browse(b, func(s *emulator.MessageView) {
		m := shownSeen(s, in.Shown)
		if !in.Properties {
			m.ApplicationProperties, m.Annotations = nil, nil
			m.DeliveryAnnotations, m.Footer = nil, nil
		}
		out.Body.Items = append(out.Body.Items, m)
	})
	if err != nil {
		return nil, err
	}
	if out.Body.Examined = end.Examined; end.More {
		out.Body.Next = strconv.FormatInt(end.Next, 10)
	}
	return &out, nil
}
