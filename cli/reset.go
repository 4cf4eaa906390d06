package cli

import (
	"net/http"

	"github.com/spf13/cobra"
)

func (a *app) resetCommand() *cobra.Command {
	c := &cobra.Command{Use: "reset", Short: "make a namespace of a Minibus what its configuration says, and empty", Args: Arguments(),
		Long: "Afterwards the namespace has the entities of Config.json, or those with which it was created, and no others. They are empty, and the clock shows the machine's time.\n" +
			"Clients stay connected. It asks first if a person is at the terminal.",
		Example: "  minibus reset --yes"}
	yes := c.Flags().BoolP("yes", "y", false, "don't ask")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		var n namespace
		if err := a.control(cmd.Context(), http.MethodGet, inThis(), nil, &n); err != nil {
			return a.about("reset the namespace", err)
		}
		if err := a.confirm(*yes, "Reset the namespace %s at %s, with all of its messages lost?", n.Name, a.host()); err != nil {
			return err
		}
		if err := a.control(cmd.Context(), http.MethodPost, inThis("reset"), nil, nil); err != nil {
			return a.about("reset the namespace", err)
		}
		return a.out.done(map[string]any{"reset": n.Name}, "reset the namespace %s", n.Name)
	}
	return c
}
