package minibus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.models.DeadLetterOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import minibus.junit.Minibus;
import org.junit.jupiter.api.Test;

/** Every verb of a namespace. */
@Minibus(queues = {"orders", "bulk"}, subscriptions = "events/Subscriptions/all", perTest = true)
class VerbsTest {
    private static ServiceBusClientBuilder client(MinibusNamespace bus) {
        return new ServiceBusClientBuilder().connectionString(bus.connectionString())
            .retryOptions(new AmqpRetryOptions().setTryTimeout(Duration.ofSeconds(20)));
    }

    private static String refused(Runnable step) {
        return assertThrows(MinibusException.class, step::run).detail();
    }

    private static void deadLetter(MinibusNamespace bus, String... bodies) {
        var builder = client(bus);
        try (var sender = builder.sender().queueName("orders").buildClient();
            var receiver = builder.receiver().queueName("orders").buildClient()) {
            for (var body : bodies) {
                sender.sendMessage(new ServiceBusMessage(body).setMessageId("id-" + body));
                var message = receiver.receiveMessages(1).iterator().next();
                receiver.deadLetter(message,
                    new DeadLetterOptions().setDeadLetterReason("poison").setDeadLetterErrorDescription("it is " + body));
            }
        }
    }

    @Test
    void put_makes_entities_what_they_are_declared_and_delete_removes_them(MinibusNamespace bus) {
        bus.put(e -> e
            .queue("work", q -> q.requiresSession(true).lockDuration(Duration.ofSeconds(30)).maxDeliveryCount(5)
                .defaultMessageTimeToLive(Duration.ofDays(1)).deadLetteringOnMessageExpiration(true)
                .forwardDeadLetteredMessagesTo("orders").detectsDuplicates(Duration.ofMinutes(2)))
            .topic("prices", t -> t
                .subscription("large", s -> s.filter("amount > 5"))
                .subscription("red", s -> s.correlation("red", Map.of("Label", "red")).forwardTo("bulk"))
                .subscription("changed", s -> s.rule("twice", "amount = 1", "SET amount = 2"))));
        var work = (Map<?, ?>) ((Map<?, ?>) bus.request("GET", "/entities/work", null)).get("properties");
        assertEquals("PT30S", work.get("LockDuration"));
        assertEquals(5L, work.get("MaxDeliveryCount"));
        assertEquals(true, work.get("RequiresSession"));
        assertEquals("orders", work.get("ForwardDeadLetteredMessagesTo"));
        bus.put(e -> e.queue("orders", q -> q.set("MaxSizeInMegabytes", 2048)));
        bus.put(e -> e.config("{\"Queues\": [{\"Name\": \"written\"}]} // a comment"));
        assertEquals(0, bus.counts("written").active());

        bus.send("prices", new MinibusMessage("1").property("amount", 1).subject("red"), new MinibusMessage("9").property("amount", 9));
        bus.waitFor(w -> w.entity("bulk").count("active", 1));
        assertEquals(List.of("9"), bodies(bus.messages("prices/Subscriptions/large")));
        assertEquals(2L, ((Number) bus.messages("prices/Subscriptions/changed").get(0).property("amount")).longValue());

        bus.delete("work");
        assertTrue(refused(() -> bus.counts("work")).contains("work"));
        assertTrue(refused(() -> bus.put(e -> e.queue("bad", q -> q.lockDuration(Duration.ofMinutes(10))))).contains("LockDuration"));
    }

