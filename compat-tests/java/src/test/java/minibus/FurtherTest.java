package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpClientOptions;
import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.amqp.models.AmqpAddress;
import com.azure.core.amqp.models.AmqpMessageBody;
import com.azure.core.credential.AccessToken;
import com.azure.core.credential.AzureSasCredential;
import com.azure.core.exception.ClientAuthenticationException;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusServiceVersion;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import com.azure.messaging.servicebus.administration.models.AccessRights;
import com.azure.messaging.servicebus.administration.models.CorrelationRuleFilter;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.RuleProperties;
import com.azure.messaging.servicebus.administration.models.SharedAccessAuthorizationRule;
import com.azure.messaging.servicebus.models.AbandonOptions;
import com.azure.messaging.servicebus.models.ServiceBusMessageState;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import com.azure.messaging.servicebus.models.SubQueue;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What the other classes leave out of compat-tests/cases: what is not set, names, further sections of a message, credentials. */
class FurtherTest extends Case {
    private static final String ROOT = "RootManageSharedAccessKey";
    private static final String TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    /** A client without a connection string, which tries once. */
    private static ServiceBusClientBuilder bare() {
        return new ServiceBusClientBuilder().fullyQualifiedNamespace("localhost").customEndpointAddress("https://localhost:" + Bus.TLS)
            .retryOptions(new AmqpRetryOptions().setMaxRetries(0));
    }

    private static String signature(String key, int seconds) throws Exception {
        final String resource = URLEncoder.encode("sb://localhost/", StandardCharsets.UTF_8);
        final long expiry = Instant.now().plusSeconds(seconds).getEpochSecond();
        final Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        final String hash = Base64.getEncoder().encodeToString(mac.doFinal((resource + "\n" + expiry).getBytes(StandardCharsets.UTF_8)));
        return "SharedAccessSignature sr=" + resource + "&sig=" + URLEncoder.encode(hash, StandardCharsets.UTF_8) + "&se=" + expiry + "&skn=" + ROOT;
    }

    @Test
    @Proves("conn.identifier")
    void one_identifier_for_all() {
        final String queue = queue();
        for (int i = 0; i < 2; i++) {
            final var builder = Bus.clients().clientOptions(new AmqpClientOptions().setIdentifier("worker-1"));
            final var receiver = closing(builder.receiver().queueName(queue).disableAutoComplete().buildClient());
            closing(builder.sender().queueName(queue).buildClient()).sendMessage(new ServiceBusMessage("m"));
            receiver.complete(receiveOne(receiver));
        }
    }

    @Test
    @Proves("auth.tokenrefused")
    void a_token_of_an_unknown_issuer() {
        final var token = new AccessToken("header.eyJhdWQiOiJzYiJ9.signature", OffsetDateTime.now().plusHours(1));
        final var sender = closing(bare().credential("localhost", request -> Mono.just(token)).sender().queueName(queue()).buildClient());
        assertThrows(ServiceBusException.class, () -> sender.sendMessage(new ServiceBusMessage("m")));
    }

    @Test
    @Proves("send.none")
    void nothing_is_sent() {
        final String queue = queue();
        final var sender = sender(queue);
        sender.sendMessages(List.of());
        sender.sendMessages(sender.createMessageBatch());
        assertEmpty(receiver(queue));
    }

    @Test
    @Proves("prop.none")
    void nothing_is_set() {
        final String queue = queue();
        send(queue, "m");
        final ServiceBusReceiverClient receiver = receiver(queue);
        for (ServiceBusReceivedMessage m : List.of(receiver.peekMessage(), receiveOne(receiver))) {
            for (Object value : new Object[] {m.getCorrelationId(), m.getSubject(), m.getContentType(), m.getTo(), m.getReplyTo(),
                m.getReplyToSessionId(), m.getSessionId(), m.getPartitionKey(), m.getScheduledEnqueueTime(), m.getDeadLetterReason(),
                m.getDeadLetterErrorDescription(), m.getDeadLetterSource()}) {
                assertNull(value);
            }
            assertEquals(Map.of(), m.getApplicationProperties());
        }
    }

    @Test
    @Proves({"app.names", "app.char", "app.uri", "trace.keep"})
    void names_and_kinds_of_properties() {
        final Map<String, Object> sent = new LinkedHashMap<>(Map.of("name", "lower", "NAME", "upper", "größe", "g", "日本語", "j", "a b.c-d", "a",
            "🚌", "bus", "Diagnostic-Id", TRACE, "traceparent", TRACE, "tracestate", "a=b"));
        sent.put("char", '€');
        sent.put("address", URI.create("https://example.test/a?b=c#d"));
        for (int i = 0; i < 200; i++) {
            sent.put("n" + i, "" + i);
        }
        final String queue = queue();
        final ServiceBusMessage message = new ServiceBusMessage("m");
        message.getApplicationProperties().putAll(sent);
        sender(queue).sendMessage(message);
        assertEquals(sent, receiveOne(receiver(queue)).getApplicationProperties());
    }

