package export

import (
	"fmt"
	"slices"
	"strings"
)

// Format is a form of output.
type Format string

// The formats.
const (
	FormatConfig    Format = "config"    // Config.json, which Minibus starts from
	FormatBicep     Format = "bicep"     // a module for Azure's resource manager
	FormatTerraform Format = "terraform" // a module for Terraform, provider azurerm 4
	FormatAz        Format = "az"        // commands of az for a shell
)

// ParseFormat reads the name of a format. The empty string is [FormatConfig].
func ParseFormat(s string) (Format, error) {
	switch f := Format(strings.ToLower(s)); f {
	case "":
		return FormatConfig, nil
	case FormatConfig, FormatBicep, FormatTerraform, FormatAz:
		return f, nil
	}
	return "", fmt.Errorf("there is no format %q of an export; allowed: config, bicep, terraform, az", s)
}

// Write renders a namespace. The same entities give the same bytes. Each warning is one line about something that the
// format can't express.
func Write(n *Namespace, f Format) (data []byte, warnings []string, err error) {
	switch f {
	case FormatConfig:
		data, warnings, err = writeConfig(n)
	case FormatBicep:
		data, warnings = writeBicep(n)
	case FormatTerraform:
		data, warnings = writeTerraform(n)
	case FormatAz:
		data, warnings = writeAz(n)
	default:
		err = fmt.Errorf("there is no format %q", f)
	}
	return data, append(slices.Clone(n.Warnings), warnings...), err
}
