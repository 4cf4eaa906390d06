package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/internal/printable"
)

// answered is what the control API answers, kept as it came for JSON.
type answered[T any] struct {
	is  T
	raw json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *answered[T]) UnmarshalJSON(text []byte) error {
	s.raw = append(s.raw[:0], text...)
	return json.Unmarshal(text, &s.is)
}

// MarshalJSON implements json.Marshaler.
func (s answered[T]) MarshalJSON() ([]byte, error) { return s.raw, nil }

// connection is what the tables show of a connection.
type connection struct {
	ID, Remote, Transport, Host, Container, Product, Version, Platform, Since string

	Policies     []string
	Busy, Ending bool
	PendingBytes int
	Links        []struct {
		ID                                                     int64
		Name, Role, Address, Mode, Since, LastActive, WaitsFor string
		SessionID                                              *string
		Credit, Unsettled, SessionWindow, Deliveries           int64
	}
}

func (a *app) connCommand() *cobra.Command {
	return group("conn", "connections of clients to a Minibus, with their links",
		"Uses the control API of a Minibus. With --auth sas it needs a key of the default namespace with the Manage right.",
		a.connList(), a.connShow(), a.connRefused(), a.connClose())
}

// maxContainer is how much of a container's name the table shows. Some SDKs make up long ones.
const maxContainer = 24

func (a *app) connList() *cobra.Command {
	c := &cobra.Command{Use: "ls", Aliases: []string{"list"}, Short: "list the connections, the oldest first", Args: Arguments(),
		Example: "  minibus conn ls\n  minibus conn ls --entity orders -o jsonl"}
	entity := c.Flags().String("entity", "", "only those with a link to this `path`, such as orders or events/Subscriptions/audit, and those that do not answer")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		a.out.list("ID", "REMOTE", "TRANSPORT", "SDK", "RECEIVES", "SENDS", "STATE", "SINCE", "CONTAINER")
		query := url.Values{}
		if *entity != "" {
			query.Set("entity", *entity)
		}
		for {
			var page struct {
				Items []answered[connection]
				Next  string
			}
			if err := a.control(cmd.Context(), http.MethodGet, inThis("connections")+"?"+query.Encode(), nil, &page); err != nil {
				return a.about("list connections", err)
			}
			for _, s := range page.Items {
				c := &s.is
				if err := a.out.add(s, c.ID, c.Remote, c.Transport, c.sdk(), c.places("receiver"), c.places("sender"), c.state(), c.Since, printable.Clip(c.Container, maxContainer)); err != nil {
					return err
				}
			}
			if page.Next == "" {
				return nil
			}
			query.Set("cursor", page.Next)
		}
	}
	return c
}

func (c *connection) sdk() string { return strings.TrimSpace(c.Product + " " + c.Version) }

func (c *connection) state() string {
	switch {
	case c.Busy:
		return "busy"
	case c.Ending:
		return "ending"
	}
	return "open"
}

// places names what the links of a role lead to, without the nodes of the protocol.
func (c *connection) places(role string) string {
	var all []string
	for _, l := range c.Links {
		if l.Role == role && !strings.HasPrefix(l.Address, "$") && !strings.HasSuffix(l.Address, "/$management") && l.Address != "coordinator" {
			all = append(all, l.Address)
		}
	}
	return strings.Join(all, " ")
}

func (a *app) connShow() *cobra.Command {
	return &cobra.Command{Use: "show CONNECTION", Short: "show a connection and its links: credit, unsettled messages, and what each waits for", Args: Arguments("CONNECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var s answered[connection]
			if err := a.control(cmd.Context(), http.MethodGet, inThis("connections", args[0]), nil, &s); err != nil {
				return a.about("show the connection", err)
			}
			c := &s.is
			if err := a.out.one(s, c.pairs()...); err != nil || a.out.format != "table" {
				return err
			}
			a.out.write("\n")
			a.out.list("LINK", "ROLE", "ADDRESS", "MODE", "SESSION", "CREDIT", "UNSETTLED", "WINDOW", "MESSAGES", "WAITS FOR")
			for _, l := range c.Links {
				session := ""
				if l.SessionID != nil {
					session = *l.SessionID
				}
				if err := a.out.add(l, strconv.FormatInt(l.ID, 10), l.Role, l.Address, l.Mode, session, fmt.Sprint(l.Credit), fmt.Sprint(l.Unsettled), fmt.Sprint(l.SessionWindow),
					fmt.Sprint(l.Deliveries), l.WaitsFor); err != nil {
					return err
				}
			}
			return nil
		}}
}

func (c *connection) pairs() [][2]string {
	pairs := [][2]string{{"id", c.ID}, {"remote", c.Remote}, {"transport", c.Transport}, {"state", c.state()}, {"since", c.Since}}
	for _, p := range [][2]string{{"host", c.Host}, {"container", c.Container}, {"sdk", c.sdk()}, {"platform", c.Platform}, {"policies", strings.Join(c.Policies, " ")}} {
		if p[1] != "" {
			pairs = append(pairs, p)
		}
	}
	if c.PendingBytes > 0 {
		pairs = append(pairs, [2]string{"pending-bytes", strconv.Itoa(c.PendingBytes)})
	}
	return pairs
}

func (a *app) connClose() *cobra.Command {
	return &cobra.Command{Use: "close CONNECTION[/LINK]...", Short: "close connections, or detach links",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return Usage("%s needs CONNECTION; see %s --help", called(cmd), cmd.CommandPath())
			}
			return nil
		},
		Long: "Closes connections as the service does before a restart, or, with CONNECTION/LINK, detaches links as it does when they are idle. Clients of the SDKs connect\nand attach again: " +
			"this shows whether a program recovers. Locks of messages run on; sessions are free at once.",
		Example: "  minibus conn close c3\n  minibus conn close c3/2",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				id, link, isLink := strings.Cut(arg, "/")
				path, kind, done := inThis("connections", id), "connection", "closed connection %s"
				if isLink {
					path, kind, done = inThis("connections", id, "links", link), "link", "detached link %s"
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

// refused has what the table shows of a link or a token that was refused.
type refused struct {
	Time                                         time.Time
	Operation, Entity, SubQueue, Condition, Text string
	Client                                       struct{ Connection, Container, Product, Remote string }
}

func (a *app) connRefused() *cobra.Command {
	return &cobra.Command{Use: "refused", Short: "list the links and tokens that were refused lately, the latest first", Args: Arguments(),
		Example: "  minibus conn refused\n  minibus conn refused -o jsonl",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var page struct{ Items []answered[refused] }
			if err := a.control(cmd.Context(), http.MethodGet, inThis("refusals"), nil, &page); err != nil {
				return a.about("list what was refused", err)
			}
			a.out.list("TIME", "WHAT", "ENTITY", "CONDITION", "CONNECTION", "REMOTE", "CONTAINER", "TEXT")
			for _, s := range page.Items {
				r := &s.is
				entity := r.Entity
				if r.SubQueue != "" {
					entity += "/" + r.SubQueue
				}
				if err := a.out.add(s, r.Time.Format(time.RFC3339), r.Operation, entity, r.Condition, r.Client.Connection, r.Client.Remote, printable.Clip(r.Client.Container, maxContainer), r.Text); err != nil {
					return err
				}
			}
			if len(page.Items) == 0 {
				a.note("nothing was refused")
			}
			return nil
		}}
}
