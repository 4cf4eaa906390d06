package control

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 1 << 20

// namespace is a namespace in an answer.
type namespace struct {
	Name    string          `json:"name"`
	Default bool            `json:"default"`
	Created time.Time       `json:"created"`
	Limits  emulator.Limits `json:"limits"`
	Port    int             `json:"port,omitempty"`
	Aliases []string        `json:"aliases,omitempty"`

	ConnectionStrings []connectionString `json:"connectionStrings"`
}

// connectionString is that of one policy.
type connectionString struct {
	KeyName string   `json:"keyName"`
	Rights  []string `json:"rights"`
	Value   string   `json:"connectionString"`
}

// creation is the body of a request to create a namespace.
type creation struct {
	Name    string           `json:"name"`
	Limits  *emulator.Limits `json:"limits"`
	Port    int              `json:"port"`
	Aliases []string         `json:"aliases"`
	Rules   []rule           `json:"authorizationRules"`
}

// rule is a policy of a new namespace.
type rule struct {
	KeyName      string   `json:"keyName"`
	Rights       []string `json:"rights"`
	PrimaryKey   string   `json:"primaryKey"` // empty: a random one
	SecondaryKey string   `json:"secondaryKey"`
}

var rights = []string{"Manage", "Send", "Listen"}

func (c *call) list() error {
	all := []namespace{}
	for _, ns := range c.server.Broker().Namespaces() {
		all = append(all, c.shown(ns))
	}
	return c.answer(http.StatusOK, map[string]any{"namespaces": all})
}

func (c *call) get() error {
	ns, err := c.server.Broker().Namespace(c.name)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.shown(ns))
}

func (c *call) create() error {
	var body creation
	if err := c.read(&body); err != nil {
		return err
	}
	o := emulator.NamespaceOptions{Limits: body.Limits, Port: body.Port, Aliases: body.Aliases}
	for _, r := range body.Rules {
		policy, err := r.policy()
		if err != nil {
			return err
		}
		o.Policies = append(o.Policies, policy)
	}
	ns, err := c.server.CreateNamespace(body.Name, o)
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", Prefix+"namespaces/"+url.PathEscape(ns.Name()))
	return c.answer(http.StatusCreated, c.shown(ns))
}

func (c *call) remove() error {
	if err := c.server.DeleteNamespace(c.name); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// read reads the body, which may be empty.
func (c *call) read(body *creation) error {
	d := json.NewDecoder(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(body)
	if err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("it has more than one value")
		}
	}
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &Error{http.StatusRequestEntityTooLarge, fmt.Sprintf("The body of the request has more than %d bytes.", tooLarge.Limit)}
	}
	if !errors.Is(err, io.EOF) {
		return &Error{http.StatusBadRequest, fmt.Sprintf("The body of the request is not what %s says: %v.", DocumentPath, err)}
	}
	return nil
}

// policy returns the policy of a new namespace, with keys of its own if it names none.
func (r rule) policy() (emulator.AuthorizationRule, error) {
	for _, right := range r.Rights {
		if !slices.Contains(rights, right) {
			return emulator.AuthorizationRule{}, &Error{http.StatusBadRequest, fmt.Sprintf("There is no right %q. There are %s.", right, strings.Join(rights, ", "))}
		}
	}
	has := func(right string) bool { return slices.Contains(r.Rights, right) }
	if len(r.Rights) == 0 || has("Manage") && !(has("Send") && has("Listen")) {
		return emulator.AuthorizationRule{}, &Error{http.StatusBadRequest, fmt.Sprintf("The authorization rule %q needs rights; with Manage it needs Send and Listen too.", r.KeyName)}
	}
	p := emulator.AuthorizationRule{KeyName: r.KeyName, Rights: r.Rights, PrimaryKey: r.PrimaryKey, SecondaryKey: r.SecondaryKey}
	for _, key := range []*string{&p.PrimaryKey, &p.SecondaryKey} {
		if *key == "" {
			random := make([]byte, 32)
			rand.Read(random)
			*key = base64.StdEncoding.EncodeToString(random)
		}
	}
	return p, nil
}

// shown returns a namespace as answers show it.
func (c *call) shown(ns *emulator.Namespace) namespace {
	o := ns.Options()
	n := namespace{Name: ns.Name(), Default: ns == c.server.Broker().Default(), Created: time.UnixMilli(ns.Created()).UTC(), Limits: ns.Limits(),
		Port: o.Port, Aliases: o.Aliases, ConnectionStrings: []connectionString{}}
	endpoint := sas.Local(c.server.Endpoint(ns, c.r.Host))
	for _, p := range c.server.Policies(ns) {
		s := connectionString{KeyName: p.Name, Rights: []string{}}
		for i, claim := range []sas.Claims{sas.Manage, sas.Send, sas.Listen} {
			if p.Claims.Allows(claim) {
				s.Rights = append(s.Rights, rights[i])
			}
		}
		endpoint.KeyName, endpoint.Key = p.Name, p.Primary
		s.Value = endpoint.String()
		n.ConnectionStrings = append(n.ConnectionStrings, s)
	}
	return n
}
