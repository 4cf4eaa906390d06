package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusTransactionContext;
import com.azure.messaging.servicebus.models.AbandonOptions;
import com.azure.messaging.servicebus.models.CompleteOptions;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.DeferOptions;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Transactions on one entity and across entities. */
class TransactionsTest extends Case {
    private static CompleteOptions within(ServiceBusTransactionContext txn) {
        return new CompleteOptions().setTransactionContext(txn);
    }

    /** The SDK takes every answer to a send in a transaction for a success, so what was refused shows in what is stored. */
    private void refuses(ServiceBusSenderClient sender, ServiceBusTransactionContext txn, String queue) {
        sender.sendMessage(new ServiceBusMessage("refused"), txn);
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves({"txn.send", "txn.batch", "txn.schedule"})
    void sends_wait_for_the_commit() {
        final String queue = queue();
        final var sender = sender(queue);
        final ServiceBusTransactionContext undone = sender.createTransaction();
        sender.scheduleMessage(new ServiceBusMessage("never"), OffsetDateTime.now().plusHours(1), undone);
        sender.rollbackTransaction(undone);
        final ServiceBusTransactionContext txn = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("one"), txn);
        final var batch = sender.createMessageBatch();
        batch.tryAddMessage(new ServiceBusMessage("two"));
        batch.tryAddMessage(new ServiceBusMessage("three"));
        sender.sendMessages(batch, txn);
        sender.scheduleMessage(new ServiceBusMessage("later"), OffsetDateTime.now().plusHours(1), txn);
        // Not by a receive: one that found nothing has credit left, and what it takes and gives back comes behind the others.
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
        sender.commitTransaction(txn);
        assertEquals(List.of("one", "two", "three"), bodies(receive(receiver(queue), 3)));
        assertEquals(1, admin.getQueueRuntimeProperties(queue).getScheduledMessageCount());
    }

    @Test
    @Proves("txn.outcomes")
    void every_outcome() {
        final String queue = queue();
        send(queue, "abandon", "defer", "dead");
        final var receiver = receiver(queue);
        final var got = receive(receiver, 3);
        final ServiceBusTransactionContext txn = receiver.createTransaction();
        receiver.abandon(got.get(0), new AbandonOptions().setTransactionContext(txn));
        receiver.defer(got.get(1), new DeferOptions().setTransactionContext(txn));
        receiver.deadLetter(got.get(2), new DeadLetterOptions().setTransactionContext(txn));
        receiver.commitTransaction(txn);
        final ServiceBusReceivedMessage again = receiveOne(receiver);
        assertEquals(List.of("abandon", 1L), List.of(again.getBody().toString(), again.getDeliveryCount()));
        assertEquals("defer", receiver.receiveDeferredMessage(2).getBody().toString());
        assertEquals("dead", receiveOne(closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient())).getBody().toString());
    }

    @Test
    @Proves({"txn.unknown", "txn.limit", "txn.lost"})
    void what_ends_a_transaction() {
        final String queue = queue();
        final var sender = sender(queue);
        final ServiceBusTransactionContext over = sender.createTransaction();
        sender.commitTransaction(over);
        refuses(sender, over, queue);
        final var other = closing(Bus.clients().sender().queueName(queue).buildClient());
        final ServiceBusTransactionContext full = other.createTransaction();
        for (int i = 0; i < 100; i++) {
            other.sendMessage(new ServiceBusMessage("m"), full);
        }
        other.sendMessage(new ServiceBusMessage("one too many"), full);
        other.commitTransaction(full);
        assertEquals(100, admin.getQueueRuntimeProperties(queue).getActiveMessageCount());
        receive(receiver(queue), 100);
        final var lost = Bus.clients().sender().queueName(queue).buildClient();
        lost.sendMessage(new ServiceBusMessage("never"), lost.createTransaction());
        lost.close(); // with its connection
        assertEmpty(receiver(queue));
    }

    @Test
    @Proves({"txn.topic", "txn.second"})
    void a_topic_and_its_subscription_are_one() {
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
        final var sender = closing(clients().sender().topicName(topic).buildClient());
        sender.sendMessage(new ServiceBusMessage("first"));
        final var receiver = closing(clients().receiver().topicName(topic).subscriptionName("s").disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient());
        final ServiceBusReceivedMessage first = receiveOne(receiver);
        final ServiceBusTransactionContext txn = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("second"), txn);
        receiver.complete(first, within(txn));
        sender.commitTransaction(txn);
        assertEquals("second", receiveOne(receiver).getBody().toString());
        final String queue = queue();
        final var elsewhere = sender(queue);
        final ServiceBusTransactionContext two = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("third"), two);
        refuses(elsewhere, two, queue);
    }

    @Test
    @Proves({"cross.commit", "cross.back", "cross.topic"})
    void across_entities() {
        final String from = queue();
        final String to = queue();
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
        send(from, "first", "second");
        final ServiceBusClientBuilder cross = Bus.clients().enableCrossEntityTransactions();
        final ServiceBusReceiverClient receiver = closing(cross.receiver().queueName(from).disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient());
        final var got = receive(receiver, 2); // the first entity is the one that all goes through
        final ServiceBusSenderClient toQueue = closing(cross.sender().queueName(to).buildClient());
        final ServiceBusSenderClient toTopic = closing(cross.sender().topicName(topic).buildClient());
        final ServiceBusTransactionContext undone = receiver.createTransaction();
        toQueue.sendMessage(new ServiceBusMessage("never"), undone);
        receiver.rollbackTransaction(undone);
        assertEmpty(receiver(to));
        final ServiceBusTransactionContext one = receiver.createTransaction();
        receiver.complete(got.get(0), within(one));
        toQueue.sendMessage(new ServiceBusMessage("moved"), one);
        receiver.commitTransaction(one);
        assertEquals("moved", receiveOne(receiver(to)).getBody().toString());
        final ServiceBusTransactionContext two = receiver.createTransaction();
        receiver.complete(got.get(1), within(two));
        toTopic.sendMessage(new ServiceBusMessage("published"), two);
        receiver.commitTransaction(two);
        assertEquals("published", receiveOne(closing(clients().receiver().topicName(topic).subscriptionName("s").disableAutoComplete()
            .buildClient())).getBody().toString());
        assertEquals(0, admin.getQueueRuntimeProperties(from).getTotalMessageCount());
    }
}
