package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"minibus/emulator"
	"minibus/internal/sas"
	"minibus/internal/secrets"
)

// hider returns what hides the keys that the configuration has, and secrets that a client puts into a wrong place,
// such as an address. The key that everybody knows is none.
func (c *Config) hider() *secrets.Hider {
	known := []string{c.Settings.RootKey, c.Settings.IdentitySecret}
	learn := func(rules []emulator.AuthorizationRule) {
		for _, r := range rules {
			known = append(known, r.PrimaryKey, r.SecondaryKey)
		}
	}
	for _, t := range c.Topology.All() {
		learn(t.AuthorizationRules)
		for _, e := range t.Entities {
			switch {
			case e.Queue != nil:
				learn(e.Queue.Admin.AuthorizationRules)
			case e.Topic != nil:
				learn(e.Topic.Admin.AuthorizationRules)
			}
		}
	}
	return secrets.New(slices.DeleteFunc(known, func(key string) bool { return key == sas.DefaultKey })...)
}

// redacted is a log handler that removes secrets. The front ends log no header, no query and no body, but clients
// choose names, addresses and the texts of errors.
type redacted struct {
	slog.Handler
	hider *secrets.Hider
}

// Handle implements slog.Handler.
func (d redacted) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, d.hider.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(d.attr(a))
		return true
	})
	return d.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (d redacted) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = d.attr(a)
	}
	return redacted{d.Handler.WithAttrs(clean), d.hider}
}

// WithGroup implements slog.Handler.
func (d redacted) WithGroup(name string) slog.Handler {
	return redacted{d.Handler.WithGroup(name), d.hider}
}

// redactedLines is a writer of whole lines that removes secrets. Clients choose the names, addresses and texts in
// frames.
type redactedLines struct {
	io.Writer
	hider *secrets.Hider
}

// Write implements io.Writer.
func (d redactedLines) Write(lines []byte) (int, error) {
	if _, err := io.WriteString(d.Writer, d.hider.Text(string(lines))); err != nil {
		return 0, fmt.Errorf("write without secrets: %w", err)
	}
	return len(lines), nil
}

// attr removes secrets from texts and from values that the log writes as texts.
func (d redacted) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, d.hider.Text(v.String()))
	case slog.KindAny:
		text := fmt.Sprint(v.Any())
		if clean := d.hider.Text(text); clean != text {
			return slog.String(a.Key, clean)
		}
	case slog.KindGroup:
		clean := make([]any, len(v.Group()))
		for i, inner := range v.Group() {
			clean[i] = d.attr(inner)
		}
		return slog.Group(a.Key, clean...)
	}
	return a
}
