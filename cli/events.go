package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"minibus/config"
)

// errExpired ends a stream with its token.
var errExpired = errors.New("the token has expired")

// followEvents calls add with the events from a number on, as they come, until the stream or ctx ends. A number less than 0 begins
// with those to come. A stream lasts as long as its token; the next one goes on where it ended.
func (a *app) followEvents(ctx context.Context, from int64, query url.Values, add func(*answered[event]) error) error {
	for {
		err := a.streamEvents(ctx, from, query, func(e *answered[event]) error {
			from = e.is.Number + 1
			return add(e)
		})
		if !errors.Is(err, errExpired) {
			return err
		}
		if a.target.Signature != "" {
			return failed(exitUnauthorized, "the stream ended: the signature in the connection string has expired")
		}
	}
}

// streamEvents calls add with the events of one stream.
func (a *app) streamEvents(ctx context.Context, from int64, query url.Values, add func(*answered[event]) error) error {
	if from >= 0 {
		query.Set("from", strconv.FormatInt(max(from, 1), 10))
	}
	for _, name := range []string{"order", "limit", "cursor"} {
		query.Del(name)
	}
	answer, err := a.controlAnswer(withPatience(ctx, patience{pieces: true, stream: true}), http.MethodGet, inThis("events")+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	err = eachServerEvent(answer.Body, func(name, data string) error {
		switch name {
		case "event":
			var e answered[event]
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			return add(&e)
		case "missed":
			var m struct{ Count int }
			_ = json.Unmarshal([]byte(data), &m) // the count is for people only
			a.note("forgotten before they could be shown: %s", config.Plural(m.Count, "event"))
		case expired:
			return errExpired
		}
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil || errors.Is(err, io.ErrUnexpectedEOF):
		return failed(exitUnreachable, "the stream ended: %s stopped, or the namespace was deleted", a.host())
	}
	return err
}

// maxServerEvent is more than a line of a stream has, in bytes.
const maxServerEvent = 1 << 20

// expired is the comment with which a stream ends with its token, and the name of an event that stands for it.
const expired = "the token has expired"

// eachServerEvent reads a stream of server-sent events and calls f with the name and the data of each. It returns nil at the end of
// the stream.
func eachServerEvent(r io.Reader, f func(name, data string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxServerEvent)
	var name, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "" && data != "":
			if err := f(name, data); err != nil {
				return err
			}
			name, data = "", ""
		case field == "" && value == expired:
			if err := f(expired, ""); err != nil {
				return err
			}
		case field == "event":
			name = value
		case field == "data":
			data += value
		}
	}
	return lines.Err()
}
