package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.exception.HttpResponseException;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder.ServiceBusReceiverClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClient;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.function.Executable;

/** What the tests share: clients that are closed after the test, and entities of its own. */
abstract class Case {
    /** How long a receive waits for what must come, on a busy machine too; it ends earlier once it has everything. */
    static final Duration SOON = Duration.ofSeconds(60);

    /** How long a receive waits for what must not come. */
    static final Duration BRIEFLY = Duration.ofSeconds(1);

    static final ServiceBusAdministrationClient admin = Bus.administration().buildClient();

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final ServiceBusClientBuilder clients = Bus.clients();

    @AfterEach
    void closeClients() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /** Closes it after the test. */
    <T extends AutoCloseable> T closing(T client) {
        open.push(client);
        return client;
    }

    /** The builder of this test; clients of one builder share a connection. */
    ServiceBusClientBuilder clients() {
        return clients;
    }

    /** Makes a queue. */
    String queue() {
        return queue(new CreateQueueOptions());
    }

    String queue(CreateQueueOptions options) {
        return admin.createQueue(Bus.name("queue"), options).getName();
    }

    ServiceBusSenderClient sender(String queue) {
        return closing(clients.sender().queueName(queue).buildClient());
    }

    ServiceBusReceiverClient receiver(String queue) {
        return closing(receiverOf(queue).buildClient());
    }

    /** A builder of receivers that renew no lock by themselves. */
    ServiceBusReceiverClientBuilder receiverOf(String queue) {
        return clients.receiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO);
    }

    /** Sends a message for each body. */
    void send(String queue, String... bodies) {
        sender(queue).sendMessages(Arrays.stream(bodies).map(ServiceBusMessage::new).toList());
    }

    /** Receives that many. */
    static List<ServiceBusReceivedMessage> receive(ServiceBusReceiverClient receiver, int count) {
        final List<ServiceBusReceivedMessage> got = new ArrayList<>();
        final long end = System.nanoTime() + SOON.toNanos();
        while (got.size() < count && System.nanoTime() < end) {
            receiver.receiveMessages(count - got.size(), SOON).forEach(got::add);
        }
        assertEquals(count, got.size(), "received");
        return got;
    }

    static ServiceBusReceivedMessage receiveOne(ServiceBusReceiverClient receiver) {
        return receive(receiver, 1).get(0);
    }

    /** Fails if a message comes. */
    static void assertEmpty(ServiceBusReceiverClient receiver) {
        assertEquals(List.of(), bodies(receiver.receiveMessages(1, BRIEFLY)));
    }

    static List<String> bodies(Iterable<ServiceBusReceivedMessage> messages) {
        final List<String> bodies = new ArrayList<>();
        messages.forEach(m -> bodies.add(m.getBody().toString()));
        return bodies;
    }

    /** Lists again if need be: what another test deletes between two pages moves the next entity to the page before. */
    static void listed(BooleanSupplier complete) {
        final long end = System.nanoTime() + SOON.toNanos();
        while (!complete.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, "the list is not complete");
        }
    }

    /** What the administration refuses, as the exception of its own that the SDK has for it. */
    static <E extends HttpResponseException> E refused(Class<E> type, int status, Executable call) {
        final E e = assertThrows(type, call);
        assertEquals(type, e.getClass());
        assertEquals(status, e.getResponse().getStatusCode());
        return e;
    }

    /** What the data plane refuses, with the SDK's reason. */
    static ServiceBusException refused(ServiceBusFailureReason reason, Executable call) {
        final ServiceBusException e = assertThrows(ServiceBusException.class, call);
        assertEquals(reason, e.getReason(), e.toString());
        return e;
    }
}
