package server

import (
	"runtime/debug"
	"testing"
)

// setLinked sets what the linker sets in a release.
func setLinked(t *testing.T, v, c, d string) {
	t.Helper()
	oldVersion, oldRevision, oldTime := version, revision, revisionTime
	t.Cleanup(func() { version, revision, revisionTime = oldVersion, oldRevision, oldTime })
	version, revision, revisionTime = v, c, d
}

func TestVersionComesFromTheLinkerOrTheGoCommand(t *testing.T) {
	settings := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: modified},
		}
	}
	for name, tt := range map[string]struct {
		linked [3]string
		info   debug.BuildInfo
		want   [3]string
	}{
		"nothing is known":        {want: [3]string{"devel", "unknown", "unknown"}},
		"a build without version": {info: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, want: [3]string{"devel", "unknown", "unknown"}},
		"a checkout": {info: debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: settings("false")},
			want: [3]string{"1.2.3", "0123abcd", "2026-01-02T03:04:05Z"}},
		"a changed checkout": {info: debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.2026+dirty"}, Settings: settings("true")},
			want: [3]string{"1.2.4-0.2026+dirty", "0123abcd+dirty", "2026-01-02T03:04:05Z"}},
		"an installed module": {info: debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, want: [3]string{"1.2.3", "unknown", "unknown"}},
		"a release": {linked: [3]string{"2.0.0", "ffff", "2026-05-06T07:08:09Z"}, info: debug.BuildInfo{Settings: settings("true")},
			want: [3]string{"2.0.0", "ffff", "2026-05-06T07:08:09Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			setLinked(t, tt.linked[0], tt.linked[1], tt.linked[2])
			b := describe(&tt.info)
			if got := [3]string{b.Version, b.Commit, b.Date}; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
