package cli

import (
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"minibus/internal/printable"
)

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
