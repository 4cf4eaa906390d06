package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"minibus/internal/sas"
	"minibus/mgmt/control/api"
)

// controlPrefix begins the paths of the control API, which only a Minibus has.
const controlPrefix = "/$minibus/v1/"

// thisNamespace is the path, in the control API, of the namespace that the connection string means.
const thisNamespace = "namespaces/$this"

// tokenLife is how long a token for a request to the control API lasts.
const tokenLife = time.Hour

// control sends a request to the control API and reads the answer into out, unless that is nil. in becomes the body,
// unless it is nil. path is relative to the API's and escaped.
func (a *app) control(ctx context.Context, method, path string, in, out any) error {
	answer, err := a.controlAnswer(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		if f := a.explainConnection(err); f != nil {
			return f
		}
		return failed(exitFailed, "%s did not answer in JSON (%v); is it a Minibus?", a.host(), err)
	}
	return nil
}

// get reads an answer of the control API. what is said in front of an error.
func get[T any](ctx context.Context, a *app, what, path string) (answer answered[T], err error) {
	return answer, a.about(what, a.control(ctx, http.MethodGet, path, nil, &answer))
}

// listPages writes a list of the control API: for each item of all pages a row, or the item as it came.
func listPages[T any](ctx context.Context, a *app, path string, query url.Values,
	row func(*T) []string) (some bool, err error) {
	for {
		var page api.Page[answered[T]]
		if err := a.control(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &page); err != nil {
			return some, err
		}
		for i := range page.Items {
			some = true
			if err := a.out.add(page.Items[i], row(&page.Items[i].is)...); err != nil {
				return some, err
			}
		}
		if page.Next == "" {
			return some, nil
		}
		query.Set("cursor", page.Next)
	}
}

// answered keeps an answer of the control API as it came, for JSON output.
type answered[T any] struct {
	is  T
	raw json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *answered[T]) UnmarshalJSON(text []byte) error {
	s.raw = append(s.raw[:0], text...)
	return json.Unmarshal(text, &s.is)
}

// MarshalJSON implements json.Marshaler.
func (s answered[T]) MarshalJSON() ([]byte, error) { return s.raw, nil }

// rawText is a body of a request that is sent as it is.
type rawText []byte

// Sentences of the help.
const (
	controlHelp = "Uses the control API of a Minibus. " + manageHelp
	manageHelp  = "With --auth sas it needs a key of the default namespace with the Manage right."
)

// controlAnswer sends a request to the control API and returns the answer, whose body the caller closes. An answer
// that is an error is returned as one.
func (a *app) controlAnswer(ctx context.Context, method, path string, in any) (*http.Response, error) {
	client, base, err := a.controlClient()
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if text, ok := in.(rawText); ok {
		body = bytes.NewReader(text)
	} else if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, base+controlPrefix+path, body)
	if err != nil {
		return nil, Usage("%s: %v", a.source, err)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	token, err := a.token(ctx, base)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", token)
	answer, err := client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, a.explain(err)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		defer func() { _ = answer.Body.Close() }()
		return nil, a.explainProblem(answer)
	}
	return answer, nil
}

// token returns what authorizes a request to a server.
func (a *app) token(ctx context.Context, base string) (string, error) {
	switch {
	case a.signIn != nil:
		return a.signIn.bearer(ctx)
	case a.target.Signature != "":
		return a.target.Signature, nil
	}
	return sas.Sign(base+"/", a.target.KeyName, a.target.Key, time.Now().Add(tokenLife)), nil
}

// typeOff is the type of the problem document of a Minibus without a control API.
const typeOff = "urn:minibus:control-off"

// missingEntity begins the detail of a problem if there is no such entity.
const missingEntity = "The messaging entity '"

// maxProblem is more than a problem document has, in bytes.
const maxProblem = 1 << 20

// explainProblem explains an answer of the control API that is an error.
func (a *app) explainProblem(answer *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxProblem))
	var problem api.Error
	if json.Unmarshal(text, &problem) != nil || problem.Detail == "" {
		return failed(exitFailed, "%s answers %d to a request for the control API; only a Minibus has one, and not "+
			"with --control off", a.host(), answer.StatusCode)
	}
	detail := oneLine(a.redact(inFlags(a.command, problem.Detail)))
	for _, more := range problem.Errors[min(1, len(problem.Errors)):] {
		detail += "\n  " + oneLine(a.redact(inFlags(a.command, more)))
	}
	if problem.Type == typeOff {
		return failed(exitFailed, "%s", detail)
	}
	switch answer.StatusCode {
	case http.StatusBadRequest:
		return failed(exitUsage, "%s", detail)
	case http.StatusNotFound:
		if strings.HasPrefix(detail, missingEntity) && !strings.Contains(detail, "Did you mean") {
			detail = then(detail, fixMissing)
		}
		return failed(exitNotFound, "%s", detail)
	case http.StatusUnauthorized, http.StatusForbidden:
		return failed(exitUnauthorized, "%s", then(detail, fixRights))
	case http.StatusServiceUnavailable:
		return failed(exitUnreachable, "%s", detail)
	}
	return failed(exitFailed, "%s", detail)
}

// controlClient returns the client for the control API and the address of the server.
func (a *app) controlClient() (*http.Client, string, error) {
	if err := a.connect(); err != nil {
		return nil, "", err
	}
	config, err := a.tlsConfig()
	if err != nil {
		return nil, "", err
	}
	scheme := "https"
	if a.target.Emulator {
		scheme = "http"
	}
	return a.httpClient(config), scheme + "://" + a.adminHost(), nil
}

// inThis returns the path of something in the namespace that the connection string means. Each part is one segment.
func inThis(parts ...string) string {
	path := thisNamespace
	for _, p := range parts {
		path += "/" + url.PathEscape(p)
	}
	return path
}

// argumentNames are the flags for arguments of the control API that have another name there.
var argumentNames = map[string]string{
	"sql": "where", "sessionId": "session", "sequenceNumbers": "number", "enqueuedAfter": "after",
	"enqueuedBefore":    "before",
	"delayMilliseconds": "delay", "operations": "operation", "timeoutSeconds": "timeout",
}

// argumentPlace finds an argument of the control API in an error, with the document before it.
var argumentPlace = regexp.MustCompile(`(?:The request is not as \S+ says: )?` +
	`\b(?:body|query|path)\.([A-Za-z.]*[A-Za-z])(?:\[\d+\])*: `)

// inFlags names flags and arguments of a command where an error of the control API names its own. It leaves what the
// command has no flag for, and all of a document that the user wrote.
func inFlags(c *cobra.Command, text string) string {
	if c == nil || c.Flags().Changed("json") {
		return text
	}
	return argumentPlace.ReplaceAllStringFunc(text, func(place string) string {
		name := argumentPlace.FindStringSubmatch(place)[1]
		if flag := flagFor(c, name[strings.LastIndexByte(name, '.')+1:]); flag != "" {
			return flag + ": "
		}
		return place
	})
}

// flagFor returns the flag or the positional argument of a command that sets an argument of the control API; empty
// if there is none.
func flagFor(c *cobra.Command, name string) string {
	if slices.Contains(strings.Fields(c.Use), strings.ToUpper(name)) {
		return strings.ToUpper(name)
	}
	for _, flag := range []string{argumentNames[name], hyphened(name)} {
		if flag != "" && c.Flags().Lookup(flag) != nil {
			return "--" + flag
		}
	}
	return ""
}

// hyphened returns a name as flags have it: messageId becomes message-id.
func hyphened(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
