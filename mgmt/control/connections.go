package control

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// Inspector is what the process knows of its clients.
type Inspector interface {
	// OpenConnections returns the ids of the open connections of a namespace, and of the HTTP requests that wait for a message, in no order.
	OpenConnections(ns *emulator.Namespace) []string
	// Connections describes those that chosen approves, in no order. One that has ended meanwhile is left out.
	Connections(ns *emulator.Namespace, chosen func(id string) bool) []Connection
	CloseConnection(ns *emulator.Namespace, id string) error
	DetachLink(ns *emulator.Namespace, id string, link int64) error
	// Refusals returns the links and tokens of a namespace that were refused last, the latest first.
	Refusals(ns *emulator.Namespace) []emulator.Refusal
	// Why says what stands in the way of receiving from an entity; client is as of [emulator.Client.Is].
	Why(ns *emulator.Namespace, e *emulator.Entity, sub emulator.SubQueue, client string) emulator.Diagnosis
}

// Connection is a connection of a client, or an HTTP request that waits for a message.
type Connection struct {
	ID           string    `json:"id" doc:"c1 and so on, as in the log; of HTTP requests http: and the address"`
	Remote       string    `json:"remote" doc:"The client's address"`
	Transport    string    `json:"transport" enum:"tcp,tls,websocket,websocket-tls,memory,http"`
	Host         string    `json:"host,omitempty" doc:"The host that the client has named"`
	Container    string    `json:"container,omitempty" doc:"The client's name for itself: its application id, or else its AMQP container id"`
	Product      string    `json:"product,omitempty" doc:"The client library"`
	Version      string    `json:"version,omitempty" doc:"Of the client library"`
	Platform     string    `json:"platform,omitempty" doc:"On which the client runs"`
	Since        time.Time `json:"since"`
	Policies     []string  `json:"policies" nullable:"false" doc:"The policies whose tokens or keys the client has shown; empty without --auth sas"`
	Busy         bool      `json:"busy" doc:"The connection did not answer within a quarter of a second: its links, policies and pendingBytes are not known"`
	Ending       bool      `json:"ending" doc:"One of the sides has closed it"`
	PendingBytes int       `json:"pendingBytes" doc:"What waits until the client reads"`
	Links        []Link    `json:"links" nullable:"false"`
}

// Link is a link of a connection.
type Link struct {
	ID                 int64      `json:"id" doc:"Its number on the connection"`
	Name               string     `json:"name,omitempty" doc:"As the client chose it"`
	Role               string     `json:"role" enum:"receiver,sender" doc:"Of the client"`
	Address            string     `json:"address" doc:"What the link is attached to: the path of an entity with its sub-queue, its $management, $cbs, or coordinator"`
	Entity             string     `json:"entity,omitempty" doc:"The entity"`
	SubQueue           string     `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue" doc:"None: its main queue"`
	Mode               string     `json:"mode,omitempty" enum:"peekLock,receiveAndDelete" doc:"Of a receiver of messages"`
	SessionID          *string    `json:"sessionId,omitempty" doc:"The session that the receiver holds"`
	SessionLockedUntil *time.Time `json:"sessionLockedUntil,omitempty"`
	Since              time.Time  `json:"since"`
	LastActive         time.Time  `json:"lastActive" doc:"When there was traffic last"`
	Credit             int64      `json:"credit" doc:"How many more messages the receiving side takes: of a receiver the client, of a sender Minibus"`
	Unsettled          int        `json:"unsettled" doc:"Of a receiver: messages that the client has and has not settled; of a sender: those that are being stored"`
	SessionWindow      int64      `json:"sessionWindow" doc:"How many more frames with messages the AMQP session of the link takes in this direction"`
	Deliveries         int64      `json:"deliveries" doc:"Messages so far"`
	WaitsFor           string     `json:"waitsFor" enum:"message,credit,session,window,settlement,reading,journal,detach,fault" doc:"message: one to receive, or from the client; credit: the client asks for none, or Minibus takes none now; session: a free one; window: the client's AMQP session is closed; settlement: the client must settle some first; reading: the client does not read; journal: something is being written; detach: the link is ending; fault: a fault starves it"`
}

