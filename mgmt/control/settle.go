package control

import (
	"context"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/messagejson"
)

// lockTokens name locked messages.
type lockTokens []string

// parse returns the tokens.
func (list lockTokens) parse() ([]emulator.LockToken, error) {
	tokens := make([]emulator.LockToken, len(list))
	for i, text := range list {
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, badRequest("lockTokens: %q is not a UUID, as receive gives them.", text)
		}
		tokens[i] = emulator.LockToken(id)
	}
	return tokens, nil
}

// settlement says what becomes of locked messages.
type settlement struct {
	LockTokens  lockTokens         `json:"lockTokens" nullable:"false" minItems:"1" maxItems:"1000" doc:"As receive gave them"`
	Outcome     string             `json:"outcome" enum:"complete,abandon,defer,deadLetter,release" doc:"release gives them back without counting a failed delivery"`
	Properties  messagejson.Values `json:"properties,omitempty" nullable:"false" doc:"Application properties to change, with abandon, defer and deadLetter"`
	Reason      *string            `json:"reason,omitempty" doc:"DeadLetterReason, with deadLetter"`
	Description *string            `json:"description,omitempty" doc:"DeadLetterErrorDescription, with deadLetter"`
}

// outcomes are the domain's, by name.
var outcomes = map[string]emulator.Outcome{
	"complete": emulator.Complete, "abandon": emulator.Abandon, "defer": emulator.Defer, "deadLetter": emulator.DeadLetterOutcome, "release": emulator.Release,
}

func (h *handler) settle(_ context.Context, in *struct {
	AtEntity
	Body settlement
}) (*struct{}, error) {
	e, _, err := in.find(h)
	if err != nil {
		return nil, err
	}
	tokens, err := in.Body.LockTokens.parse()
	if err != nil {
		return nil, err
	}
	s := emulator.Settlement{Outcome: outcomes[in.Body.Outcome]}
	var dead []amqp.Pair
	if in.Body.Reason != nil {
		dead = append(dead, amqp.Pair{Key: emulator.DeadLetterReason, Value: *in.Body.Reason})
	}
	if in.Body.Description != nil {
		dead = append(dead, amqp.Pair{Key: emulator.DeadLetterErrorDescription, Value: *in.Body.Description})
	}
	if len(dead) > 0 && s.Outcome != emulator.DeadLetterOutcome {
		return nil, badRequest("reason and description belong to the outcome deadLetter, not to %s.", in.Body.Outcome)
	}
	if len(in.Body.Properties) > 0 && (s.Outcome == emulator.Complete || s.Outcome == emulator.Release) {
		return nil, badRequest("The outcome %s changes no properties.", in.Body.Outcome)
	}
	if s.Properties, err = encodeProperties(in.Body.Properties, dead...); err != nil {
		return nil, err
	}
	done := make(completion, 1)
	return nil, done.wait(e.Settle(tokens, s, emulator.By(in.who, done)))
}

// renewals are the new ends of locks.
type renewals struct {
	LockedUntil []time.Time `json:"lockedUntil" nullable:"false" doc:"In the order of the tokens. Of a message in a session it is the end of the session's lock, which stays"`
}

func (h *handler) renew(_ context.Context, in *struct {
	AtEntity
	Body struct {
		LockTokens lockTokens `json:"lockTokens" nullable:"false" minItems:"1" maxItems:"1000"`
	}
}) (*struct{ Body renewals }, error) {
	e, _, err := in.find(h)
	if err != nil {
		return nil, err
	}
	tokens, err := in.Body.LockTokens.parse()
	if err != nil {
		return nil, err
	}
	untils, err := e.Renew(tokens, in.who)
	if err != nil {
		return nil, err
	}
	var out struct{ Body renewals }
	for _, ms := range untils {
		out.Body.LockedUntil = append(out.Body.LockedUntil, instant(ms))
	}
	return &out, nil
}
