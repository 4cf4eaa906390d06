package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"regexp"
)

// secrets matches secrets that a client may have put into a wrong place, such as an address: the signature of a token, a web
// token, a key of a connection string. The text before them stays readable.
var secrets = regexp.MustCompile(`(?i)((?:\b|%3f|%26)sig(?:=|%3d)|\bbearer(?: |\+|%20)+|(?:\b|%3f|%26)sharedaccesskey(?:=|%3d))[^&\s;"']+`)

func redact(text string) string { return secrets.ReplaceAllString(text, "${1}***") }

// discreet is a log handler that removes secrets. The front ends log no header, no query and no body, but clients choose names,
// addresses and the texts of errors.
type discreet struct{ slog.Handler }

// Handle implements slog.Handler.
func (d discreet) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(redactAttr(a))
		return true
	})
	return d.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (d discreet) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = redactAttr(a)
	}
	return discreet{d.Handler.WithAttrs(clean)}
}

// WithGroup implements slog.Handler.
func (d discreet) WithGroup(name string) slog.Handler { return discreet{d.Handler.WithGroup(name)} }

// discreetLines is a writer of whole lines that removes secrets. Clients choose the names, addresses and texts in frames.
type discreetLines struct{ io.Writer }

// Write implements io.Writer.
func (d discreetLines) Write(lines []byte) (int, error) {
	if _, err := io.WriteString(d.Writer, redact(string(lines))); err != nil {
		return 0, fmt.Errorf("write without secrets: %w", err)
	}
	return len(lines), nil
}

// redactAttr removes secrets from texts and from values that the log writes as texts.
func redactAttr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, redact(v.String()))
	case slog.KindAny:
		if text := fmt.Sprint(v.Any()); secrets.MatchString(text) {
			return slog.String(a.Key, redact(text))
		}
	case slog.KindGroup:
		clean := make([]any, len(v.Group()))
		for i, inner := range v.Group() {
			clean[i] = redactAttr(inner)
		}
		return slog.Group(a.Key, clean...)
	}
	return a
}
