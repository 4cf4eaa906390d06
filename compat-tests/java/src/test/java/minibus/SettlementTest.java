package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusTransactionContext;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.models.AbandonOptions;
import com.azure.messaging.servicebus.models.CompleteOptions;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.DeferOptions;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Complete, abandon, defer, dead-letter, renewal and transactions. */
class SettlementTest extends Case {
    private long left(String queue) {
        return admin.getQueueRuntimeProperties(queue).getTotalMessageCount();
    }

    @Test
    @Proves({"send.single", "settle.complete", "conn.shared", "auth.emulator"})
    void complete() {
        final String queue = queue();
        send(queue, "m");
        final var receiver = receiver(queue);
        receiver.complete(receiveOne(receiver));
        assertEquals(0, left(queue));
    }

    @Test
    @Proves({"settle.abandon", "settle.abandonprops", "settle.maxdelivery"})
    void abandon_changes_properties_and_counts() {
        final String queue = queue(new CreateQueueOptions().setMaxDeliveryCount(2));
        send(queue, "m");
        final var receiver = receiver(queue);
        receiver.abandon(receiveOne(receiver), new AbandonOptions().setPropertiesToModify(Map.of("why", "not now")));
        final ServiceBusReceivedMessage again = receiveOne(receiver);
        assertEquals("not now", again.getApplicationProperties().get("why"));
        assertEquals(1, again.getDeliveryCount());
        receiver.abandon(again);
        final var letters = closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient());
        assertEquals("MaxDeliveryCountExceeded", receiveOne(letters).getDeadLetterReason());
    }

    @Test
    @Proves({"settle.defer", "settle.deferprops", "defer.receive", "defer.abandon", "defer.deadletter"})
    void defer_and_receive_by_number() {
        final String queue = queue();
        send(queue, "a", "b", "c");
        final var receiver = receiver(queue);
        for (ServiceBusReceivedMessage m : receive(receiver, 3)) {
            receiver.defer(m, new DeferOptions().setPropertiesToModify(Map.of("put", "aside")));
        }
        final ServiceBusReceivedMessage got = receiver.receiveDeferredMessage(2);
        assertEquals("b", got.getBody().toString());
        assertEquals("aside", got.getApplicationProperties().get("put"));
        receiver.complete(got);
        final var others = receiver.receiveDeferredMessageBatch(List.of(1L, 3L)).stream().toList();
        assertEquals(List.of("a", "c"), bodies(others));
        receiver.deadLetter(others.get(0));
        receiver.abandon(others.get(1));
        assertEquals("c", receiver.receiveDeferredMessage(3).getBody().toString());
    }

    @Test
    @Proves({"settle.deadletter", "settle.deadletterprops", "dlq.receive"})
    void dead_letter_says_why() {
        final String queue = queue();
        send(queue, "m");
        final var receiver = receiver(queue);
        receiver.deadLetter(receiveOne(receiver), new DeadLetterOptions().setDeadLetterReason("reason")
            .setDeadLetterErrorDescription("description").setPropertiesToModify(Map.of("a", "b")));
        final var letters = closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient());
        final ServiceBusReceivedMessage letter = receiveOne(letters);
        assertEquals(List.of("reason", "description", "b"), List.of(letter.getDeadLetterReason(),
            letter.getDeadLetterErrorDescription(), letter.getApplicationProperties().get("a")));
        letters.complete(letter);
        assertEquals(0, left(queue));
    }

    @Test
    @Proves({"lock.renew", "lock.lost", "lock.lostcode"})
    void a_lock_is_renewed_and_lost() {
        final String queue = queue(new CreateQueueOptions().setLockDuration(Duration.ofSeconds(5)));
        send(queue, "m");
        final var receiver = receiver(queue);
        final ServiceBusReceivedMessage m = receiveOne(receiver);
        assertTrue(receiver.renewMessageLock(m).isAfter(m.getEnqueuedTime().plusSeconds(5)));
        final ServiceBusReceivedMessage again = receiveOne(receiver);
        assertEquals(1, again.getDeliveryCount());
        refused(ServiceBusFailureReason.MESSAGE_LOCK_LOST, () -> receiver.complete(m));
        receiver.complete(again);
    }

    @Test
    @Proves({"txn.sendback", "txn.completeback", "txn.both", "txn.complete"})
    void a_transaction_is_all_or_nothing() {
        final String queue = queue(new CreateQueueOptions().setLockDuration(Duration.ofSeconds(5)));
        send(queue, "first");
        final var sender = sender(queue);
        final var receiver = receiver(queue);
        final ServiceBusReceivedMessage m = receiveOne(receiver);
        final ServiceBusTransactionContext undone = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("never"), undone);
        receiver.complete(m, new CompleteOptions().setTransactionContext(undone));
        sender.rollbackTransaction(undone);
        assertEquals(List.of("first"), bodies(receiver(queue).peekMessages(5)));
        final ServiceBusTransactionContext done = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("second"), done);
        // The SDK settles no message twice, so it is received again once its lock is over.
        receiver.complete(receiveOne(receiver), new CompleteOptions().setTransactionContext(done));
        sender.commitTransaction(done);
        assertEquals(List.of("second"), bodies(receiver(queue).peekMessages(5)));
    }
}
