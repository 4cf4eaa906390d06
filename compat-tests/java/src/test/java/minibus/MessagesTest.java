package minibus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.models.AmqpMessageBody;
import com.azure.core.util.BinaryData;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusMessageBatch;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.EntityStatus;
import com.azure.messaging.servicebus.models.ServiceBusMessageState;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** What goes in comes out: properties, batches, schedules, peeks, and errors as the SDK's own. */
class MessagesTest extends Case {
    @Test
    @Proves({"prop.sequence", "prop.enqueued", "prop.lockeduntil", "prop.locktoken", "prop.deliverycount", "prop.state",
        "prop.expires", "send.ttl", "app.span"})
    void every_property_arrives() {
        final String queue = queue();
        final byte[] body = {0, 1, (byte) 0xff};
        final ServiceBusMessage sent = new ServiceBusMessage(BinaryData.fromBytes(body)).setMessageId("id").setCorrelationId("c")
            .setSubject("subject").setTo("to").setReplyTo("r").setReplyToSessionId("rs").setContentType("ct").setPartitionKey("p")
            .setTimeToLive(Duration.ofMinutes(5));
        final OffsetDateTime time = OffsetDateTime.parse("2030-01-02T03:04:05.006Z");
        sent.getApplicationProperties().put("string", "\u20ac");
        sent.getApplicationProperties().put("int", -7);
        sent.getApplicationProperties().put("long", 1L << 40);
        sent.getApplicationProperties().put("double", 1.5);
        sent.getApplicationProperties().put("true", true);
        sent.getApplicationProperties().put("time", time);
        sent.getApplicationProperties().put("span", Duration.ofSeconds(90));
        sent.getApplicationProperties().put("uuid", new UUID(1, 2));
        final Map<String, Object> values = Map.copyOf(sent.getApplicationProperties()); // the SDK changes them while it sends
        sender(queue).sendMessage(sent);
        final ServiceBusReceivedMessage got = receiveOne(receiver(queue));
        assertArrayEquals(body, got.getBody().toBytes());
        assertEquals(List.of("id", "c", "subject", "to", "r", "rs", "ct", "p"),
            List.of(got.getMessageId(), got.getCorrelationId(), got.getSubject(), got.getTo(), got.getReplyTo(),
                got.getReplyToSessionId(), got.getContentType(), got.getPartitionKey()));
        assertEquals(values, got.getApplicationProperties());
        assertEquals(Duration.ofMinutes(5), got.getTimeToLive());
        assertEquals(got.getEnqueuedTime().plusMinutes(5), got.getExpiresAt());
        assertEquals(1, got.getSequenceNumber());
        assertEquals(0, got.getDeliveryCount());
        assertEquals(ServiceBusMessageState.ACTIVE, got.getState());
        assertTrue(got.getLockedUntil().isAfter(got.getEnqueuedTime()));
        assertNotEquals(new UUID(0, 0).toString(), got.getLockToken());
    }

    @Test
    void bodies_of_values_and_sequences() {
        final String queue = queue();
        sender(queue).sendMessage(new ServiceBusMessage(AmqpMessageBody.fromValue("value")));
        sender(queue).sendMessage(new ServiceBusMessage(AmqpMessageBody.fromSequence(List.of("a", 1))));
        final var got = receive(receiver(queue), 2);
        assertEquals("value", got.get(0).getRawAmqpMessage().getBody().getValue());
        assertEquals(List.of("a", 1), got.get(1).getRawAmqpMessage().getBody().getSequence());
    }

    @Test
    @Proves({"send.batch", "send.batchfull"})
    void a_batch_keeps_its_order() {
        final String queue = queue();
        final ServiceBusMessageBatch batch = sender(queue).createMessageBatch();
        final List<String> bodies = IntStream.range(0, 50).mapToObj(Integer::toString).toList();
        bodies.forEach(b -> assertTrue(batch.tryAddMessage(new ServiceBusMessage(b))));
        assertFalse(batch.tryAddMessage(new ServiceBusMessage(new byte[255 * 1024])));
        sender(queue).sendMessages(batch);
        assertEquals(bodies, bodies(receive(receiver(queue), 50)));
    }

