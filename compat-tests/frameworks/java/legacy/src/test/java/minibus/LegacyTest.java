package minibus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.microsoft.azure.servicebus.ClientFactory;
import com.microsoft.azure.servicebus.ExceptionPhase;
import com.microsoft.azure.servicebus.IMessage;
import com.microsoft.azure.servicebus.IMessageHandler;
import com.microsoft.azure.servicebus.Message;
import com.microsoft.azure.servicebus.MessageHandlerOptions;
import com.microsoft.azure.servicebus.QueueClient;
import com.microsoft.azure.servicebus.ReceiveMode;
import com.microsoft.azure.servicebus.SubscriptionClient;
import com.microsoft.azure.servicebus.TopicClient;
import com.microsoft.azure.servicebus.management.ManagementClient;
import com.microsoft.azure.servicebus.primitives.ConnectionStringBuilder;
import com.microsoft.azure.servicebus.primitives.MessagingEntityNotFoundException;
import com.microsoft.azure.servicebus.primitives.TransportType;
import com.microsoft.azure.servicebus.rules.SqlFilter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A program with the client of before 2020, com.microsoft.azure:azure-servicebus, which does not know the emulator's flag. */
@Timeout(60)
class LegacyTest {
    private static final String CONNECTION_STRING =
        "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE";
    private static final Duration WAIT = Duration.ofSeconds(20);

    private static ConnectionStringBuilder to(String entity) {
        return new ConnectionStringBuilder(CONNECTION_STRING, entity);
    }

    private static Message message(String body) {
        return new Message(body.getBytes(StandardCharsets.UTF_8));
    }

    private static String body(IMessage message) {
        assertNotNull(message, "nothing came");
        return new String(message.getMessageBody().getBinaryData().get(0), StandardCharsets.UTF_8);
    }

    /** Hands on what a client's pump gives it. */
    private record Heard(BlockingQueue<String> bodies) implements IMessageHandler {
        @Override
        public CompletableFuture<Void> onMessageAsync(IMessage message) {
            bodies.add(body(message));
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void notifyException(Throwable exception, ExceptionPhase phase) {
            bodies.add(phase + ": " + exception);
        }
    }

    private static void send(String entity, IMessage message) throws Exception {
        final var sender = ClientFactory.createMessageSenderFromConnectionStringBuilder(to(entity));
        sender.send(message);
        sender.close();
    }

    @Test
    void a_queue_client_sends_and_its_pump_receives() throws Exception {
        final QueueClient client = new QueueClient(to("pumped"), ReceiveMode.PEEKLOCK);
        final ExecutorService pump = Executors.newSingleThreadExecutor();
        try {
            client.sendBatch(List.of(message("tea"), message("milk")));
            final Heard heard = new Heard(new LinkedBlockingQueue<>());
            client.registerMessageHandler(heard, new MessageHandlerOptions(1, true, Duration.ofMinutes(1)), pump);
            assertEquals("tea", heard.bodies().poll(20, TimeUnit.SECONDS));
            assertEquals("milk", heard.bodies().poll(20, TimeUnit.SECONDS));
        } finally {
            client.close();
            pump.shutdown();
        }
    }