    @Test
    @Proves("raw.properties")
    void further_properties() {
        final String queue = queue();
        final ServiceBusMessage message = new ServiceBusMessage("m");
        final var sent = message.getRawAmqpMessage().getProperties();
        sent.setUserId("user".getBytes(StandardCharsets.UTF_8)).setContentEncoding("gzip").setGroupSequence(9L).setTo(new AmqpAddress("sb://example.test/to"));
        sender(queue).sendMessage(message);
        final var got = receiveOne(receiver(queue)).getRawAmqpMessage().getProperties();
        assertEquals(List.of("user", "gzip", 9L, "sb://example.test/to"), List.of(new String(got.getUserId(), StandardCharsets.UTF_8),
            got.getContentEncoding(), got.getGroupSequence(), got.getTo().toString()));
    }

    @Test
    @Proves("body.value")
    void values_of_other_kinds() {
        final String queue = queue();
        final var sender = sender(queue);
        final var receiver = receiver(queue);
        for (Object value : List.of(true, false, 'x', new UUID(7, 7), Date.from(Instant.ofEpochMilli(1_700_000_000_001L)))) {
            sender.sendMessage(new ServiceBusMessage(AmqpMessageBody.fromValue(value)));
            assertEquals(value, receiveOne(receiver).getRawAmqpMessage().getBody().getValue());
        }
    }

    @Test
    @Proves("err.deletedsender")
    void the_queue_of_a_sender_is_deleted() {
        final String queue = queue();
        final var sender = sender(queue);
        sender.sendMessage(new ServiceBusMessage("lost"));
        admin.deleteQueue(queue);
        assertThrows(ServiceBusException.class, () -> sender.sendMessage(new ServiceBusMessage("m")));
        admin.createQueue(queue);
        sender.sendMessage(new ServiceBusMessage("m"));
        assertEquals(1, receiveOne(receiver(queue)).getSequenceNumber());
    }

