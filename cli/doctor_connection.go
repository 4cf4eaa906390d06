package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// tryPatience is how long doctor waits for what a connection string names.
const tryPatience = 5 * time.Second

// namesPorts reports whether the environment says which ports the server has.
func (a *app) namesPorts() bool {
	return slices.ContainsFunc([]string{"MINIBUS_AMQP_PORT", "MINIBUS_HTTP_PORT", "MINIBUS_PORTS_FILE"}, func(name string) bool { return a.variable(name) != "" })
}

// tryConnection tries the connection string that other commands would use, if there is one. port is where the Minibus is that it names on this
// machine; empty if it names none.
func (a *app) tryConnection(ctx context.Context) (findings []Finding, port string) {
	const correct = "correct it: minibus env prints one for the Minibus of this machine"
	text, source := a.connectionString()
	if strings.TrimSpace(text) == "" {
		return nil, ""
	}
	f := Finding{Level: Wrong, About: "connection", Cure: correct}
	if err := a.connect(); err != nil {
		f.Detail = a.redact(err.Error())
		return []Finding{f}, ""
	}
	if host, given, err := net.SplitHostPort(a.target.Host()); err == nil && a.target.Emulator && (host == "localhost" || host == "127.0.0.1") {
		port = given
	}
	f.Level, f.Detail, f.Cure = a.whatAnswers(ctx)
	f.Detail = a.redact(source + " names " + a.host() + ": " + f.Detail)
	return []Finding{f}, port
}

// whatAnswers finds out what the connection string leads to.
func (a *app) whatAnswers(ctx context.Context) (l Level, detail, cure string) {
	ctx, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	const start = "start it, or correct the connection string: minibus env prints one for the Minibus of this machine"
	client, base, err := a.controlClient()
	if err != nil {
		return Wrong, err.Error(), ""
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", http.NoBody)
	if err != nil {
		return Wrong, oneLine(err.Error()), start
	}
	answer, err := client.Do(r)
	if err != nil {
		return Wrong, a.explain(err).text, start
	}
	_ = answer.Body.Close()
	version, isMinibus := strings.CutPrefix(answer.Header.Get("Server"), "Minibus/")
	if !isMinibus {
		return Note, "what answers there is no Minibus; doctor looks no further", ""
	}
	var f *failure
	if err := a.control(ctx, http.MethodGet, thisNamespace, nil, nil); errors.As(err, &f) && f.code == exitUnauthorized {
		return Wrong, fmt.Sprintf("Minibus %s answers, and refuses the key: %s", version, f.text), ""
	} else if errors.As(err, &f) && f.code == exitNotFound {
		return Wrong, fmt.Sprintf("Minibus %s answers: %s", version, f.text), "minibus namespace ls lists its namespaces"
	}
	return Good, fmt.Sprintf("Minibus %s answers", version), ""
}