    @Test
    void messages_go_and_come_with_all_that_they_have(MinibusNamespace bus) {
        var when = Instant.parse("2026-01-31T12:00:00Z");
        var id = UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
        var large = "x".repeat(5000) + "\u00e9";
        var numbers = bus.send("orders",
            new MinibusMessage("two \"coffees\"\n\u2615").messageId("order-7").subject("order").correlationId("c").contentType("text/plain")
                .timeToLive(Duration.ofMinutes(5)).property("int", 7).property("long", 8L).property("double", 0.5).property("yes", true)
                .property("text", "a").property("when", when).property("id", id).property("bytes", new byte[] {0, -1}).property("float", 2f)
                .property("short", (short) 3).property("none", null).property("big", Long.MAX_VALUE),
            new MinibusMessage(new byte[] {0, -1, 7}),
            new MinibusMessage(large),
            new MinibusMessage().scheduledEnqueueTime(bus.clock().now().plusSeconds(3600)));
        assertEquals(4, numbers.size());
        assertEquals(bus.send("bulk", "one"), bus.messages("bulk").get(0).sequenceNumber());

        var messages = bus.messages("orders");
        var first = messages.get(0);
        assertEquals("two \"coffees\"\n\u2615", first.body());
        assertEquals(List.of("order-7", "order", "c", "text/plain", "active"),
            List.of(first.messageId(), first.subject(), first.correlationId(), first.contentType(), first.state()));
        assertEquals(numbers.get(0), first.sequenceNumber());
        assertEquals(first.enqueuedTime().plusSeconds(300), first.expiresAt());
        assertEquals(List.of(7, 8L, 0.5, true, "a", when, id, 2f, (short) 3, Long.MAX_VALUE), IntStream.range(0, 10)
            .mapToObj(i -> first.property(List.of("int", "long", "double", "yes", "text", "when", "id", "float", "short", "big").get(i)))
            .toList());
        assertArrayEquals(new byte[] {0, -1}, (byte[]) first.property("bytes"));
        assertNull(first.property("absent"));
        assertEquals(0, first.deliveryCount());
        assertNull(first.sessionId());
        assertNull(first.lockedUntil());
        assertArrayEquals(new byte[] {0, -1, 7}, messages.get(1).bytes());
        assertEquals(large, messages.get(2).body());
        assertTrue(messages.get(3).scheduledEnqueueTime().isAfter(bus.clock().now()));
        assertEquals("", new String(messages.get(3).bytes()));

        var counts = bus.counts("orders");
        assertEquals(List.of(3L, 1L, 0L, 0L), List.of(counts.active(), counts.scheduled(), counts.deferred(), counts.deadLetter()));
        assertEquals(List.of("order-7"), bus.messages("orders", f -> f.messageId("order-7").subject("order")
            .sql("int = 7").text("COFFEES").states("active").before(bus.clock().now().plusSeconds(1))).stream()
            .map(MinibusMessage::messageId).toList());
        assertEquals(1, bus.messages("orders", f -> f.states("scheduled")).size());
        assertEquals(List.of(), bus.messages("orders", f -> f.messageId("it's not there")));
        assertEquals(List.of(), bus.messages("orders", f -> f.sessionId("s")));
        assertTrue(refused(() -> bus.send("orders", new MinibusMessage().set("mesageId", "x"))).contains("mesageId"));
    }

    @Test
    void many_messages_come_in_pages(MinibusNamespace bus) {
        for (var i = 0; i < 3; i++) {
            bus.send("bulk", IntStream.range(0, 700).mapToObj(n -> new MinibusMessage("m")).toArray(MinibusMessage[]::new));
        }
        assertEquals(2100, bus.messages("bulk").size());
        assertEquals(2100, bus.events(e -> e.kinds("sent").entity("bulk")).size());
        assertEquals(2100, bus.purge("bulk"));
    }

    private static List<String> bodies(List<MinibusMessage> messages) {
        return messages.stream().map(MinibusMessage::body).toList();
    }

    @Test
    void dead_letters_are_listed_and_resubmitted_with_changes(MinibusNamespace bus) {
        deadLetter(bus, "tea", "milk");
        var dead = bus.deadLetters("orders");
        assertEquals(List.of("tea", "milk"), bodies(dead));
        assertEquals("poison", dead.get(0).deadLetterReason());
        assertEquals("it is tea", dead.get(0).deadLetterErrorDescription());
        assertEquals(List.of("milk"), bodies(bus.deadLetters("orders", f -> f.deadLetterReason("poison").text("milk"))));

        assertEquals(1, bus.resubmit("orders", f -> f.text("milk"),
            e -> e.subject("again").body("cream").property("attempt", 2).removeProperties("nothing")));
        assertEquals(1, bus.resubmit("orders", f -> f.messageId("id-tea")));
        assertEquals(0, bus.resubmit("orders"));
        var again = bus.messages("orders");
        assertEquals(List.of("cream", "tea"), bodies(again));
        assertEquals("again", again.get(0).subject());
        assertEquals(2, again.get(0).property("attempt"));
        assertNull(again.get(0).deadLetterReason());

        assertEquals(1, bus.purge("orders", f -> f.subject("again")));
        assertEquals(1, bus.purge("orders"));
        assertTrue(refused(() -> bus.purge("ordres")).contains("ordres"));
    }

    @Test
    void a_resubmission_that_the_queue_refuses_says_so(MinibusNamespace bus) {
        deadLetter(bus, "tea");
        bus.put(e -> e.queue("orders", q -> q.set("Status", "SendDisabled")));
        assertTrue(refused(() -> bus.resubmit("orders")).startsWith("To resubmit messages of orders failed"));
        assertEquals(1, bus.deadLetters("orders").size());
    }

