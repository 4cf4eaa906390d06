package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.exception.ResourceExistsException;
import com.azure.core.exception.ResourceNotFoundException;
import com.azure.core.util.Context;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.administration.models.AccessRights;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.EntityStatus;
import com.azure.messaging.servicebus.administration.models.MessagingSku;
import com.azure.messaging.servicebus.administration.models.QueueProperties;
import com.azure.messaging.servicebus.administration.models.SharedAccessAuthorizationRule;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** ServiceBusAdministrationClient: queues, and the namespace itself. */
class AdminQueuesTest extends Case {
    /** What the SDK asks for where nothing was said: almost the service's longest duration. */
    static final Duration MAX = Duration.parse("P10675199DT2H48M5.477S");

    /** The service's longest duration, of 2^63-1 units of 100 nanoseconds. It is that of whatever forwards (FWD-13). */
    static final Duration LONGEST = Duration.parse("P10675199DT2H48M5.4775807S");

    /** What a queue is when nothing was asked for. */
    private static final Map<String, Object> DEFAULTS = defaults();

    private static Map<String, Object> defaults() {
        final Map<String, Object> d = new HashMap<>();
        d.put("AuthorizationRules", List.of());
        d.put("AutoDeleteOnIdle", MAX);
        d.put("BatchedOperationsEnabled", true);
        d.put("DeadLetteringOnMessageExpiration", false);
        d.put("DefaultMessageTimeToLive", MAX);
        d.put("DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(1));
        d.put("DuplicateDetectionRequired", false);
        d.put("ForwardDeadLetteredMessagesTo", null);
        d.put("ForwardTo", null);
        d.put("LockDuration", Duration.ofMinutes(1));
        d.put("MaxDeliveryCount", 10);
        d.put("MaxMessageSizeInKilobytes", 256L);
        d.put("MaxSizeInMegabytes", 1024L);
        d.put("PartitioningEnabled", false);
        d.put("SessionRequired", false);
        d.put("Status", EntityStatus.ACTIVE);
        d.put("UserMetadata", null);
        return d;
    }

    private static Map<String, Object> read(QueueProperties queue) {
        return Bus.properties(queue, "Name");
    }

    /** Creates it and compares the answer and what is read later. */
    private void created(CreateQueueOptions options, Map<String, ?> given) {
        final String name = Bus.name("Queue");
        final QueueProperties created = admin.createQueue(name, options);
        assertEquals(name, created.getName());
        assertEquals(Bus.with(DEFAULTS, given), read(created));
        assertEquals(Bus.with(DEFAULTS, given), read(admin.getQueue(name)));
    }

    @Test
    @Proves("admin.queuedefaults")
    void defaults_are_read_back() {
        created(new CreateQueueOptions(), Map.of());
        assertEquals(Bus.with(DEFAULTS, Map.of()), read(admin.createQueue(Bus.name("queue"))));
    }

    @Test
    void every_property_is_read_back() {
        created(new CreateQueueOptions().setAutoDeleteOnIdle(Duration.ofMinutes(10)).setDeadLetteringOnMessageExpiration(true)
                .setDefaultMessageTimeToLive(Duration.ofMinutes(11)).setDuplicateDetectionHistoryTimeWindow(Duration.ofMinutes(12))
                .setBatchedOperationsEnabled(false).setLockDuration(Duration.ofSeconds(13)).setMaxDeliveryCount(14)
                .setMaxSizeInMegabytes(3072).setDuplicateDetectionRequired(true).setSessionRequired(true)
                .setUserMetadata("<kept> & \"read\" \u20ac").setMaxMessageSizeInKilobytes(2048),
            Map.ofEntries(Map.entry("AutoDeleteOnIdle", Duration.ofMinutes(10)), Map.entry("DeadLetteringOnMessageExpiration", true),
                Map.entry("DefaultMessageTimeToLive", Duration.ofMinutes(11)),
                Map.entry("DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(12)),
                Map.entry("BatchedOperationsEnabled", false), Map.entry("LockDuration", Duration.ofSeconds(13)),
                Map.entry("MaxDeliveryCount", 14), Map.entry("MaxSizeInMegabytes", 3072L),
                Map.entry("DuplicateDetectionRequired", true), Map.entry("SessionRequired", true),
                Map.entry("UserMetadata", "<kept> & \"read\" \u20ac"), Map.entry("MaxMessageSizeInKilobytes", 2048L)));
        created(new CreateQueueOptions().setPartitioningEnabled(true).setMaxSizeInMegabytes(16384),
            Map.of("PartitioningEnabled", true, "MaxSizeInMegabytes", 16384L));
        created(new CreateQueueOptions().setStatus(EntityStatus.SEND_DISABLED), Map.of("Status", EntityStatus.SEND_DISABLED));
    }

    @Test
    @Proves("admin.queueforward")
    void forwarding_is_read_back_and_undone() {
        final String target = queue();
        final QueueProperties queue = admin.createQueue(Bus.name("queue"),
            new CreateQueueOptions().setForwardTo(target).setForwardDeadLetteredMessagesTo(target));
        assertEquals("https://localhost/" + target, queue.getForwardTo());
        assertEquals("https://localhost/" + target, queue.getForwardDeadLetteredMessagesTo());
        admin.updateQueue(queue.setForwardTo(null).setForwardDeadLetteredMessagesTo(null));
        final QueueProperties now = admin.getQueue(queue.getName());
        assertNull(now.getForwardTo());
        assertNull(now.getForwardDeadLetteredMessagesTo());
    }

    @Test
    @Proves("admin.queuepolicies")
    void authorization_rules_are_read_back() {
        final SharedAccessAuthorizationRule rule = new SharedAccessAuthorizationRule("mine",
            "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=",
            List.of(AccessRights.MANAGE, AccessRights.SEND, AccessRights.LISTEN));
        final CreateQueueOptions options = new CreateQueueOptions();
        options.getAuthorizationRules().add(rule);
        final QueueProperties got = admin.getQueue(queue(options));
        assertEquals(1, got.getAuthorizationRules().size());
        assertEquals(Bus.properties(rule, "CreatedAt", "ModifiedAt"),
            Bus.properties(got.getAuthorizationRules().get(0), "CreatedAt", "ModifiedAt"));
        admin.updateQueue(got.setUserMetadata("m"));
        assertEquals(rule.getPrimaryKey(), admin.getQueue(got.getName()).getAuthorizationRules().get(0).getPrimaryKey());
    }

    @Test
    @Proves("admin.queueproperties")
    void what_may_change_changes() {
        final QueueProperties queue = admin.createQueue(Bus.name("queue"));
        final QueueProperties updated = admin.updateQueue(queue.setAutoDeleteOnIdle(Duration.ofMinutes(20))
            .setDeadLetteringOnMessageExpiration(true).setDefaultMessageTimeToLive(Duration.ofMinutes(21))
            .setDuplicateDetectionHistoryTimeWindow(Duration.ofMinutes(2)).setBatchedOperationsEnabled(false)
            .setLockDuration(Duration.ofMinutes(2)).setMaxDeliveryCount(24).setMaxSizeInMegabytes(2048)
            .setStatus(EntityStatus.RECEIVE_DISABLED).setUserMetadata("new").setMaxMessageSizeInKilobytes(512));
        final Map<String, Object> want = Bus.with(DEFAULTS, Map.ofEntries(
            Map.entry("AutoDeleteOnIdle", Duration.ofMinutes(20)), Map.entry("DeadLetteringOnMessageExpiration", true),
            Map.entry("DefaultMessageTimeToLive", Duration.ofMinutes(21)),
            Map.entry("DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(2)),
            Map.entry("BatchedOperationsEnabled", false), Map.entry("LockDuration", Duration.ofMinutes(2)),
            Map.entry("MaxDeliveryCount", 24), Map.entry("MaxSizeInMegabytes", 2048L),
            Map.entry("Status", EntityStatus.RECEIVE_DISABLED), Map.entry("UserMetadata", "new"),
            Map.entry("MaxMessageSizeInKilobytes", 512L)));
        assertEquals(want, read(updated));
        assertEquals(want, read(admin.getQueue(queue.getName())));
    }

    @Test
    @Proves("admin.queuebad")
    void bad_values_are_refused() {
        for (CreateQueueOptions options : List.of(
            new CreateQueueOptions().setLockDuration(Duration.ofMinutes(6)), new CreateQueueOptions().setMaxDeliveryCount(0),
            new CreateQueueOptions().setAutoDeleteOnIdle(Duration.ofMinutes(1)),
            new CreateQueueOptions().setDuplicateDetectionHistoryTimeWindow(Duration.ofDays(8)),
            new CreateQueueOptions().setMaxMessageSizeInKilobytes(200_000), new CreateQueueOptions().setMaxSizeInMegabytes(-1))) {
            final HttpResponseException e = refused(HttpResponseException.class, 400, () -> queue(options));
            assertTrue(e.getMessage().contains("SubCode=40000"), e.getMessage());
        }
        refused(HttpResponseException.class, 400, () -> admin.createQueue("bad name*"));
        refused(HttpResponseException.class, 400, () -> admin.createQueue("q".repeat(261)));
    }

    @Test
    @Proves("admin.queueexists")
    void what_exists_is_a_conflict() {
        final String name = queue();
        final ResourceExistsException e = refused(ResourceExistsException.class, 409, () -> admin.createQueue(name));
        assertTrue(e.getMessage().contains("SubCode=40900"), e.getMessage());
        refused(ResourceExistsException.class, 409, () -> admin.createTopic(name));
    }

    @Test
    @Proves({"admin.queuemissing", "admin.queuehas"})
    void what_does_not_exist_is_not_found() {
        final QueueProperties queue = admin.createQueue(Bus.name("queue"));
        assertTrue(admin.getQueueExists(queue.getName()));
        admin.deleteQueue(queue.getName());
        assertFalse(admin.getQueueExists(queue.getName()));
        // The service answers a read with an empty feed, of which the SDK makes this exception.
        refused(ResourceNotFoundException.class, 200, () -> admin.getQueue(queue.getName()));
        refused(ResourceNotFoundException.class, 200, () -> admin.getQueueRuntimeProperties(queue.getName()));
        refused(ResourceNotFoundException.class, 404, () -> admin.deleteQueue(queue.getName()));
        refused(ResourceNotFoundException.class, 404, () -> admin.updateQueue(queue));
    }

    @Test
    @Proves("admin.queue")
    void statuses_of_http() {
        final String name = Bus.name("queue");
        assertEquals(201, admin.createQueueWithResponse(name, new CreateQueueOptions(), Context.NONE).getStatusCode());
        assertEquals(200, admin.getQueueWithResponse(name, Context.NONE).getStatusCode());
        assertEquals(200, admin.updateQueueWithResponse(admin.getQueue(name), Context.NONE).getStatusCode());
        assertEquals(200, admin.deleteQueueWithResponse(name, Context.NONE).getStatusCode());
    }

    @Test
    @Proves("admin.queuenames")
    void names_match_in_any_case_and_are_listed_in_lower_case() {
        final String base = Bus.name("Queue");
        for (String name : List.of(base, base + "/with/slashes", base + ".dots_and-dashes", base + "-", "q".repeat(260))) {
            assertEquals(name, admin.createQueue(name).getName());
            assertEquals(10, admin.getQueue(name.toUpperCase()).getMaxDeliveryCount());
            listed(() -> admin.listQueues().stream().anyMatch(q -> q.getName().equals(name.toLowerCase())));
            admin.deleteQueue(name.toLowerCase());
            assertFalse(admin.getQueueExists(name));
        }
    }

    /** More than a page of a hundred; other tests make and delete entities meanwhile. */
    @Test
    @Proves("admin.queuelist")
    void lists_have_pages() {
        final String prefix = Bus.name("page");
        final List<String> names = new ArrayList<>();
        for (int i = 0; i < 105; i++) {
            names.add(admin.createQueue(prefix + "-" + i).getName());
        }
        listed(() -> names.stream().sorted().toList().equals(
            admin.listQueues().stream().map(QueueProperties::getName).filter(n -> n.startsWith(prefix)).distinct().sorted().toList()));
        names.forEach(admin::deleteQueue);
    }

    @Test
    @Proves("admin.queuecounts")
    void counts_sizes_and_times() {
        final String name = queue();
        send(name, "deferred", "dead", "locked", "waiting");
        sender(name).scheduleMessage(new ServiceBusMessage("scheduled"), OffsetDateTime.now().plusHours(1));
        final var receiver = receiver(name);
        final var got = receive(receiver, 3);
        receiver.defer(got.get(0));
        receiver.deadLetter(got.get(1));
        final var now = admin.getQueueRuntimeProperties(name);
        assertEquals(Map.of("ActiveMessageCount", 3, "DeadLetterMessageCount", 1, "Name", name, "ScheduledMessageCount", 1,
                "TotalMessageCount", 5L, "TransferDeadLetterMessageCount", 0, "TransferMessageCount", 0),
            Bus.properties(now, "SizeInBytes", "CreatedAt", "UpdatedAt", "AccessedAt"));
        assertTrue(now.getSizeInBytes() > 0);
        for (OffsetDateTime time : List.of(now.getCreatedAt(), now.getUpdatedAt(), now.getAccessedAt())) {
            assertTrue(Duration.between(time, OffsetDateTime.now()).abs().toMinutes() < 5, time.toString());
        }
    }

    @Test
    @Proves("admin.namespace")
    void namespace() {
        final var got = admin.getNamespaceProperties();
        assertEquals(Bus.NAMESPACE, got.getName());
        assertEquals(MessagingSku.STANDARD, got.getMessagingSku());
        assertNotNull(got.getCreatedTime());
        assertNotNull(got.getModifiedTime());
    }
}
