package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"minibus/config"
	"minibus/internal/hostname"
)

// hosts is the command hosts: it prints the lines with which the hosts of namespaces lead to Minibus, or puts them into a hosts file, or
// takes them out of it. It is for clients that know no other names than the service's.
func hosts(c *config.Command, stdout io.Writer) error {
	s := c.Settings
	if err := hostsFlags(s); err != nil {
		return err
	}
	var names []string
	if len(c.Hosts) > 0 || s.Config != "" || !s.HostsRemove {
		var err error
		if names, err = hostsOf(c); err != nil {
			return err
		}
	}
	var text string
	switch {
	case s.HostsCompose:
		text = composeAliases(names)
	case !s.HostsWrite && !s.HostsRemove:
		text = newHostsBlock(names, config.ClientAddress(s.Host)).String()
	default:
		var err error
		if text, err = changeHosts(s, names); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(stdout, text); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// hostsFlags refuses flags that exclude each other.
func hostsFlags(s config.Settings) error {
	switch {
	case s.HostsWrite && s.HostsRemove:
		return errors.New("--write and --remove cannot be combined: leave one out")
	case s.HostsCompose && (s.HostsWrite || s.HostsRemove):
		return errors.New("--compose prints lines for a compose file and changes no hosts file: leave out --write and --remove")
	case s.HostsFile != "" && !s.HostsWrite && !s.HostsRemove:
		return errors.New("--file names the file to change: say --write or --remove too")
	}
	return nil
}

// hostsOf returns the hosts of the namespaces that the command line names, or else of those that a Minibus with the same settings would have.
func hostsOf(c *config.Command) (names []string, err error) {
	for _, word := range c.Hosts {
		host := strings.ToLower(word)
		if !validHost(host) {
			return nil, fmt.Errorf("%q is neither the name of a namespace nor a host: these have letters, digits and '-', with dots between", word)
		}
		if !strings.Contains(host, ".") {
			host += hostname.Cloud
		}
		names = append(names, host)
	}
	if len(names) == 0 || c.Settings.Config != "" {
		configured, err := configuredHosts(c.Settings)
		if err != nil {
			return nil, err
		}
		names = append(names, configured...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// configuredHosts returns the hosts of the namespaces of a Config.json, with their aliases.
func configuredHosts(s config.Settings) (names []string, err error) {
	t := config.DefaultTopology()
	if path, ok := config.Find(s.Config); ok {
		loaded, report, err := config.Load(path, s.Limits)
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			return nil, err
		}
		t = loaded
	}
	for _, space := range append([]*config.Topology{t}, t.Others...) {
		names = append(names, strings.ToLower(space.Namespace)+hostname.Cloud)
		for _, alias := range space.Aliases {
			names = append(names, strings.ToLower(alias))
		}
	}
	return names, nil
}

// validHost reports whether a hosts file may have the name: nothing that ends a line or begins a comment.
func validHost(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		strange := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
		if label == "" || len(label) > 63 || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, strange) {
			return false
		}
	}
	return true
}

// composeAliases returns a compose file that gives a service the names, for the containers of its network.
func composeAliases(names []string) string {
	var b strings.Builder
	b.WriteString("# for the service \"servicebus\": docker compose -f compose.yaml -f THIS-FILE up\nservices:\n  servicebus:\n    networks:\n      default:\n        aliases:\n")
	for _, host := range names {
		fmt.Fprintf(&b, "          - %s\n", host)
	}
	return b.String()
}

// hostsPath returns the hosts file of the system.
func hostsPath() string {
	if runtime.GOOS != "windows" {
		return "/etc/hosts"
	}
	root := os.Getenv("SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	return filepath.Join(root, "System32", "drivers", "etc", "hosts")
}

// changeHosts puts names into the hosts file or takes them out of it, all without any, and says what it did.
func changeHosts(s config.Settings, names []string) (done string, err error) {
	path := s.HostsFile
	if path == "" {
		path = hostsPath()
	}
	file, err := readHosts(path)
	if err != nil {
		return "", err
	}
	if s.HostsWrite {
		err = file.add(names, config.ClientAddress(s.Host))
	} else {
		file.remove(names)
	}
	if err != nil {
		return "", fmt.Errorf("change %s: %w", path, err)
	}
	changed, err := file.save(s)
	switch {
	case err != nil:
		return "", err
	case !changed:
		return path + ": nothing to change\n", nil
	case len(file.block) == 0:
		return path + ": no host leads to Minibus any more\n", nil
	}
	done = path + " now has\n\n"
	for _, e := range file.block {
		done += "  " + e.String() + "\n"
	}
	return done, nil
}
