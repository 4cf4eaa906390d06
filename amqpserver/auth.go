package amqpserver

import (
	"strings"
	"time"

	"minibus/amqpserver/cbs"
)

// remember keeps what a token entitles the connection to. The number is bounded; a client that puts tokens for
// thousands of audiences loses the oldest idea of which, not its connection.
func (c *conn) remember(g *cbs.Grant) {
	if c.srv.options.Authorize == nil {
		return
	}
	if c.grants == nil {
		c.grants = make(map[string]cbs.Grant)
	}
	if len(c.grants) >= maxGrants {
		clear(c.grants)
	}
	c.grants[strings.ToLower(g.Path)] = *g
}

// authorized reports whether the connection may use an entity. Without a check of tokens anybody may (DEC-10);
// otherwise there must be a grant, not expired, for the entity, for something above it, or for something of it.
func (c *conn) authorized(path string) error {
	if c.srv.options.Authorize == nil {
		return nil
	}
	path = strings.ToLower(path)
	for granted, g := range c.grants {
		if !g.Expires.IsZero() && g.Expires.Before(time.Now()) {
			continue
		}
		if granted == "" || granted == path || strings.HasPrefix(path, granted+"/") || strings.HasPrefix(granted, path+"/") {
			return nil
		}
	}
	return linkError{fault{condUnauthorized,
		"Unauthorized access. A token for the entity is required to perform this operation.", path}}
}