    @Test
    @Proves({"sched.one", "sched.several", "sched.number", "sched.cancel"})
    void a_schedule_and_its_end() {
        final String queue = queue();
        final var sender = sender(queue);
        final long one = sender.scheduleMessage(new ServiceBusMessage("at once"), OffsetDateTime.now().plusSeconds(8));
        final Iterable<Long> later = sender.scheduleMessages(List.of(new ServiceBusMessage("b"), new ServiceBusMessage("c")),
            OffsetDateTime.now().plusHours(1));
        final List<Long> numbers = StreamSupport.stream(later.spliterator(), false).toList();
        assertEquals(List.of(one + 1, one + 2), numbers);
        final var receiver = receiver(queue);
        assertEquals(ServiceBusMessageState.SCHEDULED, receiver.peekMessage(one + 1).getState());
        final ServiceBusReceivedMessage got = receiveOne(receiver);
        assertEquals("at once", got.getBody().toString());
        assertFalse(got.getEnqueuedTime().isBefore(got.getScheduledEnqueueTime()));
        sender.cancelScheduledMessage(numbers.get(0));
        // What was activated has a number of its own since (SCHED-9).
        assertEquals(List.of("c", "at once"), bodies(receiver(queue).peekMessages(10)));
        sender.cancelScheduledMessages(List.of(numbers.get(1)));
        assertEquals(List.of("at once"), bodies(receiver(queue).peekMessages(10)));
    }

    @Test
    @Proves({"peek.from", "peek.pages", "peek.empty"})
    void a_peek_takes_nothing() {
        final String queue = queue();
        send(queue, "a", "b", "c");
        final var receiver = receiver(queue);
        assertEquals("a", receiver.peekMessage().getBody().toString());
        assertEquals(List.of("b", "c"), bodies(receiver.peekMessages(5)));
        assertEquals(List.of("b"), bodies(receiver.peekMessages(1, 2)));
        assertNull(receiver.peekMessage(4));
        assertEquals(3, receive(receiver, 3).size());
    }

    @Test
    @Proves("recv.delete")
    void receive_and_delete() {
        final String queue = queue();
        send(queue, "a", "b");
        final var receiver = closing(receiverOf(queue).receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient());
        assertEquals(List.of("a", "b"), bodies(receive(receiver, 2)));
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves("proc.complete")
    void a_processor_completes_what_it_handled() throws InterruptedException {
        final String queue = queue();
        final var done = new CountDownLatch(20);
        final var processor = closing(clients().processor().queueName(queue).maxConcurrentCalls(4)
            .processMessage(m -> done.countDown()).processError(e -> { }).buildProcessorClient());
        processor.start();
        send(queue, IntStream.range(0, 20).mapToObj(Integer::toString).toArray(String[]::new));
        assertTrue(done.await(SOON.toSeconds(), TimeUnit.SECONDS));
        final long end = System.nanoTime() + SOON.toNanos();
        while (admin.getQueueRuntimeProperties(queue).getTotalMessageCount() > 0 && System.nanoTime() < end) {
            Thread.onSpinWait(); // a message is completed after its handler has returned
        }
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
        processor.stop();
    }

    @Test
    @Proves({"err.queue", "entity.disabled"})
    void refusals_are_the_sdks_own() {
        refused(ServiceBusFailureReason.MESSAGING_ENTITY_NOT_FOUND, () -> send("no-such-queue", "m"));
        final String off = queue(new CreateQueueOptions().setStatus(EntityStatus.DISABLED));
        refused(ServiceBusFailureReason.MESSAGING_ENTITY_DISABLED, () -> send(off, "m"));
        final String small = queue();
        refused(ServiceBusFailureReason.MESSAGE_SIZE_EXCEEDED, () -> sender(small).sendMessage(new ServiceBusMessage(new byte[300 * 1024])));
    }
}