// connections registers the operations on connections and links.
func (h *handler) connections() {
	const one = "namespaces/{namespace}/connections/{connection}"
	tags := []string{"connections"}
	register(h, huma.Operation{
		OperationID: "listConnections", Method: http.MethodGet, Path: "namespaces/{namespace}/connections", Tags: tags,
		Summary:     "The connections of a namespace, with their links",
		Description: "The oldest first. Each connection is asked for its state; one that does not answer at once is shown as busy. HTTP requests that wait for a message are shown too.",
	}, h.listConnections, http.StatusBadRequest, http.StatusNotFound)
	register(h, huma.Operation{
		OperationID: "getConnection", Method: http.MethodGet, Path: one, Tags: tags, Summary: "One connection",
	}, h.getConnection, http.StatusNotFound)
	register(h, huma.Operation{
		OperationID: "closeConnection", Method: http.MethodDelete, Path: one, Tags: tags, Summary: "Close a connection",
		Description: "Minibus closes it with amqp:connection:forced, as the service does before a restart. Every SDK connects again. Locks of messages run on, sessions become free. A connection that does not answer is cut.",
	}, h.closeConnection, http.StatusNotFound, http.StatusConflict)
	register(h, huma.Operation{
		OperationID: "detachLink", Method: http.MethodDelete, Path: one + "/links/{link}", Tags: tags, Summary: "Detach a link",
		Description: "Minibus detaches it with amqp:link:detach-forced, as the service does with idle links. Senders and receivers of every SDK attach again. The session of a receiver is free at once; whether the SDK accepts it again depends on the SDK.",
	}, h.detachLink, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
}

// AtConnection is an argument of operations on one connection.
type AtConnection struct {
	InNamespace
	Connection string `path:"connection" doc:"The id"`
}

func (h *handler) listConnections(_ context.Context, in *struct {
	InNamespace
	Paged
	Entity string `query:"entity" doc:"Only connections with a link to this entity, and busy ones; the path, with a sub-queue for that alone"`
}) (*struct{ Body page[Connection] }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	ids := slices.DeleteFunc(h.server.OpenConnections(ns), func(id string) bool { return in.Cursor != "" && CompareIDs(id, in.Cursor) <= 0 })
	slices.SortFunc(ids, CompareIDs)
	var out struct{ Body page[Connection] }
	if in.Entity == "" && len(ids) > in.Limit { // then only those of the page are asked
		ids = ids[:in.Limit]
		out.Body.Next = ids[in.Limit-1]
	}
	list := h.server.Connections(ns, func(id string) bool {
		_, chosen := slices.BinarySearchFunc(ids, id, CompareIDs)
		return chosen
	})
	list = slices.DeleteFunc(list, func(c Connection) bool { return in.Entity != "" && !c.Busy && !c.reaches(in.Entity) })
	slices.SortFunc(list, func(x, y Connection) int { return CompareIDs(x.ID, y.ID) })
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.Body.Next = list[in.Limit-1].ID
	}
	out.Body.Items = append([]Connection{}, list...)
	return &out, nil
}

// CompareIDs orders ids by the age of their connections.
func CompareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// reaches reports whether a link leads to an entity, or, if the path names one, to its sub-queue.
func (c *Connection) reaches(path string) bool {
	path, sub := entitypath.CutSubQueue(path)
	return slices.ContainsFunc(c.Links, func(l Link) bool {
		return strings.EqualFold(l.Entity, path) && (sub == emulator.Main || strings.EqualFold(l.SubQueue, sub.Name()))
	})
}

func (h *handler) getConnection(_ context.Context, in *AtConnection) (*struct{ Body Connection }, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	for _, c := range h.server.Connections(ns, func(id string) bool { return id == in.Connection }) {
		return &struct{ Body Connection }{c}, nil
	}
	return nil, newError(http.StatusNotFound, nil, "There is no open connection '%s' in the namespace. List the connections to see which there are.", in.Connection)
}

func (h *handler) closeConnection(_ context.Context, in *AtConnection) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.CloseConnection(ns, in.Connection)
}

func (h *handler) detachLink(_ context.Context, in *struct {
	AtConnection
	Link int64 `path:"link" minimum:"1" doc:"The id of the link"`
}) (*struct{}, error) {
	ns, err := in.find(h)
	if err != nil {
		return nil, err
	}
	return nil, h.server.DetachLink(ns, in.Connection, in.Link)
}