    @Test
    void messages_are_renewed_deferred_and_dead_lettered() throws Exception {
        final var sender = ClientFactory.createMessageSenderFromConnectionStringBuilder(to("parcels"));
        final var receiver = ClientFactory.createMessageReceiverFromConnectionStringBuilder(to("parcels"), ReceiveMode.PEEKLOCK);
        final var undeliverable = ClientFactory.createMessageReceiverFromConnectionStringBuilder(to("parcels/$DeadLetterQueue"), ReceiveMode.RECEIVEANDDELETE);
        final Message sent = message("to Leith");
        sent.setProperties(Map.of("shop", "Leith", "pounds", 3));
        sent.setLabel("groceries");
        sender.send(sent);
        final IMessage first = receiver.receive(WAIT);
        assertEquals("to Leith", body(first));
        assertEquals(Map.of("shop", "Leith", "pounds", 3), first.getProperties());
        assertEquals("groceries", first.getLabel());
        receiver.renewMessageLock(first);
        receiver.defer(first.getLockToken());
        final IMessage deferred = receiver.receiveDeferredMessage(first.getSequenceNumber());
        assertEquals(sent.getMessageId(), deferred.getMessageId());
        receiver.deadLetter(deferred.getLockToken(), "torn", "the label is gone");
        final IMessage dead = undeliverable.receive(WAIT);
        assertEquals(sent.getMessageId(), dead.getMessageId());
        assertEquals("torn", dead.getProperties().get("DeadLetterReason"));

        final long number = sender.scheduleMessage(message("later"), Instant.now().plusSeconds(3600));
        assertEquals(number, receiver.peek().getSequenceNumber());
        sender.cancelScheduledMessage(number);
        assertNull(receiver.peek(0));
        undeliverable.close();
        receiver.close();
        sender.close();
    }

    @Test
    void a_session_keeps_its_state_and_its_order() throws Exception {
        final var sender = ClientFactory.createMessageSenderFromConnectionStringBuilder(to("tours"));
        for (int i = 0; i < 3; i++) {
            final Message stop = message("stop " + i);
            stop.setSessionId("monday");
            sender.send(stop);
        }
        final var session = ClientFactory.acceptSessionFromConnectionStringBuilder(to("tours"), "monday", ReceiveMode.PEEKLOCK);
        session.setState(new byte[] {1, 2});
        assertArrayEquals(new byte[] {1, 2}, session.getState());
        session.renewSessionLock();
        for (int i = 0; i < 3; i++) {
            final IMessage stop = session.receive(WAIT);
            assertEquals("stop " + i, body(stop));
            session.complete(stop.getLockToken());
        }
        session.close();
        sender.close();
    }

    @Test
    void a_subscription_with_a_rule_gets_what_it_asks_for() throws Exception {
        final TopicClient topic = new TopicClient(to("orders"));
        final SubscriptionClient billing = new SubscriptionClient(to("orders/subscriptions/billing"), ReceiveMode.PEEKLOCK);
        final ExecutorService pump = Executors.newSingleThreadExecutor();
        try {
            billing.removeRule("$Default");
            billing.addRule("dear", new SqlFilter("pounds > 10"));
            for (int pounds : new int[] {5, 50}) {
                final Message order = message(pounds + " pounds");
                order.setProperties(Map.of("pounds", pounds));
                topic.send(order);
            }
            final Heard heard = new Heard(new LinkedBlockingQueue<>());
            billing.registerMessageHandler(heard, new MessageHandlerOptions(1, true, Duration.ofMinutes(1)), pump);
            assertEquals("50 pounds", heard.bodies().poll(20, TimeUnit.SECONDS));
        } finally {
            billing.close();
            topic.close();
            pump.shutdown();
        }
    }

    @Test
    void web_sockets() throws Exception {
        final ConnectionStringBuilder sockets = to("socketed");
        sockets.setTransportType(TransportType.AMQP_WEB_SOCKETS);
        final QueueClient client = new QueueClient(sockets, ReceiveMode.PEEKLOCK);
        client.send(message("over a WebSocket"));
        client.close();
        final var receiver = ClientFactory.createMessageReceiverFromConnectionStringBuilder(to("socketed"), ReceiveMode.RECEIVEANDDELETE);
        assertEquals("over a WebSocket", body(receiver.receive(WAIT)));
        receiver.close();
    }

    @Test
    void the_management_client_makes_counts_and_deletes() throws Exception {
        final ManagementClient management = new ManagementClient(new ConnectionStringBuilder(CONNECTION_STRING));
        management.createQueue("made");
        send("made", message("one"));
        assertEquals(1, management.getQueueRuntimeInfo("made").getMessageCountDetails().getActiveMessageCount());
        management.deleteQueue("made");
        assertThrows(MessagingEntityNotFoundException.class, () -> management.getQueue("made"));
        management.close();
    }
}
