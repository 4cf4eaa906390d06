package cli

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/sas"
	"minibus/mgmt/control/api"
)

// running is the JSON of status.
type running struct {
	Running          bool        `json:"running"`
	Address          string      `json:"address"`
	Version          string      `json:"version,omitempty"`
	Started          *time.Time  `json:"started,omitempty"`
	Explorer         string      `json:"explorer,omitempty"`
	ConnectionString string      `json:"connectionString,omitempty"`
	Namespaces       []inventory `json:"namespaces,omitempty"`
}

// inventory counts the entities and messages of a namespace.
type inventory struct {
	Name          string `json:"name"`
	Default       bool   `json:"default"`
	Queues        int    `json:"queues"`
	Topics        int    `json:"topics"`
	Subscriptions int    `json:"subscriptions"`
	Active        int64  `json:"active"`
	DeadLetter    int64  `json:"deadLetter"`
	Scheduled     int64  `json:"scheduled"`
}

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{Use: "status", Short: "say whether a Minibus runs, and where its explorer is",
		Args: Arguments(),
		Long: `Shows the version, the addresses and the contents of the running Minibus. The exit code is 0 if it
answers, 6 if nothing listens, 4 if it refuses the key. A key of your own is shown as dots; minibus env prints it.
` + manageHelp,
		Example: "  minibus status\n  minibus status -o json | jq -r .explorer\n" +
			"  minibus status > /dev/null || minibus &",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.status(cmd.Context())
			if err != nil && a.out.format == formatTable {
				return a.about("status", err)
			}
			if a.out.format == formatTable {
				return a.out.one(s, statusPairs(s)...)
			}
			if err := a.out.document(s); err != nil {
				return err
			}
			return a.about("status", err)
		}}
}

// status asks the server. What it knows of one that does not answer is its address.
func (a *app) status(ctx context.Context) (s running, err error) {
	client, base, err := a.controlClient()
	if err != nil {
		return s, err
	}
	s.Address = a.adminHost()
	version, err := a.version(ctx)
	if err != nil {
		return s, err
	}
	if version == "" {
		return s, failed(exitFailed, "what answers at %s is no Minibus", s.Address)
	}
	s.Running, s.Version = true, version
	s.Started = a.startOf(ctx, client, base)
	s.Explorer = base + "/"
	shown := a.target
	if shown.Emulator && !hasPort(shown.Host()) {
		shown.Endpoint += ":" + strconv.Itoa(usualAMQP)
	}
	if shown.Key != sas.DefaultKey && a.signIn == nil {
		shown.Key = "..."
	}
	shown.Signature = ""
	s.ConnectionString = shown.String()
	var all struct{ Namespaces []api.Namespace }
	if err := a.control(ctx, http.MethodGet, "namespaces", nil, &all); err != nil {
		return s, err
	}
	for _, n := range all.Namespaces {
		i, err := a.inventory(ctx, n.Name)
		if isNotFound(err) {
			continue // deleted meanwhile
		}
		if err != nil {
			return s, err
		}
		i.Default = n.Default
		s.Namespaces = append(s.Namespaces, i)
	}
	return s, nil
}

// version returns that of the Minibus that answers; empty if something else does.
func (a *app) version(ctx context.Context) (string, error) {
	client, base, err := a.controlClient()
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/health", http.NoBody)
	if err != nil {
		return "", Usage("%s: %v", a.source, err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return "", a.explain(err)
	}
	_ = answer.Body.Close()
	version, isMinibus := strings.CutPrefix(answer.Header.Get("Server"), "Minibus/")
	switch {
	case !isMinibus:
		return "", nil
	case answer.StatusCode != http.StatusOK:
		return "", failed(exitUnreachable, "the Minibus at %s is not ready (%s)", a.adminHost(), answer.Status)
	}
	return version, nil
}

// startOf returns when the process started, as its metrics say it; nil if they don't.
func (a *app) startOf(ctx context.Context, client *http.Client, base string) *time.Time {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", http.NoBody)
	if err != nil {
		return nil
	}
	token, err := a.token(ctx, base)
	if err != nil {
		return nil
	}
	r.Header.Set("Authorization", token)
	answer, err := client.Do(r)
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		text, found := strings.CutPrefix(lines.Text(), "process_start_time_seconds ")
		if seconds, err := strconv.ParseFloat(text, 64); found && err == nil {
			return new(time.UnixMilli(int64(seconds * 1000)).UTC())
		}
	}
	return nil
}

// inventory counts what a namespace has.
func (a *app) inventory(ctx context.Context, name string) (i inventory, err error) {
	i.Name = name
	query := url.Values{"limit": {"1000"}}
	for {
		var page api.Page[api.Entity]
		path := "namespaces/" + url.PathEscape(name) + "/entities?" + query.Encode()
		if err := a.control(ctx, http.MethodGet, path, nil, &page); err != nil {
			return i, err
		}
		for _, e := range page.Items {
			switch e.Kind {
			case queues.name:
				i.Queues++
			case topics.name:
				i.Topics++
			default:
				i.Subscriptions++
			}
			i.Active += e.Counts.Active
			i.DeadLetter += e.Counts.DeadLetter
			i.Scheduled += e.Counts.Scheduled
		}
		if page.Next == "" {
			return i, nil
		}
		query.Set("cursor", page.Next)
	}
}

func statusPairs(s running) [][2]string {
	var sum inventory
	var names []string
	for _, i := range s.Namespaces {
		sum.Queues += i.Queues
		sum.Topics += i.Topics
		sum.Subscriptions += i.Subscriptions
		sum.Active += i.Active
		sum.DeadLetter += i.DeadLetter
		sum.Scheduled += i.Scheduled
		names = append(names, i.Name)
	}
	amount := func(n int64, what string) string { return count(nil, strconv.FormatInt(n, 10)) + " " + what }
	pairs := [][2]string{{"explorer", s.Explorer}, {"connection string", s.ConnectionString},
		{"address", s.Address}, {"version", s.Version}}
	if s.Started != nil {
		up := time.Since(*s.Started).Round(time.Second)
		pairs = append(pairs, [2]string{"uptime", up.String() + ", since " + s.Started.Format(time.RFC3339)})
	}
	return append(pairs, [2]string{"namespaces", strings.Join(names, ", ")},
		[2]string{"entities", strings.Join([]string{config.Plural(sum.Queues, "queue"),
			config.Plural(sum.Topics, "topic"), config.Plural(sum.Subscriptions, "subscription")}, ", ")},
		[2]string{"messages", strings.Join([]string{amount(sum.Active, "active"),
			amount(sum.DeadLetter, "dead-lettered"), amount(sum.Scheduled, "scheduled")}, ", ")})
}
