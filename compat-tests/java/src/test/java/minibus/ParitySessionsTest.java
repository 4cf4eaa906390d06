package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.CreateSubscriptionOptions;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** More of sessions, and of what entities do by themselves. */
class ParitySessionsTest extends Case {
    private String sessionQueue() {
        return queue(new CreateQueueOptions().setSessionRequired(true).setLockDuration(Duration.ofSeconds(5)));
    }

    private void sendTo(String queue, String session, String... bodies) {
        sender(queue).sendMessages(List.of(bodies).stream().map(b -> new ServiceBusMessage(b).setSessionId(session)).toList());
    }

    private ServiceBusSessionReceiverClient sessions(String queue) {
        return closing(Bus.clients().retryOptions(new AmqpRetryOptions().setMaxRetries(0).setTryTimeout(SOON)).sessionReceiver()
            .queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient());
    }

    private ServiceBusReceiverClient letters(String queue) {
        return closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient());
    }

    @Test
    @Proves("sess.waits")
    void accept_next_waits() {
        final String queue = sessionQueue();
        Mono.delay(Duration.ofSeconds(1)).subscribe(x -> sendTo(queue, "late", "m"));
        final var next = closing(sessions(queue).acceptNextSession());
        assertEquals("late", next.getSessionId());
        assertEquals("m", receiveOne(next).getBody().toString());
    }

    @Test
    @Proves("sess.timeout")
    void accept_next_ends() {
        final var impatient = closing(Bus.clients().retryOptions(new AmqpRetryOptions().setMaxRetries(0).setTryTimeout(Duration.ofSeconds(2)))
            .sessionReceiver().queueName(sessionQueue()).disableAutoComplete().buildClient());
        final long begin = System.nanoTime();
        assertThrows(RuntimeException.class, impatient::acceptNextSession);
        assertTrue(System.nanoTime() - begin < SOON.toNanos());
    }

    @Test
    @Proves({"sess.release", "sess.order", "sess.deadletter"})
    void the_next_holder() {
        final String queue = sessionQueue();
        sendTo(queue, "a", "1", "2", "3");
        final ServiceBusReceiverClient first = sessions(queue).acceptSession("a");
        assertEquals(List.of("1", "2", "3"), bodies(receive(first, 3)));
        first.close();
        final var second = closing(sessions(queue).acceptSession("a"));
        final ServiceBusReceivedMessage one = receiveOne(second);
        assertEquals(0, one.getDeliveryCount());
        second.abandon(one);
        final ServiceBusReceivedMessage again = receiveOne(second);
        assertEquals(List.of("1", 1L), List.of(again.getBody().toString(), again.getDeliveryCount()));
        second.deadLetter(again);
        final ServiceBusReceivedMessage letter = receiveOne(letters(queue));
        assertEquals(List.of("1", "a"), List.of(letter.getBody().toString(), letter.getSessionId()));
    }

    @Test
    @Proves({"sess.lost", "sess.auto"})
    void lost_and_renewed() throws InterruptedException {
        final String queue = sessionQueue();
        sendTo(queue, "lost", "m");
        sendTo(queue, "kept", "m");
        final var lost = closing(sessions(queue).acceptSession("lost"));
        final ServiceBusReceivedMessage m = receiveOne(lost);
        final var kept = closing(closing(clients().sessionReceiver().queueName(queue).disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ofMinutes(1)).buildClient()).acceptSession("kept"));
        final ServiceBusReceivedMessage held = receiveOne(kept);
        Thread.sleep(6500);
        assertThrows(ServiceBusException.class, () -> lost.complete(m));
        kept.complete(held);
        final var again = closing(sessions(queue).acceptSession("lost"));
        assertEquals(1, receiveOne(again).getDeliveryCount());
    }

    @Test
    @Proves({"sess.schedule", "sess.delete"})
    void scheduled_and_deleted() {
        final String queue = sessionQueue();
        final OffsetDateTime due = OffsetDateTime.now().plusSeconds(1);
        sender(queue).scheduleMessage(new ServiceBusMessage("later").setSessionId("a"), due);
        final var taker = closing(closing(clients().sessionReceiver().queueName(queue).disableAutoComplete()
            .receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient()).acceptSession("a"));
        assertTrue(receiveOne(taker).getEnqueuedTime().isAfter(due.minusNanos(2_000_000)));
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves({"sess.noid", "sess.plain", "sess.nosessions"})
    void the_wrong_kind() {
        final String queue = sessionQueue();
        assertThrows(ServiceBusException.class, () -> send(queue, "no session"));
        assertThrows(RuntimeException.class, () -> receiver(queue).receiveMessages(1, BRIEFLY).forEach(m -> { }));
        assertThrows(RuntimeException.class, () -> sessions(queue()).acceptSession("a"));
    }

    @Test
    @Proves({"topic.sessions", "topic.batch", "topic.deadletter", "topic.defer", "topic.schedule", "topic.cancel"})
    void subscriptions() {
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "plain");
        admin.createSubscription(topic, "sessions", new CreateSubscriptionOptions().setSessionRequired(true));
        final var sender = closing(clients().sender().topicName(topic).buildClient());
        final var batch = sender.createMessageBatch();
        List.of("0", "1", "2").forEach(body -> batch.tryAddMessage(new ServiceBusMessage(body).setSessionId("a")));
        sender.sendMessages(batch);
        final var session = closing(closing(clients().sessionReceiver().topicName(topic).subscriptionName("sessions").disableAutoComplete()
            .buildClient()).acceptSession("a"));
        assertEquals(List.of("0", "1", "2"), bodies(receive(session, 3)));
        final var receiver = closing(clients().receiver().topicName(topic).subscriptionName("plain").disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient());
        final var got = receive(receiver, 3);
        assertEquals(List.of("0", "1", "2"), bodies(got));
        receiver.defer(got.get(0));
        assertEquals("0", receiver.receiveDeferredMessage(got.get(0).getSequenceNumber()).getBody().toString());
        receiver.deadLetter(got.get(1));
        final var letters = closing(clients().receiver().topicName(topic).subscriptionName("plain").subQueue(SubQueue.DEAD_LETTER_QUEUE)
            .disableAutoComplete().buildClient());
        assertEquals("1", receiveOne(letters).getBody().toString());
        final OffsetDateTime due = OffsetDateTime.now().plusSeconds(8);
        sender.scheduleMessage(new ServiceBusMessage("later").setSessionId("a"), due);
        final long never = sender.scheduleMessage(new ServiceBusMessage("never").setSessionId("a"), due);
        assertEquals(2, admin.getTopicRuntimeProperties(topic).getScheduledMessageCount());
        sender.cancelScheduledMessage(never);
        assertEquals("later", receiveOne(receiver).getBody().toString());
        assertEmpty(receiver);
    }

    @Test
    @Proves({"entity.expire", "entity.expiredead", "entity.ttl"})
    void expiry() {
        final String dropping = queue(new CreateQueueOptions().setDefaultMessageTimeToLive(Duration.ofMinutes(10)));
        final String keeping = queue(new CreateQueueOptions().setDeadLetteringOnMessageExpiration(true));
        for (String queue : List.of(dropping, keeping)) {
            sender(queue).sendMessage(new ServiceBusMessage("short").setTimeToLive(Duration.ofMillis(500)));
        }
        sender(dropping).sendMessage(new ServiceBusMessage("long").setTimeToLive(Duration.ofHours(1)));
        assertEquals("TTLExpiredException", receiveOne(letters(keeping)).getDeadLetterReason());
        final ServiceBusReceivedMessage left = receiveOne(receiver(dropping));
        assertEquals(List.of("long", Duration.ofMinutes(10)), List.of(left.getBody().toString(), left.getTimeToLive()));
    }

    @Test
    @Proves("entity.duplicates")
    void duplicates() {
        final String queue = queue(new CreateQueueOptions().setDuplicateDetectionRequired(true));
        for (String id : List.of("1", "1", "2")) {
            sender(queue).sendMessage(new ServiceBusMessage(id).setMessageId(id));
        }
        assertEquals(List.of("1", "2"), bodies(receive(receiver(queue), 2)));
        assertEmpty(receiver(queue));
    }

    @Test
    @Proves({"entity.forward", "entity.forwarddead"})
    void forwarding() {
        final String target = queue();
        final String source = queue(new CreateQueueOptions().setForwardTo(target));
        final String failing = queue(new CreateQueueOptions().setForwardDeadLetteredMessagesTo(target));
        send(target, "direct");
        send(source, "forwarded");
        final var receiver = receiver(target);
        final var got = receive(receiver, 2);
        assertEquals(List.of("direct", "forwarded"), bodies(got));
        assertEquals(1, got.get(1).getEnqueuedSequenceNumber());
        send(failing, "dead");
        final var from = receiver(failing);
        from.deadLetter(receiveOne(from));
        assertEquals(failing, receiveOne(receiver).getDeadLetterSource().toLowerCase());
    }

    @Test
    @Proves("entity.partition")
    void partitions() {
        final String queue = queue(new CreateQueueOptions().setPartitioningEnabled(true));
        for (String body : List.of("0", "1", "2")) {
            sender(queue).sendMessage(new ServiceBusMessage(body).setPartitionKey("one"));
        }
        final var got = receive(receiver(queue), 3);
        assertEquals(List.of("0", "1", "2"), bodies(got));
        assertEquals(1, got.stream().map(m -> m.getSequenceNumber() >>> 48).distinct().count());
    }
}
