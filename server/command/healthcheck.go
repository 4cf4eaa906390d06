package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/cli"
	"minibus/config"
)

// healthTimeout bounds one request; Minibus answers at once even while it starts.
const healthTimeout = 3 * time.Second

// direct is a client that goes through no proxy.
var direct = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// healthURL returns where a Minibus tells whether it is ready.
func healthURL(host string, port int) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/health"
}

func (p *program) healthcheckCommand() *cobra.Command {
	c := &cobra.Command{Use: "healthcheck", Args: cli.Arguments(),
		Short: "ask the running Minibus whether it is ready; the exit code is 1 if it is not",
		Long: "Asks the running Minibus whether it is ready. The exit code is 1 if it is not. Give it the same " +
			"flags as the Minibus that it asks."}
	settings := cli.ServerFlags(c, p.environ, "host", "amqp-port", "tls-port", "http-port", "extra-ports", "ports-file")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := settings()
		if err != nil {
			return err
		}
		return healthcheck(cmd.Context(), s)
	}
	return c
}

// healthcheck asks the Minibus that runs with the same settings whether it is ready. It is the image's HEALTHCHECK,
// which has neither a shell nor curl.
func healthcheck(ctx context.Context, s config.Settings) error {
	port, err := healthPort(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	url := healthURL(config.ClientAddress(s.Host), port)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	resp, err := direct.Do(req)
	if err != nil {
		return healthError(err, req.URL.Host, port)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return fmt.Errorf("%s answered %s: %s", url, resp.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

// healthError says which address failed and, if nothing listens there, what to do.
func healthError(err error, address string, port int) error {
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout() {
		return fmt.Errorf("no Minibus listens on %s (%w): start one with minibus --http-port %d, "+
			"or say where it listens with --host and --http-port, or its --ports-file", address, dial.Err, port)
	}
	return fmt.Errorf("ask %s for health: %w", address, err)
}

// withBoundPorts returns the settings with the ports in the ports file, if one is named and there. Those are what a
// Minibus that runs has bound.
func withBoundPorts(s config.Settings) config.Settings {
	if s.PortsFile == "" {
		return s
	}
	written, err := config.ReadPorts(s.PortsFile)
	if err != nil {
		return s // missing until Minibus is ready
	}
	for _, p := range []struct {
		port    *config.Port
		written int
	}{{&s.HTTPPort, written.HTTP}, {&s.AMQPPort, written.AMQP}, {&s.TLSPort, written.TLS}} {
		if p.written > 0 {
			*p.port = config.Port(p.written)
		}
	}
	return s
}

// healthPort returns the HTTP port or else any other, because each speaks HTTP. It looks up ports in the ports file.
func healthPort(s config.Settings) (int, error) {
	s = withBoundPorts(s)
	var written config.Ports
	if s.PortsFile != "" {
		written, _ = config.ReadPorts(s.PortsFile)
	}
	type candidate struct {
		port    config.Port
		written int
	}
	candidates := []candidate{{port: s.HTTPPort}, {port: s.AMQPPort}, {port: s.TLSPort}}
	for i, p := range s.ExtraPorts.Ports() {
		c := candidate{port: p}
		if i < len(written.Extra) {
			c.written = written.Extra[i]
		}
		candidates = append(candidates, c)
	}
	for _, p := range candidates {
		switch {
		case p.port > 0:
			return int(p.port), nil
		case p.written > 0:
			return p.written, nil
		}
	}
	return 0, errors.New("the port is not known: give --http-port, or the --ports-file of the running Minibus")
}
