package control

import (
	"net/http"
	"time"

	"minibus/emulator"
	"minibus/internal/sas"
)

// namespace is a namespace in an answer.
type namespace struct {
	Name    string          `json:"name"`
	Default bool            `json:"default"`
	Created time.Time       `json:"created"`
	Limits  emulator.Limits `json:"limits"`
	Port    int             `json:"port,omitempty"`
	Aliases []string        `json:"aliases,omitempty"`

	ConnectionString  string             `json:"connectionString"` // the administrator's
	ConnectionStrings []connectionString `json:"connectionStrings"`
}

// connectionString is that of one policy.
type connectionString struct {
	KeyName string   `json:"keyName"`
	Rights  []string `json:"rights"`
	Value   string   `json:"connectionString"`
}

// rights are all that there are.
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

func (c *call) remove() error {
	if err := c.server.DeleteNamespace(c.name); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// shown returns a namespace as answers show it.
func (c *call) shown(ns *emulator.Namespace) namespace {
	o := ns.Options()
	n := namespace{Name: ns.Name(), Default: ns == c.server.Broker().Default(), Created: time.UnixMilli(ns.Created()).UTC(), Limits: ns.Limits(),
		Port: o.Port, Aliases: o.Aliases, ConnectionStrings: []connectionString{}}
	endpoint := sas.Local(c.server.Endpoint(ns, c.r.Host))
	with := func(p sas.Policy) string {
		endpoint.KeyName, endpoint.Key = p.Name, p.Primary
		return endpoint.String()
	}
	policies := c.server.Policies(ns)
	n.ConnectionString = with(sas.Administrator(policies))
	for _, p := range policies {
		s := connectionString{KeyName: p.Name, Rights: []string{}, Value: with(p)}
		for i, claim := range []sas.Claims{sas.Manage, sas.Send, sas.Listen} {
			if p.Claims.Allows(claim) {
				s.Rights = append(s.Rights, rights[i])
			}
		}
		n.ConnectionStrings = append(n.ConnectionStrings, s)
	}
	return n
}
