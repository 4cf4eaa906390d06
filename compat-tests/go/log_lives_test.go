package compat

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// TestLogOnDiskIsBoundedOverKills: five lives of 30 MiB each, all ended by kill -9 before the log is at its ceiling. The logs must not
// add up.
func TestLogOnDiskIsBoundedOverKills(t *testing.T) {
	harness.NeedAll(t, "to kill the server five times under load")
	t.Parallel()
	o := harness.Options{
		Config: harness.WriteConfig(t, harness.Queue{Name: queueName}),
		Data:   filepath.Join(t.TempDir(), "minibus.db"),
	}
	const messages, size = 150, 200 << 10
	for life := range 5 {
		server := harness.Start(t, o)
		client, err := connectTo(server)
		if err != nil {
			t.Fatal(err)
		}
		sender, err := client.NewSender(queueName, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range messages {
			if err := sender.SendMessage(context.Background(), &azservicebus.Message{Body: make([]byte, size)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		server.Kill(t)
		closeClient(client)
		info, err := os.Stat(o.Data + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Size() >> 20; got > 80 {
			t.Fatalf("the log has %d MiB after life %d", got, life+1)
		}
	}
}
