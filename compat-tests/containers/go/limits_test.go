package dropin

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/testcontainers/testcontainers-go"
)

const (
	entities    = 510
	connections = 120
)

type queue struct {
	Name       string
	Properties map[string]any
}

// beyond is a Config.json with more than Microsoft's emulator takes: entities, deliveries, time to live, size, characters in a name.
func beyond(t *testing.T) string {
	t.Helper()
	queues := []queue{{Name: "large", Properties: map[string]any{"MaxMessageSizeInKilobytes": 4096}},
		{Name: "MassTransit~Fault", Properties: map[string]any{"DefaultMessageTimeToLive": "P14D", "MaxDeliveryCount": 1<<31 - 1}}}
	for i := len(queues); i < entities; i++ {
		queues = append(queues, queue{Name: fmt.Sprintf("queue-%03d", i)})
	}
	text, err := json.Marshal(map[string]any{"UserConfig": map[string]any{
		"Namespaces": []any{map[string]any{"Name": "sbemulatorns", "Queues": queues}}, "Logging": map[string]any{"Type": "Console"}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBeyondTheEmulatorsLimits has more of everything than Microsoft's emulator takes.
func TestBeyondTheEmulatorsLimits(t *testing.T) {
	bus, connection, err := startAlone(t.Context(), testcontainers.WithFiles(testcontainers.ContainerFile{
		Reader: strings.NewReader(beyond(t)), ContainerFilePath: "/ServiceBus_Emulator/ConfigFiles/Config.json", FileMode: 0o600}))
	testcontainers.CleanupContainer(t, bus)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("values", func(t *testing.T) { lookAtValues(t, connection) })
	t.Run("2 MB", func(t *testing.T) { exchange(t, connect(t, connection), "large", []byte(strings.Repeat("x", 2<<20))) })
	t.Run("connections", func(t *testing.T) { connectOften(t, connection) })
}

func lookAtValues(t *testing.T, connection string) {
	client, err := admin.NewClientFromConnectionString(connection, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: plain{}}})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for pager := client.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		count += len(page.Queues)
	}
	if count != entities {
		t.Errorf("%d queues, want %d", count, entities)
	}
	found, err := client.GetQueue(t.Context(), "MassTransit~Fault", nil)
	if err != nil || found == nil {
		t.Fatal("the queue with a tilde in its name: ", found, err)
	}
	if *found.DefaultMessageTimeToLive != "P14D" || *found.MaxDeliveryCount != 1<<31-1 {
		t.Errorf("the queue has %s and %d", *found.DefaultMessageTimeToLive, *found.MaxDeliveryCount)
	}
}

// connectOften has many clients at once. Each keeps its connection until all have received.
func connectOften(t *testing.T, connection string) {
	var all sync.WaitGroup
	for i := range connections {
		client := connect(t, connection)
		all.Go(func() { exchange(t, client, fmt.Sprintf("queue-%03d", 2+i), []byte("one of many")) })
	}
	all.Wait()
}
