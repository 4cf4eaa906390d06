package dropin

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/azure/servicebus"
	"github.com/testcontainers/testcontainers-go/wait"
)

const ready = "Emulator Service is Successfully Up!"

const config = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders"}]}], "Logging": {"Type": "File"}}}`

// start uses the module. It insists on a second container; any will do.
func start(ctx context.Context) (*servicebus.Container, error) {
	return servicebus.Run(ctx, "minibus",
		servicebus.WithAcceptEULA(),
		servicebus.WithMSSQL("minibus", testcontainers.WithWaitStrategy(wait.ForLog(ready))),
		servicebus.WithConfig(strings.NewReader(config)))
}

// startWithSQL changes nothing but the name of the image.
func startWithSQL(ctx context.Context) (*servicebus.Container, error) {
	return servicebus.Run(ctx, "minibus", servicebus.WithAcceptEULA())
}

// startAlone does without the module. It returns the connection string too.
func startAlone(ctx context.Context, options ...testcontainers.ContainerCustomizer) (testcontainers.Container, string, error) {
	options = append(options,
		testcontainers.WithExposedPorts("5672/tcp"),
		testcontainers.WithWaitStrategy(wait.ForLog(ready)))
	bus, err := testcontainers.Run(ctx, "minibus", options...)
	if err != nil {
		return bus, "", err
	}
	endpoint, err := bus.PortEndpoint(ctx, "5672/tcp", "sb")
	return bus, "Endpoint=" + endpoint +
		";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true", err
}

func TestModuleWithoutSQL(t *testing.T) {
	bus, err := start(t.Context())
	testcontainers.CleanupContainer(t, bus)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := bus.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, connection, "orders")
	administer(t, connection)
	file, err := bus.CopyFileFromContainer(t.Context(), "/ServiceBus_Emulator/ConfigFiles/Config.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if text, err := io.ReadAll(file); err != nil || string(text) != config {
		t.Errorf("the configuration reads back as %q, %v", text, err)
	}
}

func TestModuleWithSQL(t *testing.T) {
	bus, err := startWithSQL(t.Context())
	testcontainers.CleanupContainer(t, bus)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := bus.ConnectionString(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, connection, "queue.1")
}

func TestContainer(t *testing.T) {
	bus, connection, err := startAlone(t.Context())
	testcontainers.CleanupContainer(t, bus)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, connection, "queue.1")
}

func connect(t *testing.T, connection string) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(connection, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

func roundTrip(t *testing.T, connection, queue string) {
	t.Helper()
	exchange(t, connect(t, connection), queue, []byte("one parcel"))
}

// exchange sends a message, receives it and completes it.
func exchange(t *testing.T, client *azservicebus.Client, queue string, body []byte) {
	t.Helper()
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close(context.Background())
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: body}, nil); err != nil {
		t.Fatal(err)
	}
	receiver, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close(context.Background())
	messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(messages[0].Body) != string(body) {
		t.Errorf("received %d bytes, want the %d that were sent", len(messages[0].Body), len(body))
	}
	if err := receiver.CompleteMessage(t.Context(), messages[0], nil); err != nil {
		t.Fatal(err)
	}
}

// plain makes the administration client, which insists on https, speak http.
type plain struct{}

func (plain) Do(r *http.Request) (*http.Response, error) {
	r.URL.Scheme = "http"
	return http.DefaultClient.Do(r)
}

// administer makes a queue, uses it and deletes it, with the connection string of the messages.
func administer(t *testing.T, connection string) {
	t.Helper()
	client, err := admin.NewClientFromConnectionString(connection, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: plain{}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateQueue(t.Context(), "made", nil); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, connection, "made")
	if _, err := client.DeleteQueue(t.Context(), "made", nil); err != nil {
		t.Fatal(err)
	}
	if found, err := client.GetQueue(t.Context(), "made", nil); err != nil || found != nil {
		t.Errorf("the deleted queue: %v, %v", found, err)
	}
}
