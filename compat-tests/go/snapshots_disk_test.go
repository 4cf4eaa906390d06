package compat

import (
	"fmt"
	"os"
	"testing"

	"minibus/compat-tests/harness"
)

// TestDisk_SnapshotsWithoutAPause replaces and restores a snapshot of 40 MiB without a pause, by several clients. The
// database has the messages, the snapshot, and the copies that are being made or removed.
func TestDisk_SnapshotsWithoutAPause(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	const messages, clients, each, most = 40, 4, 8, 300 * mebibyte
	const snapshots = "/$minibus/v1/namespaces/$default/snapshots"
	jsonHeader := map[string]string{"Content-Type": "application/json"}
	b := startStored(t, harness.WriteConfig(t, harness.Queue{Name: queueName, MaxMessageSizeInKilobytes: 4096}))
	b.sendAtOnce(messages, func() error { return b.sender.SendMessage(b.ctx, blob(mebibyte), nil) })
	b.wantHTTP(201, "POST", snapshots, `{"name":"s"}`, jsonHeader)
	failures := make(chan string, clients*each)
	for i := range clients {
		go func() {
			for range each {
				path, body := snapshots, `{"name":"s","replace":true}`
				if i == 0 {
					path, body = snapshots+"/s/restore", ""
				}
				failure := ""
				if a := b.http("POST", path, body, jsonHeader); a.status/100 != 2 {
					failure = fmt.Sprintf("%s: %d, %s", path, a.status, a.body)
				}
				failures <- failure
			}
		}()
	}
	for range clients * each {
		if failure := <-failures; failure != "" {
			t.Error(failure)
		}
	}
	size := int64(0)
	for _, name := range []string{"", "-wal"} {
		if info, err := os.Stat(b.server.Options().Data + name); err == nil {
			size += info.Size()
		}
	}
	t.Logf("%d MiB on the disk", size/mebibyte)
	if size > most {
		t.Errorf("the database has %d MiB on the disk, want at most %d", size/mebibyte, most/mebibyte)
	}
}
