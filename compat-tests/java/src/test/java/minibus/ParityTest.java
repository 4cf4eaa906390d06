package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.util.BinaryData;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.administration.models.AccessRights;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.SharedAccessAuthorizationRule;
import com.azure.messaging.servicebus.models.ServiceBusMessageState;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import com.azure.messaging.servicebus.models.SubQueue;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/** What the other classes leave out of compat-tests/cases: many at once, what is refused, ways to connect. */
class ParityTest extends Case {
    private static final String SECRET = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(Integer::toString).toList();
    }

    private void put(String queue, int count) {
        sender(queue).sendMessages(names(count).stream().map(ServiceBusMessage::new).toList());
    }

    private static List<String> sorted(List<String> bodies) {
        return bodies.stream().sorted((a, b) -> Integer.compare(Integer.parseInt(a), Integer.parseInt(b))).toList();
    }

    private ServiceBusReceiverClient letters(String queue) {
        return closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient());
    }

    private ServiceBusReceiverClient taker(String queue) {
        return closing(receiverOf(queue).receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient());
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Proves({"send.several", "recv.several", "send.parallel", "recv.order"})
    void many_at_once() {
        final String queue = queue();
        put(queue, 5);
        final var async = closing(clients().sender().queueName(queue).buildAsyncClient());
        Mono.when(IntStream.range(5, 500).mapToObj(i -> async.sendMessage(new ServiceBusMessage("" + i))).toList()).block(SOON);
        final var got = receive(receiver(queue), 500);
        assertEquals(names(5), bodies(got.subList(0, 5)));
        assertEquals(IntStream.rangeClosed(1, 500).mapToObj(i -> (long) i).toList(), got.stream().map(m -> m.getSequenceNumber()).toList());
        assertEquals(names(500), sorted(bodies(got)));
    }

    @Test
    @Proves({"send.larger", "send.toolarge"})
    void large_where_it_is_allowed() {
        final String queue = queue(new CreateQueueOptions().setMaxMessageSizeInKilobytes(2048));
        final byte[] body = new byte[1_500_000];
        sender(queue).sendMessage(new ServiceBusMessage(BinaryData.fromBytes(body)));
        assertEquals(body.length, receiveOne(receiver(queue)).getBody().toBytes().length);
        final String small = queue();
        final var sender = sender(small);
        refused(ServiceBusFailureReason.MESSAGE_SIZE_EXCEEDED, () -> sender.sendMessage(new ServiceBusMessage(new byte[300 * 1024])));
        sender.sendMessage(new ServiceBusMessage("small"));
        assertEquals("small", receiveOne(receiver(small)).getBody().toString());
    }

    @Test
    @Proves({"send.noid", "send.again"})
    void sent_again() {
        final String queue = queue();
        final ServiceBusMessage sent = new ServiceBusMessage("m").setSubject("s");
        sent.getApplicationProperties().put("n", 1);
        sender(queue).sendMessage(sent);
        final ServiceBusReceivedMessage first = receiveOne(receiver(queue));
        assertTrue(first.getMessageId().matches("[0-9a-f]{32}"), first.getMessageId());
        sender(queue).sendMessage(new ServiceBusMessage(first));
        final ServiceBusReceivedMessage second = receiveOne(receiver(queue));
        assertEquals(List.of("m", "s", 1, 2L), List.of(second.getBody().toString(), second.getSubject(),
            second.getApplicationProperties().get("n"), second.getSequenceNumber()));
    }

    @Test
    @Proves({"recv.one", "recv.empty", "recv.close"})
    void as_soon_as_it_is_sent() {
        final String queue = queue();
        final var receiver = receiver(queue);
        assertEmpty(receiver);
        final var sender = closing(clients().sender().queueName(queue).buildAsyncClient());
        Mono.delay(Duration.ofMillis(500)).then(sender.sendMessage(new ServiceBusMessage("m"))).subscribe();
        assertEquals("m", receiveOne(receiver).getBody().toString());
        receiver.close();
        send(queue, "later");
        assertEquals(0, receive(receiver(queue), 1).get(0).getDeliveryCount());
    }

    @Test
    @Proves({"recv.competing", "recv.deletestays"})
    void shared_and_closed() {
        final String queue = queue();
        put(queue, 60);
        final List<String> seen = new ArrayList<>();
        while (seen.size() < 30) {
            try (var taker = receiverOf(queue).receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient()) {
                taker.receiveMessages(5, SOON).forEach(m -> seen.add(m.getBody().toString()));
            }
        }
        final var one = receiver(queue);
        final var other = closing(Bus.clients().receiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient());
        while (seen.size() < 60) {
            for (var each : List.of(one, other)) {
                each.receiveMessages(Math.min(4, Math.max(1, 60 - seen.size())), Duration.ofSeconds(2)).forEach(m -> seen.add(m.getBody().toString()));
            }
        }
        assertEquals(names(60), sorted(seen));
    }

    @Test
    @Proves("recv.prefetch")
    void prefetched() {
        final String queue = queue();
        put(queue, 30);
        final var receiver = closing(receiverOf(queue).prefetchCount(20).buildClient());
        for (int i = 0; i < 3; i++) {
            final var got = receive(receiver, 10);
            assertEquals(names(30).subList(10 * i, 10 * i + 10), bodies(got));
            got.forEach(receiver::complete);
        }
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves("recv.async")
    void the_asynchronous_client() {
        final String queue = queue();
        final var sender = closing(clients().sender().queueName(queue).buildAsyncClient());
        final var receiver = closing(receiverOf(queue).buildAsyncClient());
        sender.sendMessages(List.of(new ServiceBusMessage("complete"), new ServiceBusMessage("defer"), new ServiceBusMessage("dead"))).block(SOON);
        receiver.receiveMessages().concatMap(m -> switch (m.getBody().toString()) {
            case "complete" -> receiver.complete(m).thenReturn(m);
            case "defer" -> receiver.defer(m).thenReturn(m);
            default -> receiver.deadLetter(m).thenReturn(m);
        }).take(3).blockLast(SOON);
        final var deferred = receiver.receiveDeferredMessage(2).block(SOON);
        assertEquals("defer", deferred.getBody().toString());
        receiver.complete(deferred).block(SOON);
        assertEquals("dead", receiveOne(letters(queue)).getBody().toString());
        final long later = sender.scheduleMessage(new ServiceBusMessage("m"), OffsetDateTime.now().plusHours(1)).block(SOON);
        assertEquals(ServiceBusMessageState.SCHEDULED, receiver.peekMessage(later).block(SOON).getState());
        sender.cancelScheduledMessage(later).block(SOON);
    }

    @Test
    @Proves({"settle.many", "settle.gaps", "settle.deadletterbare", "settle.twice"})
    void settled_at_once_and_with_gaps() {
        final String queue = queue();
        put(queue, 70);
        final var receiver = closing(receiverOf(queue).buildAsyncClient());
        final List<ServiceBusReceivedMessage> got = new CopyOnWriteArrayList<>();
        final var subscription = receiver.receiveMessages().subscribe(got::add);
        for (final long end = System.nanoTime() + SOON.toNanos(); got.size() < 70 && System.nanoTime() < end;) {
            pause(Duration.ofMillis(20));
        }
        final List<Mono<Void>> completes = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            if (i < 50 || i % 2 == 0) {
                completes.add(receiver.complete(got.get(i)));
            }
        }
        Mono.when(completes).block(SOON);
        final List<String> left = names(70).stream().filter(n -> Integer.parseInt(n) >= 50 && Integer.parseInt(n) % 2 == 1).toList();
        assertEquals(left, bodies(receiver(queue).peekMessages(70)));
        receiver.deadLetter(got.get(51)).block(SOON);
        assertNull(receiveOne(letters(queue)).getDeadLetterReason());
        assertThrows(RuntimeException.class, () -> receiver.complete(got.get(51)).block(SOON));
        subscription.dispose();
    }

    @Test
    @Proves({"settle.elsewhere", "lock.connection"})
    void settled_by_its_token() {
        final String queue = queue();
        send(queue, "a", "b");
        final var first = receiverOf(queue).buildClient();
        final ServiceBusReceivedMessage a = receiveOne(first);
        first.close();
        final var receiver = receiver(queue);
        receiver.complete(a);
        final var elsewhere = Bus.clients().receiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient();
        final ServiceBusReceivedMessage b = receiveOne(elsewhere);
        elsewhere.close(); // with its connection
        assertEmpty(receiver);
        receiver.complete(b);
        assertEquals(0, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves({"lock.held", "lock.auto"})
    void a_renewed_lock_holds() {
        final String queue = queue(new CreateQueueOptions().setLockDuration(Duration.ofSeconds(5)));
        send(queue, "by hand", "by the SDK");
        final var manual = receiver(queue);
        final ServiceBusReceivedMessage a = receiveOne(manual);
        final var automatic = closing(clients().receiver().queueName(queue).disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ofMinutes(1)).buildClient());
        final ServiceBusReceivedMessage b = receiveOne(automatic);
        pause(Duration.ofSeconds(3));
        manual.renewMessageLock(a);
        pause(Duration.ofSeconds(3));
        assertEmpty(receiver(queue));
        manual.complete(a);
        automatic.complete(b);
    }

    @Test
    @Proves({"defer.missing", "defer.renew", "defer.delete"})
    void deferred() {
        final String queue = queue();
        send(queue, "a", "b");
        final var receiver = receiver(queue);
        receive(receiver, 2).forEach(receiver::defer);
        assertEquals(0, receiver.receiveDeferredMessageBatch(List.of(1L, 99L)).stream().count()); // the SDK makes nothing of the refusal
        final ServiceBusReceivedMessage a = receiver.receiveDeferredMessage(1);
        assertTrue(receiver.renewMessageLock(a).isAfter(OffsetDateTime.now().plusSeconds(50)));
        assertEquals("b", taker(queue).receiveDeferredMessage(2).getBody().toString());
        assertEquals(1, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves({"peek.states", "peek.deadletter", "dlq.order", "dlq.abandon", "dlq.count", "sched.property", "sched.past", "sched.cancelmany"})
    void every_state() {
        final String queue = queue();
        send(queue, "locked", "deferred", "dead", "dead too", "active");
        final var sender = sender(queue);
        sender.sendMessage(new ServiceBusMessage("scheduled").setScheduledEnqueueTime(OffsetDateTime.now().plusHours(1)));
        final long number = sender.scheduleMessage(new ServiceBusMessage("too"), OffsetDateTime.now().plusHours(1));
        final var receiver = receiver(queue);
        final var got = receive(receiver, 4);
        receiver.defer(got.get(1));
        receiver.abandon(got.get(2));
        final var again = receiveOne(receiver);
        receiver.deadLetter(got.get(3));
        receiver.deadLetter(again);
        final List<String> states = receiver(queue).peekMessages(10).stream().map(m -> m.getBody() + " " + m.getState()).toList();
        assertEquals(List.of("locked ACTIVE", "deferred DEFERRED", "active ACTIVE", "scheduled SCHEDULED", "too SCHEDULED"), states);
        final var letters = letters(queue);
        assertEquals(List.of("dead", "dead too"), bodies(letters.peekMessages(5)));
        final var first = receive(letters, 2);
        assertEquals(List.of("dead", "dead too"), bodies(first));
        assertEquals(1, first.get(0).getDeliveryCount());
        letters.abandon(first.get(0));
        assertEquals(1, receiveOne(letters).getDeliveryCount());
        sender.cancelScheduledMessages(List.of(number, 999L)); // is refused, and the SDK keeps silent about it
        assertEquals(5, receiver(queue).peekMessages(10).stream().count());
        sender.cancelScheduledMessages(List.of(number - 1, number));
        assertEquals(List.of("locked", "deferred", "active"), bodies(receiver(queue).peekMessages(10)));
        sender.scheduleMessage(new ServiceBusMessage("past"), OffsetDateTime.now().minusHours(1));
        assertEquals(List.of("active", "past"), bodies(receive(receiver, 2)));
    }

    @Test
    @Proves("peek.large")
    void many_large_ones_are_peeked() {
        final String queue = queue();
        final var sender = sender(queue);
        names(40).forEach(n -> sender.sendMessage(new ServiceBusMessage(n + "x".repeat(20_000))));
        final var receiver = receiver(queue);
        int peeked = 0;
        for (int page = -1; page != 0; peeked += page) {
            page = (int) receiver.peekMessages(40).stream().count();
        }
        assertEquals(40, peeked);
    }

    @Test
    @Proves({"dlq.transfer", "dlq.nosend"})
    void sub_queues() {
        final String queue = queue();
        assertEmpty(closing(receiverOf(queue).subQueue(SubQueue.TRANSFER_DEAD_LETTER_QUEUE).buildClient()));
        final var sender = sender(queue + "/$DeadLetterQueue");
        assertThrows(ServiceBusException.class, () -> sender.sendMessage(new ServiceBusMessage("m")));
    }

    @Test
    @Proves({"conn.reuse", "conn.close"})
    void links_in_turn() {
        final String queue = queue();
        final var builder = Bus.clients();
        for (String body : names(25)) {
            try (var sender = builder.sender().queueName(queue).buildClient();
                 var receiver = builder.receiver().queueName(queue).disableAutoComplete().buildClient()) {
                sender.sendMessage(new ServiceBusMessage(body));
                final var m = receiveOne(receiver);
                assertEquals(body, m.getBody().toString());
                receiver.complete(m);
            }
        }
        final var last = Bus.clients().sender().queueName(queue).buildClient();
        last.sendMessage(new ServiceBusMessage("m"));
        final long begin = System.nanoTime();
        last.close();
        assertTrue(System.nanoTime() - begin < SOON.toNanos());
    }

    @Test
    @Proves("conn.idle")
    @Timeout(120)
    void an_idle_connection_is_kept() {
        final String queue = queue();
        final var sender = closing(Bus.clients().retryOptions(new AmqpRetryOptions().setMaxRetries(0)).sender().queueName(queue).buildClient());
        sender.sendMessage(new ServiceBusMessage("before"));
        pause(Duration.ofSeconds(70));
        sender.sendMessage(new ServiceBusMessage("after"));
        assertEquals(List.of("before", "after"), bodies(receive(receiver(queue), 2)));
    }

    private void works(String queue, ServiceBusClientBuilder builder) {
        closing(builder.sender().queueName(queue).buildClient()).sendMessage(new ServiceBusMessage("m"));
        assertEquals("m", receiveOne(receiver(queue)).getBody().toString());
    }

    @Test
    @Proves("auth.namedkey")
    void a_named_key() {
        works(queue(), new ServiceBusClientBuilder().credential("localhost", new AzureNamedKeyCredential("RootManageSharedAccessKey", "SAS_KEY_VALUE"))
            .customEndpointAddress("https://localhost:" + Bus.TLS));
    }

    @Test
    @Proves("auth.signature")
    void a_ready_made_signature() throws Exception {
        final CreateQueueOptions options = new CreateQueueOptions();
        options.getAuthorizationRules().add(new SharedAccessAuthorizationRule("sends", SECRET, List.of(AccessRights.SEND)));
        final String queue = queue(options);
        final String resource = URLEncoder.encode("sb://localhost/" + queue, StandardCharsets.UTF_8);
        final long expiry = Instant.now().plusSeconds(3600).getEpochSecond();
        final Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        final String signature = Base64.getEncoder().encodeToString(mac.doFinal((resource + "\n" + expiry).getBytes(StandardCharsets.UTF_8)));
        works(queue, new ServiceBusClientBuilder().connectionString("Endpoint=sb://localhost:" + Bus.TLS
            + ";SharedAccessSignature=SharedAccessSignature sr=" + resource + "&sig=" + URLEncoder.encode(signature, StandardCharsets.UTF_8)
            + "&se=" + expiry + "&skn=sends"));
    }

    @Test
    @Proves({"err.retry", "err.deleted", "err.subscription", "topic.noreceive"})
    void what_is_not_transient() {
        final var patient = Bus.clients().retryOptions(new AmqpRetryOptions().setMaxRetries(5).setDelay(Duration.ofSeconds(10)));
        final long begin = System.nanoTime();
        final var sender = closing(patient.sender().queueName("missing").buildClient());
        final var missing = refused(ServiceBusFailureReason.MESSAGING_ENTITY_NOT_FOUND, () -> sender.sendMessage(new ServiceBusMessage("m")));
        assertEquals(false, missing.isTransient());
        final String topic = AdminTopicsTest.topic();
        final var none = closing(patient.receiver().topicName(topic).subscriptionName("none").disableAutoComplete().buildClient());
        refused(ServiceBusFailureReason.MESSAGING_ENTITY_NOT_FOUND, () -> none.peekMessage());
        final var unread = closing(patient.receiver().queueName(topic).disableAutoComplete().buildClient());
        assertThrows(RuntimeException.class, () -> unread.receiveMessages(1, BRIEFLY).forEach(m -> { }));
        final String queue = queue();
        final var receiver = closing(patient.receiver().queueName(queue).disableAutoComplete().buildClient());
        assertEmpty(receiver);
        admin.deleteQueue(queue);
        assertThrows(RuntimeException.class, () -> receiver.receiveMessages(1, Duration.ofSeconds(5)).forEach(m -> { }));
        assertTrue(System.nanoTime() - begin < Duration.ofSeconds(15).toNanos());
    }
}
