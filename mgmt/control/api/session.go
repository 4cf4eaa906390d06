package api

import "time"

// Session is one of an entity.
type Session struct {
	ID           string     `json:"id"`
	Active       int64      `json:"active" doc:"Messages, with those that are locked"`
	Locked       int64      `json:"locked" doc:"Messages that the holder has received and not settled"`
	Deferred     int64      `json:"deferred"`
	Scheduled    int64      `json:"scheduled"`
	Holder       *string    `json:"holder,omitempty" doc:"The AMQP container with the lock, or control API; none: free"`
	LockedUntil  *time.Time `json:"lockedUntil,omitempty"`
	StateBytes   *int64     `json:"stateBytes,omitempty" doc:"The size of the state; none if there is none"`
	StateUpdated *time.Time `json:"stateUpdated,omitempty" doc:"When the state was written"`
}

// SessionState is the state of a session.
type SessionState struct {
	Text   *string `json:"text,omitempty" doc:"The state, if it is text in UTF-8"`
	Base64 []byte  `json:"base64,omitempty" doc:"Any other state"`
}

// SessionLock says until when a session is locked.
type SessionLock struct {
	LockedUntil time.Time `json:"lockedUntil" doc:"When the locks of its messages end too"`
}

// HeldSession is a session that a receive has locked.
type HeldSession struct {
	ID          string    `json:"id"`
	Token       string    `json:"token" format:"uuid" doc:"To renew and release the lock, and to receive more"`
	LockedUntil time.Time `json:"lockedUntil"`
}
