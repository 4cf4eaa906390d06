package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.exception.ClientAuthenticationException;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import com.azure.messaging.servicebus.administration.models.AccessRights;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.SharedAccessAuthorizationRule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The server checks keys and rights. */
class AccessTest extends Case {
    private static String as(String name, String key) {
        return "Endpoint=sb://localhost:" + Bus.TLS + ";SharedAccessKeyName=" + name + ";SharedAccessKey=" + key;
    }

    /** The emulator's flag changes nothing for the administration client. */
    @Test
    void the_emulators_connection_string() {
        final var client = new ServiceBusAdministrationClientBuilder().connectionString(Bus.PLAIN).buildClient();
        assertEquals(Bus.NAMESPACE, client.getNamespaceProperties().getName());
    }

    @Test
    @Proves({"auth.wrongkey", "admin.wrongkey"})
    void a_wrong_key() {
        final String wrong = as("RootManageSharedAccessKey", "wrong");
        final String queue = queue();
        final var client = new ServiceBusAdministrationClientBuilder().connectionString(wrong).buildClient();
        refused(ClientAuthenticationException.class, 401, () -> client.getQueue(queue));
        final var sender = closing(new ServiceBusClientBuilder().connectionString(wrong).sender().queueName(queue).buildClient());
        refused(ServiceBusFailureReason.UNAUTHORIZED, () -> sender.sendMessage(new ServiceBusMessage("m")));
    }

    @Test
    @Proves({"auth.policy", "admin.policy"})
    void a_queues_own_rule() {
        final CreateQueueOptions options = new CreateQueueOptions();
        options.getAuthorizationRules().add(new SharedAccessAuthorizationRule("sends",
            "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", List.of(AccessRights.SEND)));
        final String queue = queue(options);
        final var limited = new ServiceBusClientBuilder().connectionString(as("sends", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="));
        closing(limited.sender().queueName(queue).buildClient()).sendMessage(new ServiceBusMessage("m"));
        final var receiver = closing(limited.receiver().queueName(queue).disableAutoComplete().buildClient());
        refused(ServiceBusFailureReason.UNAUTHORIZED, () -> receiver.peekMessage());
        assertEquals("m", receiveOne(receiver(queue)).getBody().toString());
        final var administration = new ServiceBusAdministrationClientBuilder()
            .connectionString(as("sends", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")).buildClient();
        refused(ClientAuthenticationException.class, 401, () -> administration.getQueue(queue));
    }
}
