package control

import (
	"context"
	"net/http"
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
	From       int64     `query:"from" doc:"The first sequence number to look at; without it and a cursor the list begins at its end"`
	Order      string    `query:"order" enum:"oldest,newest" default:"oldest" doc:"Which come first, by sequence number"`
	States     []string  `query:"state" enum:"active,locked,deferred,scheduled" doc:"Only those that stand so; several with commas between"`
	SQL        string    `query:"sql" example:"color = 'red'" doc:"Only those that a SQL filter selects, as rules have them"`
	Text       string    `query:"text" doc:"Only those with the text in the body, in a property or in its name, in letters of any case"`
	Reason     string    `query:"reason" doc:"Only those with this DeadLetterReason. $empty: none"`
	SessionID  string    `query:"sessionId" doc:"Only those of a session. $empty means the one whose id is the empty text"`
	After      time.Time `query:"enqueuedAfter" doc:"Only those enqueued then or later"`
	Before     time.Time `query:"enqueuedBefore" doc:"Only those enqueued earlier"`
	DueAfter   time.Time `query:"dueAfter" doc:"Only scheduled ones that become active then or later"`
	DueBefore  time.Time `query:"dueBefore" doc:"Only scheduled ones that become active earlier"`
	Shown      int64     `query:"body" minimum:"0" maximum:"4096" default:"200" doc:"How many bytes of a body to show, from its beginning"`
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
		Select: emulator.Selection{SQL: in.SQL, Text: in.Text, Reason: textOrNone(in.Reason), SessionID: textOrNone(in.SessionID)}}
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
	const all, one = "namespaces/{namespace}/entities/{entity}/messages", "namespaces/{namespace}/entities/{entity}/messages/{sequenceNumber}"
	tags := []string{"messages"}
	register(h, huma.Operation{OperationID: "listMessages", Method: http.MethodGet, Path: all, Tags: tags,
		Summary: "The messages of an entity or a sub-queue, with the beginnings of their bodies",
		Description: "It locks, reorders and delays nothing, and does not count as use. One page looks at a bounded number of messages and bytes: where a filter fits few messages, " +
			"pages may be empty and have a next one. The messages of a partitioned entity come partition by partition, as their numbers do. Expired messages that are still there " +
			"are shown as a peek shows them.",
	}, h.listMessages, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "getMessage", Method: http.MethodGet, Path: one, Tags: tags,
		Summary: "One message, whole", Description: "All of its sections, with the types of their values. A large body is cut; its bytes are at body.",
	}, h.getMessage, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "getMessageBody", Method: http.MethodGet, Path: one + "/body", Tags: tags,
		Summary:     "The bytes of a message's body, whole",
		Description: "Those of its data sections, or of a value that is a text or binary. Any other value, and a sequence, is as AMQP encodes it.",
		Responses: map[string]*huma.Response{"200": {Description: "The bytes", Content: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}},
	}, h.getMessageBody, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{OperationID: "sendMessages", Method: http.MethodPost, Path: all, Tags: tags, DefaultStatus: http.StatusCreated,
		Summary: "Sends messages to a queue or topic, all or none",
		Description: "One message, or an array of them. Those with a scheduledEnqueueTime in the future are scheduled. The answer comes when all are durable. " +
			"What only the service sets, such as sequenceNumber, may be there and is not looked at, so a message can be sent again as it was shown.",
		SkipValidateBody: true, MaxBodyBytes: maxSend, BodyReadTimeout: sendPatience, Middlewares: huma.Middlewares{h.makeRoom},
	}, h.sendMessages, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge)
	register(h, huma.Operation{OperationID: "deleteMessages", Method: http.MethodDelete, Path: all, Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary: "Removes messages by their numbers, all or none", Description: "Scheduled ones are cancelled. Locked ones can't be removed: the answer says who has one, and until when. Jobs remove messages by a filter.",
	}, h.deleteMessages, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
	register(h, huma.Operation{OperationID: "deleteMessage", Method: http.MethodDelete, Path: one, Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary: "Removes a message", Description: "A scheduled one is cancelled. A locked one can't be removed: the answer says who has it, and until when.",
	}, h.deleteMessage, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
	register(h, huma.Operation{OperationID: "rescheduleMessage", Method: http.MethodPatch, Path: one, Tags: tags,
		Summary:     "Gives a scheduled message another time",
		Description: "In one change. The message keeps its sequence number, so that clients that know it can still cancel it. A time that has come makes it active at once, with a new number.",
	}, h.rescheduleMessage, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
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
	end, err := e.Messages().Browse(b, func(s *emulator.Seen) {
		m := shownSeen(s, in.Shown)
		if !in.Properties {
			m.ApplicationProperties, m.Annotations, m.DeliveryAnnotations, m.Footer = nil, nil, nil, nil
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
