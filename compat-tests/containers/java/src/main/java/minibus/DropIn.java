package minibus;

import com.azure.core.http.HttpPipelineCallContext;
import com.azure.core.http.HttpPipelineNextPolicy;
import com.azure.core.http.HttpResponse;
import com.azure.core.util.UrlBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import minibus.testcontainers.MinibusContainer;
import org.testcontainers.azure.ServiceBusEmulatorContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;
import reactor.core.publisher.Mono;

/** Testcontainers' ServiceBusEmulatorContainer with the image of Minibus, the kit's container, and Azure's client on both. */
public final class DropIn {
    private static final String CONFIG = """
        {"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders"}]}], "Logging": {"Type": "File"}}}
        """;

    public static void main(String[] args) {
        try (var bus = container().withConfig(Transferable.of(CONFIG))) {
            bus.start();
            roundTrip(bus.getConnectionString(), "orders");
            administration(bus.getConnectionString(), bus.getFirstMappedPort());
        }
        try (var bus = new MinibusContainer("minibus").withConfig(Transferable.of(CONFIG))) {
            bus.start();
            roundTrip(bus.getConnectionString(), "orders");
            namespace(bus.server());
        }
        namespace(MinibusServer.shared()); // there is no program here, so it is a container, which MINIBUS_IMAGE names
        System.out.println("java: ok");
        System.exit(0); // the SDK's threads would keep the JVM for a while
    }

    static ServiceBusEmulatorContainer container() {
        var image = DockerImageName.parse("minibus")
            .asCompatibleSubstituteFor("mcr.microsoft.com/azure-messaging/servicebus-emulator");
        return new ServiceBusEmulatorContainer(image) {
            @Override
            protected void configure() {
                // The original demands a SQL Server here.
            }
        };
    }

    /** The port of a namespace has another number outside of the container. */
    private static void namespace(MinibusServer server) {
        server.put(e -> e.queues("orders"));
        roundTrip(server.connectionString(), "orders");
        try (var namespace = server.namespace(o -> o.queues("parcels"))) {
            roundTrip(namespace.connectionString(), "parcels");
            check(namespace.events(e -> e.kinds("completed")).size() == 1, "the namespace has another history");
        }
    }

    private static void roundTrip(String connectionString, String queue) {
        var builder = new ServiceBusClientBuilder().connectionString(connectionString);
        try (var sender = builder.sender().queueName(queue).buildClient();
            var receiver = builder.receiver().queueName(queue).buildClient()) {
            sender.sendMessage(new ServiceBusMessage("one parcel"));
            var message = receiver.receiveMessages(1).iterator().next();
            check("one parcel".equals(message.getBody().toString()), "received " + message.getBody());
            receiver.complete(message);
        }
    }

    /** The administration client goes to https and port 443; the policy takes it to the only port that the module publishes. */
    private static void administration(String connectionString, int port) {
        var admin = new ServiceBusAdministrationClientBuilder().connectionString(connectionString)
            .addPolicy((call, next) -> plain(call, next, port)).buildClient();
        admin.createQueue("made");
        roundTrip(connectionString, "made");
        check(admin.getQueueExists("made"), "the queue that was made is missing");
        admin.deleteQueue("made");
        check(!admin.getQueueExists("made"), "the queue that was deleted exists");
    }

    private static Mono<HttpResponse> plain(HttpPipelineCallContext call, HttpPipelineNextPolicy next, int port) {
        var request = call.getHttpRequest();
        request.setUrl(UrlBuilder.parse(request.getUrl()).setScheme("http").setPort(port).toString());
        return next.process();
    }

    private static void check(boolean ok, String message) {
        if (!ok) {
            throw new IllegalStateException(message);
        }
    }
}