    private ServiceBusReceiverClient subscription(String topic, String name) {
        return closing(clients().receiver().topicName(topic).subscriptionName(name).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO)
            .buildClient());
    }

    @Test
    @Proves("topic.later")
    void a_new_subscription() {
        final String topic = AdminTopicsTest.topic();
        final var sender = closing(clients().sender().topicName(topic).buildClient());
        admin.createSubscription(topic, "early");
        sender.sendMessage(new ServiceBusMessage("first"));
        admin.createSubscription(topic, "late");
        sender.sendMessage(new ServiceBusMessage("second"));
        assertEquals(List.of("first", "second"), bodies(receive(subscription(topic, "early"), 2)));
        assertEquals("second", receiveOne(subscription(topic, "late")).getBody().toString());
    }

    @Test
    @Proves({"rule.fields", "rule.types", "rule.nosubscription", "rule.close"})
    void rules_over_amqp() {
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
        final var rules = clients().ruleManager().topicName(topic).subscriptionName("s").buildClient();
        final CorrelationRuleFilter filter = new CorrelationRuleFilter("c").setMessageId("m").setTo("t").setReplyTo("r").setLabel("l <&> €")
            .setSessionId("s").setReplyToSessionId("rs").setContentType("ct");
        filter.getProperties().putAll(Map.of("text", "t", "int", 5, "long", 1L << 40, "double", 1.5, "yes", true));
        rules.createRule("correlation", new CreateRuleOptions(filter));
        rules.deleteRule("$Default");
        final List<RuleProperties> got = rules.listRules().stream().toList();
        assertEquals(List.of("correlation"), got.stream().map(RuleProperties::getName).toList());
        final CorrelationRuleFilter read = (CorrelationRuleFilter) got.get(0).getFilter();
        assertEquals(Bus.properties(filter, "Properties"), Bus.properties(read, "Properties"));
        assertEquals(new TreeMap<>(filter.getProperties()).toString(), new TreeMap<>(read.getProperties()).toString());
        final var sender = closing(clients().sender().topicName(topic).buildClient());
        for (String body : List.of("other", "m")) {
            final ServiceBusMessage message = new ServiceBusMessage(body).setCorrelationId("c").setMessageId("m").setTo("t").setReplyTo("r")
                .setSubject("l <&> €").setSessionId("s").setReplyToSessionId("rs").setContentType("ct");
            message.getApplicationProperties().putAll(filter.getProperties());
            if (body.equals("other")) {
                message.getApplicationProperties().put("double", 1.25);
            }
            sender.sendMessage(message);
        }
        assertEquals("m", receiveOne(subscription(topic, "s")).getBody().toString());
        final var missing = closing(clients().ruleManager().topicName(topic).subscriptionName("missing").buildClient());
        assertThrows(RuntimeException.class, () -> missing.listRules().stream().count());
        rules.close();
        assertThrows(RuntimeException.class, () -> rules.listRules().stream().count());
    }

    private ServiceBusReceiverClient accept(String queue, String session) {
        return closing(closing(Bus.clients().retryOptions(new AmqpRetryOptions().setMaxRetries(0)).sessionReceiver().queueName(queue)
            .disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO).buildClient()).acceptSession(session));
    }

    @Test
    @Proves("sess.case")
    void session_ids_in_any_case() {
        final String queue = queue(new CreateQueueOptions().setSessionRequired(true));
        sender(queue).sendMessage(new ServiceBusMessage("m").setSessionId("ORDER-1"));
        final var session = accept(queue, "order-1");
        final var m = receiveOne(session);
        assertEquals("ORDER-1", m.getSessionId());
        session.setSessionState("half".getBytes(StandardCharsets.UTF_8));
        assertThrows(RuntimeException.class, () -> accept(queue, "Order-1"));
        session.complete(m);
        session.close();
        assertEquals("half", new String(accept(queue, "ORDER-1").getSessionState(), StandardCharsets.UTF_8));
    }

    @Test
    @Proves("peek.deferred")
    void a_deferred_message_of_a_session() {
        final String queue = queue(new CreateQueueOptions().setSessionRequired(true));
        sender(queue).sendMessage(new ServiceBusMessage("m").setSessionId("s"));
        final var session = accept(queue, "s");
        session.defer(receiveOne(session));
        final var m = session.peekMessage(1);
        assertEquals(ServiceBusMessageState.DEFERRED, m.getState());
        assertNotNull(m.getLockedUntil());
    }

    @Test
    @Proves({"admin.lowercase", "admin.hyphen", "admin.dollar", "admin.topicaccess"})
    void names() {
        assertFalse(admin.getQueueExists("$verification"));
        final String queue = Bus.name("Further.Queue") + "-";
        final String topic = Bus.name("Shop/Fault--Order") + "--";
        admin.createQueue(queue);
        admin.createTopic(topic);
        final OffsetDateTime before = admin.getTopicRuntimeProperties(topic).getAccessedAt();
        admin.createSubscription(topic, "Mixed");
        assertTrue(admin.getTopicRuntimeProperties(topic).getAccessedAt().isAfter(before));
        listed(() -> admin.listQueues().stream().anyMatch(q -> q.getName().equals(queue.toLowerCase())));
        listed(() -> admin.listTopics().stream().anyMatch(t -> t.getName().equals(topic.toLowerCase())));
    }

    @Test
    @Proves("admin.policytimes")
    void times_of_authorization_rules() {
        final CreateQueueOptions options = new CreateQueueOptions();
        options.getAuthorizationRules().add(new SharedAccessAuthorizationRule("sends", List.of(AccessRights.SEND)));
        final var rule = admin.getQueue(queue(options)).getAuthorizationRules().iterator().next();
        assertFalse(rule.getModifiedAt().isBefore(rule.getCreatedAt()));
    }

    @Test
    @Proves("admin.queuepartitions")
    void a_partitioned_queue() {
        final String queue = queue(new CreateQueueOptions().setPartitioningEnabled(true).setMaxSizeInMegabytes(2048));
        assertEquals(16 * 2048, admin.getQueue(queue).getMaxSizeInMegabytes());
    }

    @Test
    @Proves({"admin.versions", "admin.signature"})
    void versions_and_a_signature() throws Exception {
        final String queue = queue();
        for (ServiceBusServiceVersion version : ServiceBusServiceVersion.values()) {
            assertEquals(queue, Bus.administration().serviceVersion(version).buildClient().getQueue(queue).getName());
        }
        for (String key : List.of("SAS_KEY_VALUE", "wrong")) {
            final var signed = new ServiceBusAdministrationClientBuilder().endpoint("https://localhost")
                .credential(new AzureSasCredential(signature(key, 3600))).buildClient();
            if (key.equals("wrong")) {
                assertThrows(ClientAuthenticationException.class, () -> signed.getQueue(queue));
            } else {
                assertEquals(queue, signed.getQueue(queue).getName());
            }
        }
    }

    @Test
    @Proves("settle.types")
    void properties_of_every_type_are_changed() {
        final String queue = queue();
        send(queue, "m");
        final var receiver = receiver(queue);
        final Map<String, Object> changed = Map.of("text", "größe", "int", 5, "long", 1L << 40, "double", 1.5, "yes", true);
        receiver.abandon(receiveOne(receiver), new AbandonOptions().setPropertiesToModify(changed));
        assertEquals(changed, receiveOne(receiver).getApplicationProperties());
    }

    @Test
    @Proves("peek.most")
    void at_most_250() {
        final String queue = queue();
        send(queue, IntStream.range(0, 300).mapToObj(Integer::toString).toArray(String[]::new));
        final var receiver = receiver(queue);
        assertEquals(250, receiver.peekMessages(1000).stream().count());
        assertEquals(50, receiver.peekMessages(1000).stream().count());
    }

    @Test
    @Proves("dlq.twice")
    void dead_letters_stay() {
        final String queue = queue();
        send(queue, "m");
        final var receiver = receiver(queue);
        receiver.deadLetter(receiveOne(receiver));
        final var letters = closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient());
        letters.deadLetter(receiveOne(letters)); // the SDK keeps the refusal to itself
        assertEquals(List.of("m"), bodies(letters.peekMessages(5, 1)));
    }

    @Test
    @Proves("sess.connection")
    void a_session_ends() {
        final String queue = queue(new CreateQueueOptions().setSessionRequired(true));
        sender(queue).sendMessage(new ServiceBusMessage("m").setSessionId("a"));
        final var sessions = Bus.clients().sessionReceiver().queueName(queue).disableAutoComplete().buildClient();
        final var first = sessions.acceptSession("a");
        receiveOne(first);
        first.close();
        sessions.close(); // with its connection
        assertEquals("m", receiveOne(accept(queue, "a")).getBody().toString());
    }

    private static void until(BooleanSupplier condition) throws InterruptedException {
        for (final long end = System.nanoTime() + SOON.toNanos(); !condition.getAsBoolean() && System.nanoTime() < end;) {
            Thread.sleep(20);
        }
    }

    @Test
    @Proves({"proc.delete", "proc.deadletter", "proc.prefetch"})
    void processors() throws Exception {
        final String queue = queue();
        send(queue, "bad", "1", "2", "3");
        final var receiver = receiver(queue);
        receiver.deadLetter(receiveOne(receiver));
        final List<String> seen = new CopyOnWriteArrayList<>();
        final var deleting = closing(clients().processor().queueName(queue).receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).prefetchCount(10)
            .processMessage(m -> seen.add(m.getMessage().getBody().toString())).processError(e -> { }).buildProcessorClient());
        deleting.start();
        until(() -> seen.size() == 3);
        assertEquals(List.of("1", "2", "3"), seen);
        final var letters = closing(clients().processor().queueName(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE)
            .processMessage(m -> seen.add(m.getMessage().getBody().toString())).processError(e -> { }).buildProcessorClient());
        letters.start();
        until(() -> admin.getQueueRuntimeProperties(queue).getTotalMessageCount() == 0);
        assertEquals(List.of("1", "2", "3", "bad"), seen);
    }

    @Test
    @Proves("proc.idle")
    void an_idle_session_makes_room() throws Exception {
        final String queue = queue(new CreateQueueOptions().setSessionRequired(true));
        sender(queue).sendMessages(List.of(new ServiceBusMessage("1").setSessionId("a"), new ServiceBusMessage("2").setSessionId("b")));
        final List<String> seen = new CopyOnWriteArrayList<>();
        final var processor = closing(clients().sessionProcessor().queueName(queue).maxConcurrentSessions(1).sessionIdleTimeout(Duration.ofSeconds(1))
            .processMessage(m -> seen.add(m.getMessage().getBody().toString())).processError(e -> { }).buildProcessorClient());
        processor.start();
        until(() -> seen.size() == 2);
        assertEquals(List.of("1", "2"), seen);
    }

    @Test
    @Proves("proc.missing")
    void a_processor_of_a_missing_queue() throws Exception {
        final String queue = Bus.name("queue");
        final List<String> seen = new CopyOnWriteArrayList<>();
        final List<Throwable> errors = new CopyOnWriteArrayList<>();
        final var processor = closing(clients().processor().queueName(queue)
            .processMessage(m -> seen.add(m.getMessage().getBody().toString())).processError(e -> errors.add(e.getException())).buildProcessorClient());
        processor.start();
        until(() -> !errors.isEmpty());
        admin.createQueue(queue);
        send(queue, "m");
        until(() -> !seen.isEmpty());
        assertEquals(List.of("m"), seen);
    }

    @Test
    @Proves("sess.prefetch")
    void what_was_fetched_ahead() {
        final String queue = queue(new CreateQueueOptions().setSessionRequired(true));
        sender(queue).sendMessages(List.of("1", "2", "3").stream().map(b -> new ServiceBusMessage(b).setSessionId("a")).toList());
        final var sessions = Bus.clients().sessionReceiver().queueName(queue).prefetchCount(10).disableAutoComplete().buildClient();
        final var first = sessions.acceptSession("a");
        first.complete(receiveOne(first));
        first.close();
        sessions.close();
        assertEquals(List.of("2", "3"), bodies(receive(accept(queue, "a"), 2)));
    }
}
