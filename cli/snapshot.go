package cli

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/mgmt/control/api"
)

func (a *app) snapshotCommand() *cobra.Command {
	return group("snapshot", "what is in a namespace of a Minibus, saved under a name and restored",
		"A snapshot has the entities, their messages and numbers, the states of sessions, remembered message ids, "+
			"and what the clock\n"+
			"shows. Clients stay connected.\n"+controlHelp,
		a.snapshotList(), a.snapshotSave(), a.snapshotRestore(), a.snapshotRemove())
}

func (a *app) snapshotList() *cobra.Command {
	return &cobra.Command{Use: "ls", Aliases: []string{"list"},
		Short: "list the snapshots of the namespace, by name", Args: Arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.out.list("NAME", "SAVED", "ENTITIES", "MESSAGES", "BYTES", "CLOCK")
			_, err := listPages(cmd.Context(), a, inThis("snapshots"), url.Values{}, func(s *api.Snapshot) []string {
				clock := s.Now.Format(time.RFC3339)
				if s.Frozen {
					clock += " frozen"
				}
				return []string{s.Name, s.Saved.Format(time.RFC3339), number(&s.Entities), number(&s.Messages),
					number(&s.Bytes), clock}
			})
			return a.about("list snapshots", err)
		}}
}

// heldIn names a snapshot and what it has.
func heldIn(s *api.Snapshot) string {
	return fmt.Sprintf("%s: messages: %s, entities: %s", s.Name, config.Thousands(s.Messages),
		config.Thousands(s.Entities))
}

// longCopy is longer than any copy of a namespace takes.
const longCopy = time.Hour

func (a *app) snapshotSave() *cobra.Command {
	c := &cobra.Command{Use: "save NAME", Short: "save what is in the namespace", Args: Arguments("NAME"),
		Long: `Everything that was acknowledged before is in the snapshot. Clients go on meanwhile. Locks are not
saved: a locked message is available in the snapshot.`,
		Example: "  minibus snapshot save seeded\n  minibus snapshot save seeded --replace"}
	replace := c.Flags().Bool("replace", false, "take the place of a snapshot of that name")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var s answered[api.Snapshot]
		order := map[string]any{"name": args[0], "replace": *replace}
		if err := a.control(withLimits(cmd.Context(), requestLimits{least: longCopy}), http.MethodPost,
			inThis("snapshots"), order, &s); err != nil {
			return a.about("save the snapshot", err)
		}
		return a.out.done(s, "saved the snapshot %s", heldIn(&s.is))
	}
	return c
}

func (a *app) snapshotRestore() *cobra.Command {
	c := &cobra.Command{Use: "restore NAME", Short: "make the namespace what it was when a snapshot was saved",
		Args: Arguments("NAME"),
		Long: `Afterwards the namespace has the entities and messages of the snapshot and no others, and its clock
shows what it showed then. Clients stay connected. It asks first if a person is at the terminal.`,
		Example: "  minibus snapshot restore seeded --yes"}
	yes := yesFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var s answered[api.Snapshot]
		path := inThis("snapshots", args[0])
		if err := a.control(cmd.Context(), http.MethodGet, path, nil, &s); err != nil {
			return a.about("restore the snapshot", err)
		}
		err := a.confirm(*yes, "Restore the snapshot %s of %s at %s, with all that came later lost?", s.is.Name,
			s.is.Saved.Format(time.RFC3339), a.host())
		if err != nil {
			return err
		}
		if err := a.control(withLimits(cmd.Context(), requestLimits{least: longCopy}), http.MethodPost, path+"/restore",
			nil, &s); err != nil {
			return a.about("restore the snapshot", err)
		}
		return a.out.done(s, "restored the snapshot %s", heldIn(&s.is))
	}
	return c
}

func (a *app) snapshotRemove() *cobra.Command {
	c := &cobra.Command{Use: "rm NAME", Aliases: []string{"delete"},
		Short: "delete a snapshot; it asks first if a person is at the terminal", Args: Arguments("NAME"),
		Example: "  minibus snapshot rm seeded"}
	yes := yesFlag(c)
	dryRun := dryRunFlag(c)
	ifExists := c.Flags().Bool("if-exists", false, "succeed if there is none")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if *dryRun {
			var s answered[api.Snapshot]
			err := a.control(cmd.Context(), http.MethodGet, inThis("snapshots", args[0]), nil, &s)
			if err = a.about("delete the snapshot", err); err != nil {
				return unlessGone(err, *ifExists)
			}
			return a.out.done(map[string]any{"dryRun": true, "deleted": s.is.Name, "kind": "snapshot",
				"messages": s.is.Messages, "entities": s.is.Entities},
				"would have deleted the snapshot %s; nothing changed", heldIn(&s.is))
		}
		if err := a.connect(); err != nil {
			return err
		}
		if err := a.confirm(*yes, "Delete the snapshot %s at %s?", args[0], a.host()); err != nil {
			return err
		}
		err := a.about("delete the snapshot",
			a.control(cmd.Context(), http.MethodDelete, inThis("snapshots", args[0]), nil, nil))
		if err != nil {
			return unlessGone(err, *ifExists)
		}
		return a.out.done(map[string]any{"deleted": args[0], "kind": "snapshot"}, "deleted the snapshot %s", args[0])
	}
	return c
}
