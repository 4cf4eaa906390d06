package server

import (
	"strings"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/hostname"
)

// managed reports whether there is a Resource Manager. It makes namespaces, so without a control API there is none
// either.
func (a *Server) managed() bool {
	return a.config.Settings.ARM != "off" && a.config.Settings.Control != "off"
}

// Address implements [arm.Server], as --arm-connection-strings says.
func (a *Server) Address(ns *emulator.Namespace, host string) (address string, plain bool) {
	name := strings.ToLower(ns.Name())
	switch domain := a.config.Settings.ARMStrings; domain {
	case "", config.ARMLocal:
		return a.Endpoint(ns, host), true
	case config.ARMCloud:
		return name + hostname.Cloud, false
	default:
		return name + "." + domain, false
	}
}

// suffixes returns the domains under which a host is called as its namespace: those of the settings, and the one that
// connection strings of Resource Manager have.
func (a *Server) suffixes() []string {
	all := a.config.Settings.NamespaceSuffixes.Names()
	switch domain := a.config.Settings.ARMStrings; domain {
	case "", config.ARMLocal, config.ARMCloud:
		return all
	default:
		host, _, _ := strings.Cut(domain, ":")
		return append(all, host)
	}
}
