package cli

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/internal/printable"
	"minibus/mgmt/control/api"
)

func (a *app) connCommand() *cobra.Command {
	return group("conn", "connections of clients to a Minibus, with their links", controlHelp,
		a.connList(), a.connShow(), a.connRefused(), a.connClose())
}

// maxContainer is how much of a container's name the table shows. Some SDKs make up long ones.
const maxContainer = 24

func (a *app) connList() *cobra.Command {
	c := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "list the connections, the oldest first",
		Args:    Arguments(),
		Example: "  minibus conn ls\n  minibus conn ls --entity orders -o jsonl"}
	entity := c.Flags().String("entity", "", "only those with a link to this `path`, such as orders or "+
		"events/Subscriptions/audit, and those that do not answer")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		query := url.Values{}
		if *entity != "" {
			query.Set("entity", *entity)
		}
		a.out.list("ID", "REMOTE", "TRANSPORT", "SDK", "RECEIVES", "SENDS", "STATE", "SINCE", "CONTAINER")
		_, err := listPages(cmd.Context(), a, inThis("connections"), query, func(c *api.Connection) []string {
			return []string{c.ID, c.Remote, c.Transport, sdkOf(c), linksOf(c, "receiver"), linksOf(c, "sender"),
				stateOf(c),
				shownTime(c.Since), printable.Clip(c.Container, maxContainer)}
		})
		return a.about("list connections", err)
	}
	return c
}

func sdkOf(c *api.Connection) string { return strings.TrimSpace(c.Product + " " + c.Version) }

func stateOf(c *api.Connection) string {
	switch {
	case c.Busy:
		return "busy"
	case c.Ending:
		return "ending"
	}
	return "open"
}

// linksOf names what the links of a role lead to, without the nodes of the protocol.
func linksOf(c *api.Connection, role string) string {
	var all []string
	for _, l := range c.Links {
		node := strings.HasPrefix(l.Address, "$") || strings.HasSuffix(l.Address, "/$management") ||
			l.Address == "coordinator"
		if l.Role == role && !node {
			all = append(all, l.Address)
		}
	}
	return strings.Join(all, " ")
}

func (a *app) connShow() *cobra.Command {
	return &cobra.Command{Use: "show CONNECTION", Args: Arguments("CONNECTION"),
		Short: "show a connection and its links: credit, unsettled messages, and what each waits for",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := get[api.Connection](cmd.Context(), a, "show the connection", inThis("connections", args[0]))
			if err == nil {
				err = a.out.one(s, connectionPairs(&s.is)...)
			}
			if err != nil || a.out.format != formatTable {
				return err
			}
			a.out.write("\n")
			a.out.list("LINK", "ROLE", "ADDRESS", "MODE", "SESSION", "SELECTOR", "CREDIT", "UNSETTLED", "WINDOW",
				"MESSAGES", "WAITS FOR")
			for _, l := range s.is.Links {
				if err := a.out.add(l, number(&l.ID), l.Role, l.Address, l.Mode, text(l.SessionID), l.Selector,
					number(&l.Credit), strconv.Itoa(l.Unsettled), number(&l.SessionWindow), number(&l.Deliveries),
					l.WaitsFor); err != nil {
					return err
				}
			}
			return nil
		}}
}

func connectionPairs(c *api.Connection) [][2]string {
	pairs := [][2]string{{"id", c.ID}, {"remote", c.Remote}, {"transport", c.Transport}, {"state", stateOf(c)},
		{"since", shownTime(c.Since)}}
	for _, p := range [][2]string{{"host", c.Host}, {"container", c.Container}, {"sdk", sdkOf(c)},
		{"platform", c.Platform},
		{"policies", strings.Join(c.Policies, " ")}} {
		if p[1] != "" {
			pairs = append(pairs, p)
		}
	}
	if c.PendingBytes > 0 {
		pairs = append(pairs, [2]string{"pending-bytes", strconv.Itoa(c.PendingBytes)})
	}
	return pairs
}

// shownTime is an instant with what it has of milliseconds, as the control API writes it.
func shownTime(t time.Time) string { return t.Format(time.RFC3339Nano) }

func (a *app) connClose() *cobra.Command {
	return &cobra.Command{Use: "close CONNECTION[/LINK]...", Short: "close connections, or detach links",
		Args: Arguments("CONNECTION..."),
		Long: `Closes connections as the service does before a restart, or, with CONNECTION/LINK, detaches links as it
does when they are idle. Clients of the SDKs connect and attach again: this shows whether a program recovers. Locks of
messages run on; sessions are free at once.`,
		Example: "  minibus conn close c3\n  minibus conn close c3/2",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				kind := "connection"
				path := inThis("connections", arg)
				done := "closed connection %s"
				if id, link, isLink := strings.Cut(arg, "/"); isLink {
					kind = "link"
					path = inThis("connections", id, "links", link)
					done = "detached link %s"
				}
				if err := a.control(cmd.Context(), http.MethodDelete, path, nil, nil); err != nil {
					return a.about("close "+kind+" "+arg, err)
				}
				if err := a.out.done(map[string]any{"closed": arg, "kind": kind}, done, arg); err != nil {
					return err
				}
			}
			return nil
		}}
}

func (a *app) connRefused() *cobra.Command {
	return &cobra.Command{Use: "refused",
		Short: "list the links and tokens that were refused lately, the latest first", Args: Arguments(),
		Example: "  minibus conn refused\n  minibus conn refused -o jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.out.list("TIME", "WHAT", "ENTITY", "CONDITION", "CONNECTION", "REMOTE", "CONTAINER", "TEXT")
			some, err := listPages(cmd.Context(), a, inThis("refusals"), url.Values{}, func(r *api.Refusal) []string {
				entity := strings.TrimSuffix(r.Entity+"/"+r.SubQueue, "/")
				return []string{r.Time.Format(time.RFC3339), r.Operation, entity, r.Condition, r.Client.Connection,
					r.Client.Remote,
					printable.Clip(r.Client.Container, maxContainer), r.Text}
			})
			if err == nil && !some {
				a.note("nothing was refused")
			}
			return a.about("list what was refused", err)
		}}
}
