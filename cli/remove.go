package cli

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/spf13/cobra"
)

func removeCommand[P any](a *app, k *kind[P]) *cobra.Command {
	c := &cobra.Command{Use: "rm " + k.argument + "...", Aliases: []string{"delete"}, Short: "delete some with all their messages",
		Long: "Deletes them with all their messages, without a way back. It asks first if a person is at the terminal.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return Usage("%s needs %s; see %s --help", called(cmd), k.argument, cmd.CommandPath())
			}
			return nil
		}}
	yes := c.Flags().BoolP("yes", "y", false, "don't ask")
	ifExists := c.Flags().Bool("if-exists", false, "succeed if there is none")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var paths []string
		for _, arg := range args {
			path, err := k.path(arg)
			if err != nil {
				return err
			}
			paths = append(paths, path)
		}
		client, err := a.entities()
		if err != nil {
			return err
		}
		if err := a.confirm(*yes, "Delete %s %s at %s, with all messages?", k.name, strings.Join(paths, ", "), a.host()); err != nil {
			return err
		}
		for _, path := range paths {
			if err := removeOne(cmd.Context(), a, k, client, path, *ifExists); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

func removeOne[P any](ctx context.Context, a *app, k *kind[P], client *admin.Client, path string, ifExists bool) error {
	err := k.remove(ctx, client, path)
	if err == nil {
		return a.out.done(map[string]any{"deleted": path, "kind": k.name}, "deleted %s %s", k.name, path)
	}
	f := a.explain(err)
	switch {
	case f.code == exitNotFound && ifExists:
		return nil
	case f.code == exitNotFound:
		return a.about("delete "+k.name+" "+path, missing(k.name, nil))
	}
	return a.about("delete "+k.name+" "+path, f)
}
