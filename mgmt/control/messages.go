package control

import (
	"cmp"
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

// end returns an instant that ends a span, in ms. The domain's 0 is no end, so the beginning of 1970 is 1.
func end(t time.Time) int64 { return cmp.Or(t.UnixMilli(), 1) }

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
		b.Select.Before = end(in.Before)
	}
	if !in.DueAfter.IsZero() {
		b.Select.DueAfter = in.DueAfter.UnixMilli()
	}
	if !in.DueBefore.IsZero() {
		b.Select.DueBefore = end(in.DueBefore)
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
		Middlewares:      huma.Middlewares{h.awaitMemory},
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

// longestStep is the longest step of a schedule.
const longestStep = 24 * time.Hour

// upcoming registers the operation on the schedule of an entity.
func (h *handler) upcoming() {
	register(h, "getSchedule", "GET "+oneEntity+"/schedule", tagged("messages"), h.getSchedule, 200, 400, 404, 409)
}

func (h *handler) getSchedule(_ context.Context, in *struct {
	AtEntity
	From  time.Time `query:"from" doc:"The beginning, rounded down to a minute; none: now"`
	Step  string    `query:"step" default:"PT1H" doc:"How long a step is: minutes, at most a day, as ISO 8601"`
	Steps int       `query:"steps" minimum:"1" maximum:"1000" default:"24" doc:"How many steps"`
}) (*struct{ Body api.Upcoming }, error) {
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if sub != emulator.Main {
		const text = "A dead-letter queue has no scheduled messages."
		return nil, &emulator.Error{Code: emulator.CodeNotAllowed, Entity: e.Path(), Text: text}
	}
	step, err := h.server.ReadDuration(in.Step)
	if err != nil || step < time.Minute || step > longestStep || step%time.Minute != 0 {
		return nil, badRequest("step: found %.60q; give an ISO 8601 duration of whole minutes, from PT1M to P1D.",
			in.Step)
	}
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	out := api.Upcoming{Now: ns.Clock().Read().Now, Steps: []api.DueStep{}}
	from := in.From.UTC()
	if in.From.IsZero() {
		from = out.Now
	}
	if from.Year() < 1970 || from.Year() > 9999 {
		return nil, badRequest("from: the time must lie between the years 1970 and 9999.")
	}
	out.From = from.Truncate(time.Minute)
	if out.To = out.From.Add(step * time.Duration(in.Steps)); out.To.After(latest) {
		return nil, badRequest("steps: the last step must end before the year 10000.")
	}
	u, err := e.Messages().Upcoming(out.From.UnixMilli(), step.Milliseconds(), in.Steps)
	if err != nil {
		return nil, err
	}
	if out.Total = u.Total; u.Next != 0 {
		next := instant(u.Next)
		out.Next = &next
	}
	for i, n := range u.Slots {
		if n > 0 {
			out.Steps = append(out.Steps, api.DueStep{From: out.From.Add(step * time.Duration(i)), Messages: n})
		}
	}
	return &struct{ Body api.Upcoming }{out}, nil
}
