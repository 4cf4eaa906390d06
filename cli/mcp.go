package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"minibus/cli/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	c := &cobra.Command{Use: "mcp",
		Short: "let a coding assistant look into the bus, over the Model Context Protocol", Args: Arguments(),
		Long: `Serves the operations of the control API as tools, over standard input and output. An assistant starts
the command itself: docs/mcp.md has what to write into its configuration. The tools only read, unless --allow-write is
given. Minibus need not run yet when the assistant starts.
` + manageHelp,
		Example: "  minibus mcp\n  minibus mcp --allow-write -c \"$SERVICEBUS_CONNECTION_STRING\""}
	write := c.Flags().Bool("allow-write", false,
		"tools too that send, move and delete messages, change entities and steer the bus")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, _, err := a.controlClient(); err != nil {
			return err
		}
		a.quiet = true
		return mcp.Serve(cmd.Context(),
			mcp.Options{Document: a.env.Document(), Prefix: controlPrefix, Version: a.env.Version, Target: a.host(),
				AllowWrite: *write,
				Call:       a.controlText, Hider: a.hider(), In: a.env.Stdin, Out: a.env.Stdout})
	}
	return c
}

// maxAnswer is more than an answer of the control API has that an assistant could read, in bytes.
const maxAnswer = 16 << 20

// controlText sends a request to the control API and returns the text of the answer.
func (a *app) controlText(ctx context.Context, method, path string, in any) ([]byte, error) {
	answer, err := a.controlAnswer(withLimits(ctx, requestLimits{least: longestWait + usualTimeout}), method, path, in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, a.explain(err)
	}
	return text, nil
}
