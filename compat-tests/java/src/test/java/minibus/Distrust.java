package minibus;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Run only when it is named, with the trust store of another authority than the server's. */
class Distrust {
    private static void refused(Throwable e) {
        final StringBuilder all = new StringBuilder();
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            all.append(cause).append('\n');
        }
        assertTrue(all.toString().matches("(?s).*(SSL|PKIX|certificat).*"), all.toString());
    }

    /** The SDK tries until its time is over and then says no more than that. */
    @Test
    @Proves("conn.untrusted")
    void the_data_plane() {
        final var clients = new ServiceBusClientBuilder().connectionString(Bus.SECURE).retryOptions(new AmqpRetryOptions().setMaxRetries(0)
            .setTryTimeout(Duration.ofSeconds(5)));
        try (var sender = clients.sender().queueName("r.1").buildClient()) {
            assertThrows(ServiceBusException.class, () -> sender.sendMessage(new ServiceBusMessage("m")));
        }
    }

    /** The administration client goes to port 443, which some Minibus with another authority must have. */
    @Test
    @Proves("admin.trust")
    void the_administration() {
        final var client = new ServiceBusAdministrationClientBuilder().connectionString(Bus.SECURE)
            .retryOptions(new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)))).buildClient();
        refused(assertThrows(RuntimeException.class, client::getNamespaceProperties));
    }
}
