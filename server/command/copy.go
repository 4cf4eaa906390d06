package command

import (
	"context"
	"errors"
	"fmt"

	"minibus/cli"
	"minibus/config"
	"minibus/export"
	"minibus/server"
)

// startCopy starts a Minibus without a port and without a file, with the entities of a namespace: for what only a
// Minibus answers, such as what a Config.json would change.
func startCopy(ctx context.Context, from cli.Source) (cli.Dialer, []string, func(), error) {
	found, err := export.Read(ctx, from.Connection, export.Options{CAFile: from.CAFile, Token: from.Token})
	if errors.Is(err, export.ErrRefused) {
		err = cli.Refused(err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	text, notes, err := export.Write(found, export.FormatConfig)
	if err != nil {
		return nil, nil, nil, err
	}
	topology, report := config.Parse(found.Source, text, config.ProfileRelaxed)
	if err := report.Err(); err != nil {
		return nil, nil, nil, fmt.Errorf("copy the namespace: %w", err)
	}
	s, err := server.Start(ctx, server.Config{NoNetwork: true, Topology: topology,
		Settings: config.Settings{Ephemeral: true, NamespacePorts: "0"}})
	if err != nil {
		return nil, nil, nil, fmt.Errorf("copy the namespace: %w", err)
	}
	end := func() { _ = s.Close(context.WithoutCancel(ctx)) }
	return s.Dial, notes, end, nil
}
