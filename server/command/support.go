package command

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"minibus/cli"
	"minibus/config"
	"minibus/export"
	"minibus/internal/sas"
	"minibus/server"
)

// supportParts returns what a support bundle has of this program, and of the server that would run with the same settings.
func supportParts(ctx context.Context, flags, environ []string, c sas.Connection, caFile string) []cli.SupportPart {
	version := fmt.Sprintf("%sprocessors: %d\n", server.ThisBuild().String(), runtime.NumCPU())
	parts := []cli.SupportPart{{Name: "version.txt", Data: []byte(version)}}
	settings := cli.SupportPart{Name: "settings.json"}
	command, err := config.ParseArgs(flags, environ)
	if err == nil {
		s := command.Settings
		for _, secret := range []*string{&s.RootKey, &s.Password} {
			if *secret != "" {
				*secret = "***"
			}
		}
		settings.Data, err = json.MarshalIndent(s, "", "  ")
	}
	settings.Err = err
	entities := cli.SupportPart{Name: "Config.json"}
	found, err := export.Read(ctx, c, export.Options{CAFile: caFile})
	if err == nil {
		entities.Data, _, err = export.Write(found, export.FormatConfig)
	}
	entities.Err = err
	return append(parts, settings, entities)
}
