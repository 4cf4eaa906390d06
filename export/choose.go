package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"minibus/internal/printable"
	"minibus/internal/sas"
)

// namespacesPath is the list of namespaces in the control API of a Minibus.
const namespacesPath = "$minibus/v1/namespaces"

// maxNamed is how many namespaces an error names.
const maxNamed = 20

// listed is a namespace in that list.
type listed struct {
	Name              string `json:"name"`
	ConnectionStrings []struct {
		Rights []string `json:"rights"`
		Value  string   `json:"connectionString"`
	} `json:"connectionStrings"`
}

// choose returns a client of another namespace of the same Minibus, with a key of that namespace. The client sends
// its requests to the address of c, whatever endpoint the server gives, since that one may not be reachable from
// here. The Host of a request names the namespace.
func (c *client) choose(ctx context.Context, name string) (*client, error) {
	body, err := c.get(ctx, namespacesPath, "")
	var answer *answerError
	switch {
	case errors.Is(err, ErrRefused):
		return nil, fmt.Errorf("%s lists its namespaces only for a key with the Manage right of the default "+
			"namespace: give its connection string, or that of the namespace %q without "+
			"--namespace", c.host, printable.Clip(name, 50))
	case errors.Is(err, errNotFound) || errors.As(err, &answer):
		return nil, c.noMinibus()
	case err != nil:
		return nil, err
	}
	var list struct {
		Namespaces []listed `json:"namespaces"`
	}
	if json.Unmarshal(body, &list) != nil || len(list.Namespaces) == 0 {
		return nil, c.noMinibus()
	}
	i := slices.IndexFunc(list.Namespaces, func(n listed) bool { return strings.EqualFold(n.Name, name) })
	if i < 0 {
		return nil, fmt.Errorf("there is no namespace %q on %s; there are %s", printable.Clip(name, 50), c.host,
			namesOf(list.Namespaces))
	}
	chosen := &client{scheme: c.scheme, host: c.host, connection: c.connection, token: c.token, sent: c.sent,
		http: c.http, maxItems: c.maxItems, namespaceName: list.Namespaces[i].Name}
	if own, ok := list.Namespaces[i].manager(); ok {
		chosen.connection.KeyName = own.KeyName
		chosen.connection.Key = own.Key
		chosen.connection.Signature = ""
	}
	return chosen, nil
}

func (c *client) noMinibus() error {
	return fmt.Errorf("--namespace chooses one of the namespaces of a Minibus, and %s lists none: leave it out; the "+
		"connection string names the namespace", c.host)
}

// manager returns a connection string with the Manage right.
func (n listed) manager() (sas.Connection, bool) {
	for _, s := range n.ConnectionStrings {
		if !slices.Contains(s.Rights, "Manage") {
			continue
		}
		if own, err := sas.ParseConnection(s.Value); err == nil {
			return own, true
		}
	}
	return sas.Connection{}, false
}

func namesOf(list []listed) string {
	var names []string
	for _, n := range list[:min(len(list), maxNamed)] {
		names = append(names, printable.Clip(oneLine(n.Name), 50))
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// hostOf returns a host that means a namespace at any port of its Minibus.
func hostOf(name string) string { return strings.ToLower(name) + ".localhost" }
