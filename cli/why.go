package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

func (a *app) whyCommand() *cobra.Command {
	c := &cobra.Command{Use: "why ENTITY", Short: "say why nothing is received from an entity, and what to do",
		Args: Arguments("ENTITY"),
		Long: `Looks at the entity, its messages and locks, its receivers and their credit, the rules that select for
it, and what Minibus refused lately. It changes nothing.
` + addressHelp + `
` + controlHelp,
		Example: "  minibus why orders\n  minibus why events/audit --client worker-1\n" +
			"  minibus why orders --dlq -o json"}
	var sub subQueueFlags
	sub.add(c)
	client := c.Flags().String("client", "", "only the receivers of this `name`: a connection's id, with /LINK for "+
		"one link, its container or address, or the name of a link")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		at, err := parseAddress(args[0], sub)
		if err != nil {
			return err
		}
		s, err := a.why(cmd.Context(), &at, *client)
		if err != nil {
			return a.about("why", err)
		}
		if a.out.format != formatTable {
			return a.out.document(s)
		}
		a.whyText(&s.is)
		return a.out.push()
	}
	return c
}

// why asks for a diagnosis. A path with a slash is that of a subscription, or else that of a queue.
func (a *app) why(ctx context.Context, at *address, client string) (s answered[api.Diagnosis], err error) {
	query := ""
	if client != "" {
		query = "?client=" + url.QueryEscape(client)
	}
	for _, path := range at.paths() {
		if err = a.control(ctx, http.MethodGet, inThis("entities", path, "why")+query, nil, &s); !isNotFound(err) {
			break
		}
	}
	return s, err
}

// path returns the address as the service writes it.
func (a address) path() string {
	if a.queue == "" {
		a.queue = a.topic + "/Subscriptions/" + a.subscription
	}
	return a.String()
}

// whyText writes the findings for people: a line for each and what to do below it.
func (a *app) whyText(d *api.Diagnosis) {
	a.out.write("%s: available messages: %s, attached receivers: %s\n", visible(d.Entity),
		config.Thousands(d.Available), config.Thousands(d.Receivers))
	width := 0
	for _, f := range d.Findings {
		width = max(width, len(f.Code))
	}
	for _, f := range d.Findings {
		mark, colour := " ", ""
		if f.Blocks {
			mark, colour = "!", "31"
		}
		a.out.coloured(colour, fmt.Sprintf("%s %-*s", mark, width, f.Code))
		a.out.write("  ")
		a.out.hanging(width+4, f.Text)
		if f.Fix != "" {
			a.out.write("%*s-> ", width+4, "")
			a.out.hanging(width+7, f.Fix)
		}
	}
}
