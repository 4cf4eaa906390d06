package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"minibus/internal/discovery"
	"minibus/mgmt/control/api"
)

// found is a server as ls shows it.
type found struct {
	discovery.Server
	Namespaces []string `json:"namespaces,omitempty"` // none if it does not tell
}

// lookTime bounds how long ls waits for the namespaces of a server.
const lookTime = 2 * time.Second

func (a *app) lsCommand() *cobra.Command {
	return &cobra.Command{Use: "ls", Short: "list the Minibuses that run on this machine", Args: Arguments(),
		Long: `Lists the servers that you have started on this machine, also those of minibus run, the oldest first.
It finds neither those of other users nor those in containers. Give an address to -c to use that server.`,
		Example: "  minibus ls\n  minibus -c localhost:5301 status\n  minibus ls -o json | jq -r '.[].explorer'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			servers, err := runningHere()
			if err != nil {
				return failed(exitFailed, "ls: %v", err)
			}
			if len(servers) == 0 {
				a.note("no Minibus of yours runs on this machine")
			}
			a.out.list("ADDRESS", "EXPLORER", "DATA FILE", "NAMESPACES", "SINCE", "PID", "VERSION")
			for _, s := range a.withNamespaces(cmd.Context(), servers) {
				data := s.Data
				if data == "" {
					data = "in memory"
				}
				if err := a.out.add(s, s.Address, s.Explorer, data, strings.Join(s.Namespaces, ", "),
					s.Started.Format(time.RFC3339), fmt.Sprint(s.PID), s.Version); err != nil {
					return err
				}
			}
			return nil
		}}
}

// runningHere returns the servers of this user.
func runningHere() ([]discovery.Server, error) {
	dir, err := discovery.Dir()
	if err != nil {
		return nil, err
	}
	return discovery.List(dir)
}

// withNamespaces asks the servers for their namespaces.
func (a *app) withNamespaces(ctx context.Context, servers []discovery.Server) []found {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	all := make([]found, len(servers))
	var asked sync.WaitGroup
	for i, s := range servers {
		all[i].Server = s
		asked.Go(func() {
			b := &app{env: a.env, flags: a.flags}
			b.source, b.target = "ls", a.minibusAt(s.Address)
			var answer struct{ Namespaces []api.Namespace }
			if err := b.control(ctx, http.MethodGet, "namespaces", nil, &answer); err != nil {
				return // it has no control API, or another key
			}
			for _, n := range answer.Namespaces {
				all[i].Namespaces = append(all[i].Namespaces, n.Name)
			}
		})
	}
	asked.Wait()
	return all
}

// noteElsewhere says where a Minibus runs if nothing listens at the usual port.
func (a *app) noteElsewhere() {
	text := a.elsewhere()
	if text == "" {
		return
	}
	conn, err := net.DialTimeout("tcp", a.target.Host(), lookTime)
	if err == nil {
		_ = conn.Close()
		return
	}
	a.note("nothing listens at %s; %s", a.host(), text)
}

// elsewhere says that the local Minibus, which does not answer, runs at another address; empty if none runs.
func (a *app) elsewhere() string {
	servers, err := runningHere()
	if err != nil || len(servers) == 0 {
		return ""
	}
	last := servers[len(servers)-1].Address
	if len(servers) == 1 {
		return fmt.Sprintf("a Minibus runs at %s: add -c %s", last, last)
	}
	return fmt.Sprintf("%d Minibuses run at other addresses, which minibus ls shows: add -c %s for the newest",
		len(servers), last)
}
