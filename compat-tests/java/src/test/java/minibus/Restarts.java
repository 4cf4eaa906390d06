package minibus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpRetryMode;
import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.credential.AccessToken;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import reactor.core.publisher.Mono;

/**
 * The SDK over restarts of Minibus, run only when it is named, since it restarts the server. MINIBUS_CONTROL is where, MINIBUS_RELAY an
 * address whose connections can be cut; the queues are r.1 to r.6 and r.sessions.
 */
@Execution(ExecutionMode.SAME_THREAD)
class Restarts {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String CONNECTION = System.getenv("MINIBUS_CONNECTION_STRING");

    private final ServiceBusClientBuilder clients = builder(CONNECTION);

    private static ServiceBusClientBuilder builder(String connection) {
        return new ServiceBusClientBuilder().connectionString(connection).retryOptions(new AmqpRetryOptions().setMaxRetries(40)
            .setMode(AmqpRetryMode.FIXED).setDelay(Duration.ofMillis(250)).setTryTimeout(Duration.ofSeconds(10)));
    }

    private static void control(String what) throws IOException, InterruptedException {
        final var request = HttpRequest.newBuilder(URI.create(System.getenv("MINIBUS_CONTROL") + "/" + what)).build();
        assertEquals(200, HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
    }

    private static ServiceBusReceiverClient receiver(ServiceBusClientBuilder clients, String queue) {
        return clients.receiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient();
    }

    /** A receive that a restart ends may end with what it has. */
    private static List<ServiceBusReceivedMessage> receive(ServiceBusReceiverClient receiver, int count) {
        final List<ServiceBusReceivedMessage> got = new ArrayList<>();
        final long end = System.nanoTime() + PATIENCE.toNanos();
        while (got.size() < count && System.nanoTime() < end) {
            receiver.receiveMessages(count - got.size(), PATIENCE).forEach(got::add);
        }
        assertEquals(count, got.size(), "received");
        return got;
    }

    private static List<String> bodies(List<ServiceBusReceivedMessage> messages) {
        return messages.stream().map(m -> m.getBody().toString()).toList();
    }

    @Test
    @Proves({"restart.send", "restart.receive", "restart.kill"})
    void sender_and_receiver_go_on() throws Exception {
        try (ServiceBusSenderClient sender = clients.sender().queueName("r.1").buildClient(); var receiver = receiver(clients, "r.1")) {
            for (String how : List.of("restart", "kill")) {
                sender.sendMessage(new ServiceBusMessage("before"));
                receiver.complete(receive(receiver, 1).get(0));
                sender.sendMessage(new ServiceBusMessage("kept"));
                control(how);
                sender.sendMessage(new ServiceBusMessage("after"));
                final var got = receive(receiver, 2);
                assertEquals(List.of("kept", "after"), bodies(got));
                got.forEach(receiver::complete);
            }
        }
    }

    @Test
    @Proves({"restart.lock", "restart.deferred"})
    void locks_end_and_numbers_stay() throws Exception {
        try (ServiceBusSenderClient sender = clients.sender().queueName("r.2").buildClient(); var receiver = receiver(clients, "r.2")) {
            sender.sendMessages(List.of(new ServiceBusMessage("locked"), new ServiceBusMessage("deferred")));
            final var got = receive(receiver, 2);
            receiver.defer(got.get(1));
            final long number = sender.scheduleMessage(new ServiceBusMessage("later"), OffsetDateTime.now().plusHours(1));
            control("restart");
            final ServiceBusReceivedMessage again = receive(receiver, 1).get(0);
            assertEquals(List.of("locked", 0L), List.of(again.getBody().toString(), again.getDeliveryCount()));
            assertThrows(RuntimeException.class, () -> receiver.complete(got.get(0)));
            assertEquals("deferred", receiver.receiveDeferredMessage(2).getBody().toString());
            sender.cancelScheduledMessage(number);
        }
    }

    @Test
    @Proves("restart.session")
    void a_session_is_accepted_again() throws Exception {
        final byte[] state = "half way".getBytes(StandardCharsets.UTF_8);
        try (ServiceBusSenderClient sender = clients.sender().queueName("r.sessions").buildClient()) {
            sender.sendMessage(new ServiceBusMessage("m").setSessionId("a"));
        }
        try (ServiceBusSessionReceiverClient sessions = clients.sessionReceiver().queueName("r.sessions").disableAutoComplete()
                .maxAutoLockRenewDuration(Duration.ZERO).buildClient()) {
            final ServiceBusReceiverClient first = sessions.acceptSession("a");
            first.setSessionState(state);
            receive(first, 1);
            control("restart");
            first.close();
            try (ServiceBusReceiverClient second = sessions.acceptSession("a")) {
                assertArrayEquals(state, second.getSessionState());
                assertEquals(List.of("m"), bodies(receive(second, 1)));
            }
        }
    }

    @Test
    @Proves("proc.restart")
    void a_processor_goes_on() throws Exception {
        final List<String> seen = new CopyOnWriteArrayList<>();
        try (ServiceBusSenderClient sender = clients.sender().queueName("r.3").buildClient();
             var processor = clients.processor().queueName("r.3").processMessage(m -> seen.add(m.getMessage().getBody().toString()))
                 .processError(e -> { }).buildProcessorClient()) {
            processor.start();
            for (String body : List.of("1", "2", "3")) {
                sender.sendMessage(new ServiceBusMessage(body));
                final long end = System.nanoTime() + PATIENCE.multipliedBy(3).toNanos(); // it may notice late
                while (!seen.contains(body)) {
                    assertTrue(System.nanoTime() < end, "message " + body);
                    Thread.sleep(20);
                }
                if (!body.equals("3")) {
                    control(body.equals("1") ? "restart" : "kill");
                }
            }
        }
    }

    @Test
    @Proves("err.transient")
    void a_send_waits_for_the_server() throws Exception {
        try (ServiceBusSenderClient sender = clients.sender().queueName("r.4").buildClient(); var receiver = receiver(clients, "r.4")) {
            sender.sendMessage(new ServiceBusMessage("before"));
            control("stop");
            final Thread back = new Thread(() -> {
                try {
                    Thread.sleep(1000);
                    control("start");
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            back.start();
            sender.sendMessage(new ServiceBusMessage("while it is away"));
            back.join();
            assertEquals(List.of("before", "while it is away"), bodies(receive(receiver, 2)));
        }
    }

    /** This server checks no tokens; that of the other tests knows no issuer of such a one. */
    @Test
    @Proves("auth.token")
    void a_token_of_entra() {
        final ServiceBusClientBuilder entra = new ServiceBusClientBuilder().credential("localhost",
            request -> Mono.just(new AccessToken("header.eyJhdWQiOiJzYiJ9.signature", OffsetDateTime.now().plusHours(1))))
            .customEndpointAddress("https://localhost:" + System.getenv("MINIBUS_PORT_TLS"));
        try (ServiceBusSenderClient sender = entra.sender().queueName("r.6").buildClient(); var receiver = receiver(entra, "r.6")) {
            sender.sendMessage(new ServiceBusMessage("m"));
            assertEquals(List.of("m"), bodies(receive(receiver, 1)));
        }
    }

    @Test
    @Proves("restart.reset")
    void a_reset_loses_nothing() throws Exception {
        final ServiceBusClientBuilder relayed = builder(CONNECTION.replace(System.getenv("MINIBUS_ADDR"), System.getenv("MINIBUS_RELAY")));
        final ServiceBusReceivedMessage held;
        try (ServiceBusSenderClient sender = relayed.sender().queueName("r.5").buildClient(); var receiver = receiver(relayed, "r.5")) {
            sender.sendMessage(new ServiceBusMessage("1"));
            held = receive(receiver, 1).get(0);
            control("cut");
            sender.sendMessage(new ServiceBusMessage("2"));
            assertEquals(List.of("2"), bodies(receive(receiver, 1)));
        }
        try (var other = receiver(clients, "r.5")) {
            other.complete(held); // by its token
        }
    }
}
