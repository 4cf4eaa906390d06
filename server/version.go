package server

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Releases and the image set these by the linker: -ldflags "-X minibus/server.version=1.2.3". The time is the
// commit's, in RFC 3339, so that the same commit gives the same binary.
var version, revision, revisionTime string

// Build describes the build of this program. A field is "unknown" if neither the linker nor the go command recorded it.
type Build struct {
	Version  string `json:"version"` // without a leading v; "devel" for a build without a version
	Commit   string `json:"commit"`  // the full hash; with "+dirty" if the files differed from it
	Date     string `json:"date"`    // of the commit, in RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"` // as in linux/amd64
}

// ThisBuild returns the description of the running binary. What the linker set wins over what the go command
// recorded of the module and its repository.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describe(info)
}

// Version returns the version of this build. The Server header, the metrics and the banner show it too.
func Version() string { return ThisBuild().Version }

func describe(info *debug.BuildInfo) Build {
	const unknown = "unknown"
	recorded := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		recorded[s.Key] = s.Value
	}
	commit := recorded["vcs.revision"]
	if commit != "" && recorded["vcs.modified"] == "true" {
		commit += "+dirty"
	}
	module := info.Main.Version
	if module == "(devel)" {
		module = ""
	}
	return Build{
		Version:  strings.TrimPrefix(cmp.Or(version, module, "devel"), "v"),
		Commit:   cmp.Or(revision, commit, unknown),
		Date:     cmp.Or(revisionTime, recorded["vcs.time"], unknown),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// String returns what minibus version prints. The first line is for programs that only look for the version.
func (b Build) String() string {
	return fmt.Sprintf("Minibus %s\ncommit:   %s\ndate:     %s\ngo:       %s\nplatform: %s\n", b.Version, b.Commit,
		b.Date, b.Go, b.Platform)
}
