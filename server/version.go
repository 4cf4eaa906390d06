package server

import "runtime/debug"

// version is set by the linker: -ldflags "-X minibus/server.version=1.2.3".
var version string

// Version returns the version of this build, "devel" if the linker set none.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
