package config

import (
	"errors"
	"fmt"
	"strings"
)

// Flag is a setting of the server as a flag of the command line. It has the methods of pflag.Value, and keeps what was
// given for [Read].
type Flag struct {
	Name    string // without hyphens
	Arg     string // placeholder of the value in the help; empty for a switch
	Default string
	Group   string // heading in the help; empty: it is not listed
	Help    string

	setting *setting
	value   string
	given   bool
}

// Flags returns a flag for each setting, in the order of the help.
func Flags() []*Flag {
	flags := make([]*Flag, len(table))
	for i := range table {
		s := &table[i]
		flags[i] = &Flag{Name: s.name, Arg: s.arg, Default: s.initial, Group: s.group, Help: s.help, setting: s}
	}
	return flags
}

func (f *Flag) String() string { return f.value }

// Set implements pflag.Value.
func (f *Flag) Set(value string) error {
	if f.setting.list && f.given {
		value = f.value + "\n" + value
	}
	f.value = value
	f.given = true
	return nil
}

// Type implements pflag.Value.
func (f *Flag) Type() string {
	if f.Arg == "" {
		return "bool"
	}
	return f.Arg
}

// Variable returns the name of a flag's environment variable.
func Variable(flag string) string {
	return "MINIBUS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Read returns the settings. A flag that was given wins over the environment ("KEY=value" entries), and that over the
// default. An empty variable counts as unset, because compose files pass unset variables that way. The error is one
// line and names the flag or variable.
func Read(flags []*Flag, environ []string) (Settings, error) {
	var s Settings
	variables := make(map[string]string, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			variables[name] = strings.TrimSpace(value)
		}
	}
	given := make(map[string]bool)
	for _, f := range flags {
		value := f.Default
		source := "default"
		for _, name := range append([]string{Variable(f.Name)}, f.setting.aliases...) {
			if v := variables[name]; v != "" && source == "default" {
				value = v
				source = name
				if f.setting.list {
					value = strings.ReplaceAll(v, ",", "\n")
				}
			}
		}
		if f.given {
			value = f.value
			source = "--" + f.Name
			given[f.Name] = true
		}
		if value == "" && !f.given {
			continue
		}
		if err := f.setting.set(&s, value); err != nil {
			return s, fmt.Errorf("%s: %w", source, err)
		}
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return s, errors.New("--tls-cert and --tls-key belong together: give both")
	}
	if s.EntraIssuer != "" && s.Auth != AuthEntra {
		return s, errors.New("--entra-issuer belongs to --auth entra: without it no token is asked for its issuer")
	}
	if s.OTLP != "" && s.History == 0 {
		return s, errors.New("--otlp makes traces of the history: leave --history off out")
	}
	if s.Ephemeral && given["data"] {
		if given["ephemeral"] {
			return s, errors.New("--ephemeral and --data cannot be combined: leave one out")
		}
		s.Ephemeral = false // a flag wins over the environment
	}
	return s, nil
}
