package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.messaging.servicebus.ServiceBusTransactionContext;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.models.AbandonOptions;
import com.azure.messaging.servicebus.models.CompleteOptions;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import com.azure.messaging.servicebus.models.DeferOptions;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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
    @Proves({"txn.topic", "txn.second", "cross.off"})
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

    @Test
    @Proves({"txn.parallel", "txn.elsewhere"})
    void several_beside_each_other() {
        final String queue = queue();
        final var sender = sender(queue);
        final var first = sender.createTransaction();
        final var second = sender.createTransaction();
        final var third = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("1"), first);
        sender.sendMessage(new ServiceBusMessage("2"), second);
        sender.sendMessage(new ServiceBusMessage("3"), third);
        sender.commitTransaction(third);
        sender.rollbackTransaction(second);
        refuses(closing(Bus.clients().sender().queueName(queue()).buildClient()), first, queue());
        sender.commitTransaction(first);
        assertEquals(2, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves("txn.renew")
    void a_lock_is_renewed() {
        final String queue = queue();
        send(queue, "m");
        final var receiver = receiver(queue);
        final var m = receiveOne(receiver);
        final var txn = receiver.createTransaction();
        sender(queue).sendMessage(new ServiceBusMessage("next"), txn);
        assertTrue(receiver.renewMessageLock(m).isAfter(OffsetDateTime.now()));
        receiver.complete(m, within(txn));
        receiver.commitTransaction(txn);
        assertEquals("next", receiveOne(receiver).getBody().toString());
    }

    @Test
    @Proves("txn.lockover")
    void a_lock_is_over() throws Exception {
        final String queue = queue(new CreateQueueOptions().setLockDuration(Duration.ofSeconds(5)));
        send(queue, "m");
        final var receiver = receiver(queue);
        final var m = receiveOne(receiver);
        final var txn = receiver.createTransaction();
        receiver.complete(m, within(txn));
        Thread.sleep(6000);
        assertThrows(RuntimeException.class, () -> receiver.commitTransaction(txn));
        assertEquals(1, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    private ServiceBusReceiverClient accept(ServiceBusClientBuilder builder, String queue, String session) {
        return closing(closing(builder.sessionReceiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO)
            .buildClient()).acceptSession(session));
    }

    private String sessionQueue() {
        return queue(new CreateQueueOptions().setSessionRequired(true));
    }

    @Test
    @Proves("txn.sessions")
    void several_sessions() {
        final String queue = sessionQueue();
        final var sender = sender(queue);
        sender.sendMessages(List.of(new ServiceBusMessage("1").setSessionId("a"), new ServiceBusMessage("2").setSessionId("b")));
        final var a = accept(clients(), queue, "a");
        final var b = accept(clients(), queue, "b");
        final var txn = sender.createTransaction();
        a.complete(receiveOne(a), within(txn));
        b.complete(receiveOne(b), within(txn));
        sender.commitTransaction(txn);
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves("txn.partition")
    void one_partition() {
        final String queue = queue(new CreateQueueOptions().setPartitioningEnabled(true));
        final var sender = sender(queue);
        final var txn = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("m").setPartitionKey("one"), txn);
        for (int i = 0; i < 40; i++) { // not all keys are of one partition
            sender.sendMessage(new ServiceBusMessage("m").setPartitionKey("key" + i), txn);
        }
        try {
            sender.commitTransaction(txn);
        } catch (RuntimeException e) {
            sender.sendMessage(new ServiceBusMessage("m").setPartitionKey("one"));
        }
        final long first = receiveOne(receiver(queue)).getSequenceNumber() >>> 48;
        for (ServiceBusReceivedMessage m : receiver(queue).peekMessages(50)) {
            assertEquals(first, m.getSequenceNumber() >>> 48);
        }
    }

    @Test
    @Proves("txn.order")
    void a_schedule_of_now_comes_after_an_earlier_send() {
        final String queue = queue();
        final var sender = sender(queue);
        final var txn = sender.createTransaction();
        sender.sendMessage(new ServiceBusMessage("first"), txn);
        sender.scheduleMessage(new ServiceBusMessage("second"), OffsetDateTime.now().minusSeconds(1), txn);
        sender.sendMessage(new ServiceBusMessage("third"), txn);
        sender.commitTransaction(txn);
        assertEquals(List.of("first", "second", "third"), bodies(receive(receiver(queue), 3)));
    }

    @Test
    @Proves({"cross.sessions", "cross.first", "cross.subscription"})
    void across_other_entities() {
        final String from = sessionQueue();
        final String to = queue();
        sender(from).sendMessage(new ServiceBusMessage("m").setSessionId("s"));
        final ServiceBusClientBuilder cross = Bus.clients().enableCrossEntityTransactions();
        final var session = accept(cross, from, "s");
        final var m = receiveOne(session);
        final var sender = closing(cross.sender().queueName(to).buildClient());
        final var txn = session.createTransaction();
        session.complete(m, within(txn));
        sender.sendMessage(new ServiceBusMessage("moved"), txn);
        session.commitTransaction(txn);
        assertEquals("moved", receiveOne(receiver(to)).getBody().toString());
        final var second = closing(cross.receiver().queueName(to).disableAutoComplete().buildClient());
        assertThrows(RuntimeException.class, () -> second.receiveMessages(1, BRIEFLY).forEach(x -> { }));

        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
        closing(clients().sender().topicName(topic).buildClient()).sendMessage(new ServiceBusMessage("m"));
        final ServiceBusClientBuilder other = Bus.clients().enableCrossEntityTransactions();
        final var subscription = closing(other.receiver().topicName(topic).subscriptionName("s").disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient());
        final var published = receiveOne(subscription);
        final String last = queue();
        final var lastSender = closing(other.sender().queueName(last).buildClient());
        final var one = subscription.createTransaction();
        subscription.complete(published, within(one));
        lastSender.sendMessage(new ServiceBusMessage("kept"), one);
        subscription.commitTransaction(one);
        assertEquals("kept", receiveOne(receiver(last)).getBody().toString());
    }

    @Test
    @Proves("cross.processor")
    void the_handler_of_a_processor_completes_and_sends() throws Exception {
        final String from = queue();
        final String to = queue();
        send(from, "1", "2", "3");
        final ServiceBusClientBuilder cross = Bus.clients().enableCrossEntityTransactions();
        final var sender = new AtomicReference<ServiceBusSenderClient>();
        final var done = new CountDownLatch(3);
        final var processor = closing(cross.processor().queueName(from).disableAutoComplete().maxConcurrentCalls(1)
            .maxAutoLockRenewDuration(Duration.ZERO).processError(e -> { }).processMessage(m -> {
                sender.compareAndSet(null, sender.get() == null ? cross.sender().queueName(to).buildClient() : sender.get());
                final var txn = sender.get().createTransaction();
                m.complete(within(txn));
                sender.get().sendMessage(new ServiceBusMessage(m.getMessage().getBody()), txn);
                sender.get().commitTransaction(txn);
                done.countDown();
            }).buildProcessorClient());
        processor.start();
        assertTrue(done.await(SOON.toSeconds(), TimeUnit.SECONDS));
        closing(sender.get());
        assertEquals(List.of("1", "2", "3"), bodies(receive(receiver(to), 3)));
        assertEquals(0, admin.getQueueRuntimeProperties(from).getTotalMessageCount());
    }
}
