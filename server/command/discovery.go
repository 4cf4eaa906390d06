package command

import (
	"cmp"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"minibus/config"
	"minibus/internal/discovery"
	"minibus/internal/tlsca"
	"minibus/server"
)

// announced makes a server known to minibus ls, until leave. Without a place for it the server runs all the same, as in
// a container without a home directory.
func announced(a *server.Server, s config.Settings, log *slog.Logger) (leave func()) {
	ports := a.Ports()
	host := config.ClientHost(s.Host)
	entry := discovery.Server{
		PID: os.Getpid(), Version: server.Version(), Data: a.Database(), Started: time.Now().UTC(),
		Address: net.JoinHostPort(host, strconv.Itoa(cmp.Or(ports.AMQP, ports.HTTP, ports.TLS))),
	}
	if path, err := filepath.Abs(entry.Data); err == nil && entry.Data != "" {
		entry.Data = path
	}
	if ca, err := server.AuthorityDir(s); err == nil {
		entry.CA = filepath.Join(ca, tlsca.CertificateFile)
	}
	if s.Control != "off" {
		entry.Explorer = explorerAt(s, ports)
	}
	dir, err := discovery.Dir()
	if err == nil {
		var e *discovery.Entry
		if e, err = discovery.Announce(dir, entry); err == nil {
			return e.Remove
		}
	}
	log.Debug("minibus ls will not show this server", "reason", err)
	return func() {}
}

// explorerAt returns the address of the explorer for a browser on this machine.
func explorerAt(s config.Settings, p config.Ports) string {
	port := strconv.Itoa(cmp.Or(p.HTTP, p.AMQP, p.TLS))
	return "http://" + net.JoinHostPort(config.ClientHost(s.Host), port) + "/"
}
