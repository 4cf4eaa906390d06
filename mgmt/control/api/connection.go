package api

import "time"

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

// Refusal is a link or a token that was refused.
type Refusal struct {
	Time      time.Time `json:"time"`
	Operation string    `json:"operation" enum:"attach,put-token"`
	Entity    string    `json:"entity,omitempty" doc:"What the client asked for; none: the whole namespace"`
	SubQueue  string    `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue" doc:"None: the main queue"`
	Condition string    `json:"condition" doc:"The AMQP condition of the error"`
	Text      string    `json:"text" doc:"What the client was told"`
	Client    Client    `json:"client"`
}
