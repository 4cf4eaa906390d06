package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.amqp.AmqpTransportType;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import java.time.OffsetDateTime;
import org.junit.jupiter.api.Test;

/** The same over every way to the broker that the SDK has, each as docs/connect.md writes it. */
class TransportsTest extends Case {
    private void worksOver(ServiceBusClientBuilder builder) {
        final String queue = queue();
        final String body = "x".repeat(100_000);
        final var sender = closing(builder.sender().queueName(queue).buildClient());
        sender.sendMessage(new ServiceBusMessage(body));
        sender.cancelScheduledMessage(sender.scheduleMessage(new ServiceBusMessage("m"), OffsetDateTime.now().plusHours(1)));
        final var receiver = closing(builder.receiver().queueName(queue).disableAutoComplete().buildClient());
        final var m = receiveOne(receiver);
        assertEquals(body, m.getBody().toString());
        receiver.complete(m);
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves("conn.amqp")
    void amqp() {
        worksOver(new ServiceBusClientBuilder().connectionString(Bus.PLAIN));
    }

    @Test
    @Proves("conn.amqps")
    void amqp_over_tls() {
        worksOver(new ServiceBusClientBuilder().connectionString(Bus.SECURE));
    }

    @Test
    @Proves("conn.wss")
    void web_sockets_over_tls() {
        worksOver(new ServiceBusClientBuilder().connectionString("Endpoint=sb://localhost;" + Bus.KEY)
            .transportType(AmqpTransportType.AMQP_WEB_SOCKETS));
    }

    @Test
    void web_sockets_over_tls_on_another_port() {
        worksOver(new ServiceBusClientBuilder().connectionString(Bus.SECURE).transportType(AmqpTransportType.AMQP_WEB_SOCKETS));
    }

    @Test
    @Proves("conn.ws")
    void web_sockets() {
        worksOver(new ServiceBusClientBuilder().connectionString(Bus.PLAIN).transportType(AmqpTransportType.AMQP_WEB_SOCKETS));
    }

    @Test
    @Proves({"conn.endpoint", "send.large"})
    void another_address_than_the_namespace() {
        worksOver(new ServiceBusClientBuilder().connectionString("Endpoint=sb://" + Bus.NAMESPACE + ".servicebus.windows.net;" + Bus.KEY)
            .customEndpointAddress("https://localhost:" + Bus.TLS));
    }
}
