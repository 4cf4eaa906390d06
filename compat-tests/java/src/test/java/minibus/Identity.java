package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.credential.TokenCredential;
import com.azure.core.exception.ClientAuthenticationException;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.util.IterableStream;
import com.azure.identity.AzureCliCredentialBuilder;
import com.azure.identity.AzureDeveloperCliCredentialBuilder;
import com.azure.identity.ClientSecretCredentialBuilder;
import com.azure.identity.DefaultAzureCredentialBuilder;
import com.azure.identity.WorkloadIdentityCredentialBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClient;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Signs in with DefaultAzureCredential and nothing but the environment. TestJavaIdentity runs it. */
class Identity {
    private static final List<String> HOSTS = List.of(System.getenv("IDENTITY_TEST_HOSTS").split(","));

    private static TokenCredential identity(String name) {
        return new DefaultAzureCredentialBuilder().managedIdentityClientId(System.getenv("IDENTITY_TEST_" + name)).build();
    }

    private static ServiceBusClientBuilder clients(String host, TokenCredential credential) {
        return new ServiceBusClientBuilder().fullyQualifiedNamespace(host).credential(credential);
    }

    @Test
    void sendsReceivesAndCompletes() {
        for (String host : HOSTS) {
            exchange(host, new DefaultAzureCredentialBuilder().build());
        }
        // A developer who has signed in with az or azd, for which scripts stand.
        exchange(HOSTS.get(0), new AzureCliCredentialBuilder().build());
        exchange(HOSTS.get(0), new AzureDeveloperCliCredentialBuilder().build());
        // As AD FS does it: for that tenant no SDK asks a Microsoft host.
        final String authority = "https://" + HOSTS.get(0) + ":5671";
        exchange(HOSTS.get(0), new ClientSecretCredentialBuilder().authorityHost(authority).tenantId("adfs")
            .clientId(System.getenv("AZURE_CLIENT_ID")).clientSecret(System.getenv("IDENTITY_HEADER")).build());
        exchange(HOSTS.get(0), new WorkloadIdentityCredentialBuilder().authorityHost(authority).tenantId("adfs")
            .clientId(System.getenv("AZURE_CLIENT_ID")).tokenFilePath(System.getenv("IDENTITY_TEST_ASSERTION")).build());
    }

    private static void exchange(String host, TokenCredential credential) {
        try (var sender = clients(host, credential).sender().queueName("orders").buildClient();
                var receiver = clients(host, credential).receiver().queueName("orders").disableAutoComplete().buildClient()) {
            sender.sendMessage(new ServiceBusMessage("for " + host));
            final IterableStream<ServiceBusReceivedMessage> got = receiver.receiveMessages(1, Duration.ofSeconds(30));
            final ServiceBusReceivedMessage message = got.iterator().next();
            assertEquals("for " + host, message.getBody().toString());
            receiver.complete(message);
        }
    }

    @Test
    void administers() {
        for (String host : HOSTS) {
            final ServiceBusAdministrationClient client = new ServiceBusAdministrationClientBuilder()
                .credential(host, new DefaultAzureCredentialBuilder().build()).buildClient();
            client.createQueue("made");
            assertEquals("made", client.getQueue("made").getName());
            client.deleteQueue("made");
        }
    }

    @Test
    void needsARole() {
        for (String host : HOSTS) {
            send(host, "SENDER", "orders");
            refused("'Send'", () -> send(host, "NOBODY", "orders"));
            refused("'Listen'", () -> receive(host, "NOBODY"));
            refused("'Listen' claim(s)", () -> receive(host, "SENDER"));
            refused("'Send'", () -> send(host, "SENDER", "orders2"));
            final ServiceBusAdministrationClient client = new ServiceBusAdministrationClientBuilder()
                .credential(host, identity("SENDER")).buildClient();
            final var e = assertThrows(HttpResponseException.class, () -> client.getQueue("orders"));
            assertTrue(e instanceof ClientAuthenticationException || e.getResponse().getStatusCode() == 401, e.toString());
        }
    }

    @Test
    void onlyReceives() {
        for (String host : HOSTS) {
            try (var sender = clients(host, new DefaultAzureCredentialBuilder().build()).sender().queueName("received").buildClient();
                    var receiver = clients(host, identity("RECEIVER")).receiver().queueName("received").disableAutoComplete().buildClient()) {
                sender.sendMessage(new ServiceBusMessage("for a receiver"));
                assertEquals("for a receiver", receiver.peekMessage().getBody().toString());
                final ServiceBusReceivedMessage message = receiver.receiveMessages(1, Duration.ofSeconds(30)).iterator().next();
                assertEquals("for a receiver", message.getBody().toString());
                receiver.complete(message);
            }
            refused("'Send'", () -> send(host, "RECEIVER", "received"));
        }
    }

    private static void send(String host, String name, String queue) {
        try (var sender = clients(host, identity(name)).sender().queueName(queue).buildClient()) {
            sender.cancelScheduledMessage(sender.scheduleMessage(new ServiceBusMessage("x"), OffsetDateTime.now().plusDays(1)));
        }
    }

    private static void receive(String host, String name) {
        try (var receiver = clients(host, identity(name)).receiver().queueName("orders").buildClient()) {
            receiver.receiveMessages(1, Duration.ofSeconds(5)).stream().count();
        }
    }

    private static void refused(String what, Runnable operation) {
        final long begin = System.nanoTime();
        final Exception e = assertThrows(Exception.class, operation::run);
        final StringBuilder text = new StringBuilder();
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            text.append(cause).append('\n');
        }
        assertTrue(text.indexOf(what) >= 0 && text.indexOf("required to perform this operation") >= 0, text.toString());
        assertTrue(System.nanoTime() - begin < Duration.ofSeconds(15).toNanos(), "it has waited");
    }
}