    @Test
    void the_clock_decides_what_is_due(MinibusNamespace bus) {
        var clock = bus.clock();
        clock.freeze();
        var now = clock.now();
        bus.send("orders", new MinibusMessage("later").scheduledEnqueueTime(now.plusSeconds(3600)));
        clock.advance(Duration.ofMinutes(59));
        assertEquals(1, bus.counts("orders").scheduled());
        clock.advance("1m");
        assertEquals(1, bus.counts("orders").active());
        assertEquals(now.plusSeconds(3600), clock.now());
        clock.set(now.plusSeconds(2 * 3600 + 1)); // messages live for an hour
        assertEquals(0, bus.counts("orders").active());
        clock.resume();
        assertFalse(clock.now().isBefore(now.plusSeconds(2 * 3600 + 1)));
        assertTrue(refused(() -> clock.set(now)).contains("back"));
    }

    @Test
    void durations_are_read_as_people_write_them() {
        assertEquals(Duration.ofMillis(90_500), Durations.parse("1m30s500ms"));
        assertEquals(Duration.ofHours(49), Durations.parse("2d1h"));
        assertEquals(Duration.ofHours(1), Durations.parse("PT1H"));
        assertThrows(IllegalArgumentException.class, () -> Durations.parse("1 hour"));
    }

    @Test
    void a_fault_hits_and_counts(MinibusNamespace bus, MinibusFaults faults) {
        var fault = faults.drop("orders", f -> f.operations("send").after().count(1));
        try (var sender = client(bus).retryOptions(new AmqpRetryOptions().setDelay(Duration.ofMillis(50))).sender()
            .queueName("orders").buildClient()) {
            sender.sendMessage(new ServiceBusMessage("once"));
        }
        assertEquals(1, fault.hits());
        assertEquals("drop", fault.kind());
        bus.waitFor(w -> w.entity("orders").count("active", 2)); // it was stored, and sent again
        fault.remove();
        fault.remove(); // is gone already
    }

    @Test
    void there_is_a_method_for_each_kind_of_fault(MinibusNamespace bus) {
        var f = bus.faults();
        f.throttle("orders", o -> o.count(2).skip(1).probability(0.5, 7).during(Duration.ofMinutes(1)).client("c1"));
        f.refuse("orders", o -> o.condition("unauthorized-access"));
        f.detach(null, o -> { });
        f.drop("orders", o -> { });
        f.close("orders", o -> { });
        f.loseLock("orders", o -> { });
        f.loseSession("orders", o -> { });
        f.delay("orders", o -> o.delay(Duration.ofMillis(5)));
        f.starve("orders", o -> { });
        f.failJournal("orders", o -> { });
        f.expireToken("orders", o -> o.operations("send"));
        try (var fault = f.inject(FaultKind.THROTTLE, o -> o.entity("bulk"))) {
            assertTrue(fault.id() > 0);
            assertEquals(12, f.list().size());
        }
        assertEquals(List.of("throttle", "refuse", "detach", "drop", "close", "loseLock", "loseSession", "delay", "starve", "failJournal",
            "expireToken"), f.list().stream().map(MinibusFault::kind).toList());
        for (var kind : FaultKind.values()) {
            assertTrue(f.list().stream().anyMatch(fault -> fault.kind().equals(kind.toString())));
        }
        f.remove();
        assertEquals(List.of(), f.list());
        assertTrue(refused(() -> f.throttle("ordres", o -> { })).contains("ordres"));
    }

    @Test
    void snapshots_and_reset(MinibusNamespace bus) {
        bus.send("orders", "one");
        bus.snapshot("seeded");
        bus.send("orders", "two");
        bus.snapshot("both");
        bus.restore("seeded");
        assertEquals(1, bus.counts("orders").active());
        bus.snapshot("both"); // replaces it
        bus.send("orders", "three");
        bus.restore("both");
        assertEquals(List.of("one"), bodies(bus.messages("orders")));
        bus.clock().advance("1m");
        bus.faults().drop("orders", f -> { });
        bus.put(e -> e.queues("more"));
        bus.reset();
        assertEquals(0, bus.counts("orders").active());
        assertEquals(List.of(), bus.faults().list());
        assertTrue(Duration.between(bus.clock().now(), Instant.now()).abs().toSeconds() < 30);
        assertTrue(refused(() -> bus.restore("nothing")).contains("nothing"));
    }

