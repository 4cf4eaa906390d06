package cli

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// lackingTypes are those of AMQP that the SDK has no type for: it fails at a message with one of them.
var lackingTypes = []string{"char", "decimal32", "decimal64", "decimal128"}

// lacksType reports whether the SDK failed at a value of such a type.
func lacksType(err error) bool {
	if err == nil {
		return false
	}
	for _, name := range lackingTypes {
		if strings.Contains(err.Error(), name+" not implemented") {
			return true
		}
	}
	return false
}

// nextByControl is next by the control API, which has the types of all values.
func (p *peeker) nextByControl(ctx context.Context, count int) ([]message, error) {
	path := p.at.path()
	query := url.Values{"limit": {strconv.Itoa(min(count, peekPage))}, "properties": {"true"}, "body": {"4096"}}
	if p.from != 0 {
		query.Set("from", strconv.FormatInt(p.from, 10))
	}
	if p.session != nil {
		query.Set("sessionId", *p.session)
		if *p.session == "" {
			query.Set("sessionId", "$empty")
		}
	}
	for {
		var page struct {
			Items []message
			Next  string
		}
		if err := p.app.control(ctx, http.MethodGet, inThis("entities", path, "messages")+"?"+query.Encode(), nil, &page); err != nil {
			return nil, p.unshown(err)
		}
		if len(page.Items) == 0 && page.Next != "" { // of other sessions
			query.Set("cursor", page.Next)
			continue
		}
		for i := range page.Items {
			m := &page.Items[i]
			if !m.BodyCut || m.SequenceNumber == nil {
				continue
			}
			var whole message
			one := inThis("entities", path, "messages", strconv.FormatInt(*m.SequenceNumber, 10)) + "?body=1048576"
			if p.app.control(ctx, http.MethodGet, one, nil, &whole) == nil { // else it has gone meanwhile
				*m = whole
			}
		}
		return p.passed(page.Items), nil
	}
}

// unshown says why a message can't be shown.
func (p *peeker) unshown(err error) error {
	return failed(exitFailed, "%s: from number %d on there is a message with a value of a type that the SDK that this tool is made with can't read (%s); "+
		"the control API of a Minibus shows it, but: %s", p.does, p.from, oneLine(p.unread.Error()), oneLine(err.Error()))
}
