package cli

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// clockPatience bounds how long a command waits for the clock of the namespace before it takes the machine's time.
const clockPatience = 5 * time.Second

// scheduled reads a time, or a duration from now, by the clock of the namespace. It returns nil for an empty text. name is that of the argument.
func (a *app) scheduled(ctx context.Context, name, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if d, err := parseDuration(text); err == nil {
		now, err := a.now(ctx)
		return new(now.Add(d)), err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil, Usage("%s: found %q; allowed: a duration from now such as 10m, or a time such as 2026-01-31T12:00:00Z", name, oneLine(text))
	}
	return &at, nil
}

// now returns what the clock of the namespace says. Without a control API that is the machine's time: only a Minibus has clocks that can be moved.
func (a *app) now(ctx context.Context) (time.Time, error) {
	if err := a.connect(); err != nil {
		return time.Time{}, err
	}
	asking, cancel := context.WithTimeout(ctx, clockPatience)
	defer cancel()
	var c clock
	err := a.control(asking, http.MethodGet, inThis("clock")+"?due=0", nil, &c)
	switch {
	case err == nil && !c.Now.IsZero():
		return c.Now, nil
	case ctx.Err() != nil:
		return time.Time{}, context.Cause(ctx)
	}
	var f *failure
	if errors.As(err, &f) && f.code == exitUnauthorized {
		a.note("the duration counts from the machine's clock: the key may not read that of the namespace")
	}
	return time.Now(), nil // the command itself says what is wrong with the connection
}