    @Test
    void a_wait_ends_when_all_holds(MinibusNamespace bus) {
        bus.waitFor(w -> w.entity("orders").idle().count("active", 0).atLeast("deadLetter", 0).atMost("scheduled", 0));
        var waited = CompletableFuture.runAsync(() -> bus.waitFor(w -> w.message("orders", f -> f.subject("wanted"))));
        bus.send("orders", new MinibusMessage("x").subject("wanted"));
        waited.join();
        bus.waitFor(w -> w.events(1, e -> e.kinds("sent").entity("orders").from(1)));
        var text = refused(() -> bus.waitFor(w -> w.entity("orders").idle().timeout(Duration.ofMillis(50))));
        assertTrue(text.startsWith("Not met after 0.05s: 1 active"), text);
        assertTrue(text.contains("; wanted: orders without a message"), text);
        assertTrue(text.contains("\nNo receiver is attached to orders."), text);
    }

    @Test
    void history_and_events(MinibusNamespace bus) {
        deadLetter(bus, "tea");
        var history = bus.history("id-tea");
        assertEquals(List.of("sent", "delivered", "deadLettered"), history.stream().map(Event::kind).toList());
        var dead = history.get(2);
        assertEquals("orders", dead.entity());
        assertTrue(dead.text().contains("poison"), dead.toString());
        assertFalse(dead.time().isBefore(history.get(0).time()));
        assertEquals(1, bus.events(e -> e.kinds("deadLettered").entity("orders").sequenceNumber(dead.sequenceNumber())).size());
        assertEquals(0, bus.events(e -> e.before(bus.clock().now().minusSeconds(600))).size());
        assertEquals(1, bus.events(e -> e.messageId("id-tea").since(bus.clock().now().minusSeconds(600))).size());
        assertEquals(0, bus.events(e -> e.client("c999")).size());
    }

    @Test
    void why_and_match_and_refusals_and_connections(MinibusNamespace bus) {
        var why = bus.why("orders");
        assertEquals("orders", why.entity());
        assertFalse(why.findings().isEmpty());
        assertTrue(why.toString().contains(why.findings().get(0).text()));

        bus.put(e -> e.topic("events", t -> t.subscription("large", s -> s.filter("amount > 5"))));
        var match = bus.match("events", new MinibusMessage().property("amount", 3));
        assertEquals(List.of("all"), match.reached());
        var large = match.subscriptions().stream().filter(s -> s.name().equals("large")).findFirst().orElseThrow();
        assertEquals("false", large.rules().get(0).outcome());

        assertEquals(List.of(), bus.refusals());
        try (var sender = client(bus).sender().queueName("ordres").buildClient()) {
            assertThrows(RuntimeException.class, () -> sender.sendMessage(new ServiceBusMessage("x")));
        }
        var refusal = bus.refusals().get(0);
        assertEquals("ordres", refusal.entity());
        assertTrue(refusal.text().contains("ordres"));

        try (var sender = client(bus).sender().queueName("orders").buildClient()) {
            sender.sendMessage(new ServiceBusMessage("x"));
            var links = bus.connections().stream().flatMap(c -> c.links().stream()).map(Connection.Link::entity).toList();
            assertTrue(links.contains("orders"), links.toString());
        }
    }

    @Test
    void arguments_that_are_wrong(MinibusNamespace bus) {
        for (var time : new String[] {"banana", "", null}) {
            var text = assertThrows(IllegalArgumentException.class, () -> bus.clock().advance(time)).getMessage();
            assertEquals("found the duration \"" + time + "\"; want one such as 1h, 90s or PT1H", text);
        }
        for (Consumer<String> verb : List.<Consumer<String>>of(bus::counts, bus::deadLetters, bus::purge, bus::delete)) {
            assertTrue(assertThrows(IllegalArgumentException.class, () -> verb.accept(null)).getMessage().startsWith("The argument entity is null"));
            assertTrue(assertThrows(IllegalArgumentException.class, () -> verb.accept("")).getMessage().startsWith("The argument entity is empty"));
        }
    }

    @Test
    void any_request(MinibusNamespace bus) {
        var tree = (Map<?, ?>) bus.request("GET", "/tree", null);
        assertTrue(tree.get("items").toString().contains("orders"));
        bus.request("PATCH", "/entities/orders", "{\"Properties\": {\"MaxDeliveryCount\": 9}}");
        bus.request("PATCH", "/entities/orders", Map.of("Properties", Map.of("MaxDeliveryCount", 9)));
        var refused = assertThrows(MinibusException.class, () -> bus.request("GET", "/entities/ordres", null));
        assertEquals(404, refused.status());
        assertTrue(refused.detail().contains("ordres"));
    }
}
