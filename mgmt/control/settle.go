package control

import (
	"context"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/mgmt/control/api"
)

// parseTokens returns the tokens of locked messages.
func parseTokens(list []string) ([]emulator.LockToken, error) {
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

// outcomes are the domain's, by name.
var outcomes = map[string]emulator.Outcome{
	"complete":   emulator.Complete,
	"abandon":    emulator.Abandon,
	"defer":      emulator.Defer,
	"deadLetter": emulator.DeadLetterOutcome,
	"release":    emulator.Release,
}

func (h *handler) settle(_ context.Context, in *struct {
	AtEntity
	Body api.Settlement
}) (*struct{}, error) {
	e, _, err := in.find(h)
	if err != nil {
		return nil, err
	}
	tokens, err := parseTokens(in.Body.LockTokens)
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
	return nil, done.wait(e.Settle(tokens, s, emulator.By(in.client, done)))
}

func (h *handler) renew(_ context.Context, in *struct {
	AtEntity
	Body struct {
		LockTokens []string `json:"lockTokens" nullable:"false" minItems:"1" maxItems:"1000"`
	}
}) (*struct{ Body api.Renewals }, error) {
	e, _, err := in.find(h)
	if err != nil {
		return nil, err
	}
	tokens, err := parseTokens(in.Body.LockTokens)
	if err != nil {
		return nil, err
	}
	untils, err := e.Renew(tokens, in.client)
	if err != nil {
		return nil, err
	}
	var out struct{ Body api.Renewals }
	for _, ms := range untils {
		out.Body.LockedUntil = append(out.Body.LockedUntil, instant(ms))
	}
	return &out, nil
}
