package api

import "time"

// Connection is a connection of a client, or an HTTP request that waits for a message.
type Connection struct {
	ID           string    `json:"id" doc:"c1 and so on, as in the log; of HTTP requests http: and the address"`
	Remote       string    `json:"remote" doc:"The client's address"`
	Transport    string    `json:"transport" enum:"tcp,tls,websocket,websocket-tls,memory,http"`
	Host         string    `json:"host,omitempty" doc:"The host that the client has named"`
	Container    string    `json:"container,omitempty" doc:"Its application id, or else its AMQP container id"`
	Product      string    `json:"product,omitempty" doc:"The client library"`
	Version      string    `json:"version,omitempty" doc:"Of the client library"`
	Platform     string    `json:"platform,omitempty" doc:"On which the client runs"`
	Since        time.Time `json:"since"`
	Policies     []string  `json:"policies" nullable:"false" doc:"Those whose tokens or keys it has shown"`
	Busy         bool      `json:"busy" doc:"It did not answer in 250 ms: no links, policies or pendingBytes"`
	Ending       bool      `json:"ending" doc:"One of the sides has closed it"`
	PendingBytes int       `json:"pendingBytes" doc:"What waits until the client reads"`
	Links        []Link    `json:"links" nullable:"false"`
}

// Link is a link of a connection.
type Link struct {
	ID                 int64      `json:"id" doc:"Its number on the connection"`
	Name               string     `json:"name,omitempty" doc:"As the client chose it"`
	Role               string     `json:"role" enum:"receiver,sender" doc:"Of the client"`
	Address            string     `json:"address"`
	Entity             string     `json:"entity,omitempty" doc:"The entity"`
	SubQueue           string     `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue"`
	Mode               string     `json:"mode,omitempty" enum:"peekLock,receiveAndDelete,browse"`
	Selector           string     `json:"selector,omitempty" doc:"The JMS selector of the messages that it takes"`
	SessionID          *string    `json:"sessionId,omitempty" doc:"The session that the receiver holds"`
	SessionLockedUntil *time.Time `json:"sessionLockedUntil,omitempty"`
	Since              time.Time  `json:"since"`
	LastActive         time.Time  `json:"lastActive" doc:"When there was traffic last"`
	Credit             int64      `json:"credit" doc:"Messages that the receiver takes, the client or Minibus"`
	Unsettled          int        `json:"unsettled"`
	SessionWindow      int64      `json:"sessionWindow" doc:"Frames that the AMQP session takes in this direction"`
	Deliveries         int64      `json:"deliveries" doc:"Messages so far"`
	WaitsFor           string     `json:"waitsFor"`
}

// Refusal is a link or a token that was refused.
type Refusal struct {
	Time      time.Time `json:"time"`
	Operation string    `json:"operation" enum:"attach,put-token"`
	Entity    string    `json:"entity,omitempty" doc:"What the client asked for; none: the whole namespace"`
	SubQueue  string    `json:"subQueue,omitempty" enum:"$DeadLetterQueue,$Transfer/$DeadLetterQueue"`
	Condition string    `json:"condition" doc:"The AMQP condition of the error"`
	Text      string    `json:"text" doc:"What the client was told"`
	Client    Client    `json:"client"`
}
