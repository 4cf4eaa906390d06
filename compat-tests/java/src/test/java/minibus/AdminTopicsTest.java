package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.exception.ResourceExistsException;
import com.azure.core.exception.ResourceNotFoundException;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.CreateSubscriptionOptions;
import com.azure.messaging.servicebus.administration.models.CreateTopicOptions;
import com.azure.messaging.servicebus.administration.models.EntityStatus;
import com.azure.messaging.servicebus.administration.models.SqlRuleFilter;
import com.azure.messaging.servicebus.administration.models.SubscriptionProperties;
import com.azure.messaging.servicebus.administration.models.TopicProperties;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** ServiceBusAdministrationClient: topics and subscriptions. */
class AdminTopicsTest extends Case {
    private static final Map<String, Object> TOPIC = topicDefaults();
    private static final Map<String, Object> SUBSCRIPTION = subscriptionDefaults();

    private static Map<String, Object> topicDefaults() {
        final Map<String, Object> d = new HashMap<>();
        d.put("AuthorizationRules", List.of());
        d.put("AutoDeleteOnIdle", AdminQueuesTest.MAX);
        d.put("BatchedOperationsEnabled", true);
        d.put("DefaultMessageTimeToLive", AdminQueuesTest.MAX);
        d.put("DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(1));
        d.put("DuplicateDetectionRequired", false);
        d.put("MaxMessageSizeInKilobytes", 256L);
        d.put("MaxSizeInMegabytes", 1024L);
        d.put("OrderingSupported", false);
        d.put("PartitioningEnabled", false);
        d.put("Status", EntityStatus.ACTIVE);
        d.put("UserMetadata", null);
        return d;
    }

    private static Map<String, Object> subscriptionDefaults() {
        final Map<String, Object> d = new HashMap<>();
        d.put("AutoDeleteOnIdle", AdminQueuesTest.MAX);
        d.put("BatchedOperationsEnabled", true);
        d.put("DeadLetteringOnFilterEvaluationExceptions", true);
        d.put("DeadLetteringOnMessageExpiration", false);
        d.put("DefaultMessageTimeToLive", AdminQueuesTest.MAX);
        d.put("ForwardDeadLetteredMessagesTo", null);
        d.put("ForwardTo", null);
        d.put("LockDuration", Duration.ofMinutes(1));
        d.put("MaxDeliveryCount", 10);
        d.put("SessionRequired", false);
        d.put("Status", EntityStatus.ACTIVE);
        d.put("UserMetadata", null);
        return d;
    }

    private static Map<String, Object> read(TopicProperties topic) {
        return Bus.properties(topic, "Name");
    }

    private static Map<String, Object> read(SubscriptionProperties subscription) {
        return Bus.properties(subscription, "TopicName", "SubscriptionName");
    }

    private static void created(CreateTopicOptions options, Map<String, ?> given) {
        final String name = Bus.name("Topic");
        final TopicProperties created = admin.createTopic(name, options);
        assertEquals(name, created.getName());
        assertEquals(Bus.with(TOPIC, given), read(created));
        assertEquals(Bus.with(TOPIC, given), read(admin.getTopic(name)));
    }

    private static void created(CreateSubscriptionOptions options, Map<String, ?> given) {
        final String topic = topic();
        final SubscriptionProperties created = admin.createSubscription(topic, "Sub", options);
        assertEquals(List.of(topic, "Sub"), List.of(created.getTopicName(), created.getSubscriptionName()));
        assertEquals(Bus.with(SUBSCRIPTION, given), read(created));
        assertEquals(Bus.with(SUBSCRIPTION, given), read(admin.getSubscription(topic, "Sub")));
    }

    static String topic() {
        return admin.createTopic(Bus.name("topic")).getName();
    }

    @Test
    void every_property_of_a_topic_is_read_back() {
        created(new CreateTopicOptions(), Map.of());
        created(new CreateTopicOptions().setAutoDeleteOnIdle(Duration.ofMinutes(10)).setDefaultMessageTimeToLive(Duration.ofMinutes(11))
                .setDuplicateDetectionHistoryTimeWindow(Duration.ofMinutes(12)).setBatchedOperationsEnabled(false)
                .setMaxSizeInMegabytes(3072).setDuplicateDetectionRequired(true).setOrderingSupported(true)
                .setUserMetadata("<kept>").setMaxMessageSizeInKilobytes(2048),
            Map.of("AutoDeleteOnIdle", Duration.ofMinutes(10), "DefaultMessageTimeToLive", Duration.ofMinutes(11),
                "DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(12), "BatchedOperationsEnabled", false,
                "MaxSizeInMegabytes", 3072L, "DuplicateDetectionRequired", true, "OrderingSupported", true,
                "UserMetadata", "<kept>", "MaxMessageSizeInKilobytes", 2048L));
        created(new CreateTopicOptions().setPartitioningEnabled(true).setMaxSizeInMegabytes(16384),
            Map.of("PartitioningEnabled", true, "MaxSizeInMegabytes", 16384L));
        created(new CreateTopicOptions().setStatus(EntityStatus.SEND_DISABLED), Map.of("Status", EntityStatus.SEND_DISABLED));
    }

    @Test
    void every_property_of_a_subscription_is_read_back() {
        created(new CreateSubscriptionOptions(), Map.of());
        created(new CreateSubscriptionOptions().setAutoDeleteOnIdle(Duration.ofMinutes(10)).setBatchedOperationsEnabled(false)
                .setEnableDeadLetteringOnFilterEvaluationExceptions(false).setDeadLetteringOnMessageExpiration(true)
                .setDefaultMessageTimeToLive(Duration.ofMinutes(11)).setLockDuration(Duration.ofSeconds(13)).setMaxDeliveryCount(14)
                .setSessionRequired(true).setStatus(EntityStatus.RECEIVE_DISABLED).setUserMetadata("<kept>"),
            Map.of("AutoDeleteOnIdle", Duration.ofMinutes(10), "BatchedOperationsEnabled", false,
                "DeadLetteringOnFilterEvaluationExceptions", false, "DeadLetteringOnMessageExpiration", true,
                "DefaultMessageTimeToLive", Duration.ofMinutes(11), "LockDuration", Duration.ofSeconds(13), "MaxDeliveryCount", 14,
                "SessionRequired", true, "Status", EntityStatus.RECEIVE_DISABLED, "UserMetadata", "<kept>"));
        final String target = queue();
        created(new CreateSubscriptionOptions().setForwardTo(target).setForwardDeadLetteredMessagesTo(target),
            Map.of("ForwardTo", "https://localhost/" + target, "ForwardDeadLetteredMessagesTo", "https://localhost/" + target,
                "AutoDeleteOnIdle", AdminQueuesTest.LONGEST));
    }

    @Test
    @Proves("admin.topicproperties")
    void what_may_change_of_a_topic_changes() {
        final TopicProperties topic = admin.createTopic(Bus.name("topic"));
        final TopicProperties updated = admin.updateTopic(topic.setAutoDeleteOnIdle(Duration.ofMinutes(20))
            .setDefaultMessageTimeToLive(Duration.ofMinutes(21)).setDuplicateDetectionHistoryTimeWindow(Duration.ofMinutes(2))
            .setMaxSizeInMegabytes(2048).setOrderingSupported(true).setStatus(EntityStatus.SEND_DISABLED).setUserMetadata("new")
            .setMaxMessageSizeInKilobytes(512));
        final Map<String, Object> want = Bus.with(TOPIC, Map.of("AutoDeleteOnIdle", Duration.ofMinutes(20),
            "DefaultMessageTimeToLive", Duration.ofMinutes(21), "DuplicateDetectionHistoryTimeWindow", Duration.ofMinutes(2),
            "MaxSizeInMegabytes", 2048L, "OrderingSupported", true, "Status", EntityStatus.SEND_DISABLED, "UserMetadata", "new",
            "MaxMessageSizeInKilobytes", 512L));
        assertEquals(want, read(updated));
        assertEquals(want, read(admin.getTopic(topic.getName())));
        refused(HttpResponseException.class, 400, () -> admin.updateTopic(topic.setDuplicateDetectionRequired(true)));
    }

    /** The SDK sends everything but the default time to live, which therefore goes back to the longest. */
    @Test
    @Proves({"admin.subproperties", "admin.subforward"})
    void what_may_change_of_a_subscription_changes() {
        final String topic = topic();
        final SubscriptionProperties subscription = admin.createSubscription(topic, "s");
        final SubscriptionProperties updated = admin.updateSubscription(subscription.setAutoDeleteOnIdle(Duration.ofMinutes(20))
            .setBatchedOperationsEnabled(false).setEnableDeadLetteringOnFilterEvaluationExceptions(false)
            .setDeadLetteringOnMessageExpiration(true).setLockDuration(Duration.ofMinutes(2)).setMaxDeliveryCount(24)
            .setStatus(EntityStatus.RECEIVE_DISABLED).setUserMetadata("new"));
        final Map<String, Object> want = Bus.with(SUBSCRIPTION, Map.of("AutoDeleteOnIdle", Duration.ofMinutes(20),
            "BatchedOperationsEnabled", false, "DeadLetteringOnFilterEvaluationExceptions", false,
            "DeadLetteringOnMessageExpiration", true, "LockDuration", Duration.ofMinutes(2), "MaxDeliveryCount", 24,
            "Status", EntityStatus.RECEIVE_DISABLED, "UserMetadata", "new", "DefaultMessageTimeToLive", AdminQueuesTest.LONGEST));
        assertEquals(want, read(updated));
        assertEquals(want, read(admin.getSubscription(topic, "s")));
        final String target = queue();
        assertEquals("https://localhost/" + target, admin.updateSubscription(updated.setForwardTo(target)).getForwardTo());
        assertNull(admin.updateSubscription(updated.setForwardTo(null)).getForwardTo());
    }

    @Test
    @Proves("admin.subrule")
    void a_subscription_with_its_first_rule() {
        final String topic = topic();
        admin.createSubscription(topic, "s", "mine", new CreateSubscriptionOptions(), new CreateRuleOptions(new SqlRuleFilter("a = 1")));
        final var rules = admin.listRules(topic, "s").stream().toList();
        assertEquals(1, rules.size());
        assertEquals("mine", rules.get(0).getName());
        assertEquals("a = 1", ((SqlRuleFilter) rules.get(0).getFilter()).getSqlExpression());
    }

    @Test
    @Proves({"admin.topicerrors", "admin.suberrors"})
    void what_exists_is_a_conflict() {
        final String topic = topic();
        admin.createSubscription(topic, "s");
        refused(ResourceExistsException.class, 409, () -> admin.createTopic(topic));
        refused(ResourceExistsException.class, 409, () -> admin.createQueue(topic));
        refused(ResourceExistsException.class, 409, () -> admin.createSubscription(topic, "s"));
    }

    @Test
    @Proves({"admin.topic", "admin.sub"})
    void what_does_not_exist_is_not_found() {
        final TopicProperties topic = admin.createTopic(Bus.name("topic"));
        final String name = topic.getName();
        final SubscriptionProperties subscription = admin.createSubscription(name, "s");
        assertTrue(admin.getTopicExists(name));
        assertTrue(admin.getSubscriptionExists(name, "s"));
        admin.deleteSubscription(name, "s");
        assertFalse(admin.getSubscriptionExists(name, "s"));
        refused(ResourceNotFoundException.class, 404, () -> admin.getSubscription(name, "s"));
        refused(ResourceNotFoundException.class, 404, () -> admin.deleteSubscription(name, "s"));
        refused(ResourceNotFoundException.class, 404, () -> admin.updateSubscription(subscription));
        admin.deleteTopic(name);
        assertFalse(admin.getTopicExists(name));
        refused(ResourceNotFoundException.class, 200, () -> admin.getTopic(name));
        refused(ResourceNotFoundException.class, 404, () -> admin.deleteTopic(name));
        refused(ResourceNotFoundException.class, 404, () -> admin.updateTopic(topic));
        refused(ResourceNotFoundException.class, 404, () -> admin.createSubscription(name, "s"));
    }

    @Test
    @Proves({"admin.sublist", "admin.topiclist", "admin.rulelist"})
    void lists() {
        final String topic = topic();
        final String prefix = Bus.name("sub");
        final List<String> names = IntStream.range(0, 103).mapToObj(i -> String.format("%s-%03d", prefix, i)).toList();
        names.forEach(name -> admin.createSubscription(topic, name));
        assertEquals(names, admin.listSubscriptions(topic).stream().map(SubscriptionProperties::getSubscriptionName).toList());
        final String many = Bus.name("many");
        final List<String> topics = IntStream.range(0, 103).mapToObj(i -> admin.createTopic(many + "-" + i).getName()).toList();
        listed(() -> topics.stream().sorted().toList().equals(
            admin.listTopics().stream().map(TopicProperties::getName).filter(n -> n.startsWith(many)).distinct().sorted().toList()));
        topics.forEach(admin::deleteTopic);
        names.forEach(name -> admin.createRule(topic, names.get(0), name));
        assertEquals(104, admin.listRules(topic, names.get(0)).stream().count());
    }

    @Test
    @Proves({"admin.topiccounts", "admin.subcounts"})
    void counts_sizes_and_times() {
        final String topic = topic();
        admin.createSubscription(topic, "s");
        final var sender = closing(clients().sender().topicName(topic).buildClient());
        sender.sendMessages(List.of(new ServiceBusMessage("dead"), new ServiceBusMessage("waiting")));
        sender.scheduleMessage(new ServiceBusMessage("scheduled"), OffsetDateTime.now().plusHours(1));
        final var receiver = closing(clients().receiver().topicName(topic).subscriptionName("s").disableAutoComplete().buildClient());
        receiver.deadLetter(receiveOne(receiver));
        final var ofTopic = admin.getTopicRuntimeProperties(topic);
        assertEquals(Map.of("Name", topic, "ScheduledMessageCount", 1, "SubscriptionCount", 1),
            Bus.properties(ofTopic, "SizeInBytes", "CreatedAt", "UpdatedAt", "AccessedAt"));
        assertTrue(ofTopic.getSizeInBytes() > 0);
        final var ofSubscription = admin.getSubscriptionRuntimeProperties(topic, "s");
        assertEquals(Map.of("ActiveMessageCount", 1, "DeadLetterMessageCount", 1, "TopicName", topic, "SubscriptionName", "s",
                "TotalMessageCount", 2L, "TransferDeadLetterMessageCount", 0, "TransferMessageCount", 0),
            Bus.properties(ofSubscription, "CreatedAt", "UpdatedAt", "AccessedAt"));
        for (OffsetDateTime time : List.of(ofTopic.getCreatedAt(), ofTopic.getAccessedAt(), ofSubscription.getCreatedAt(),
            ofSubscription.getUpdatedAt(), ofSubscription.getAccessedAt())) {
            assertTrue(Duration.between(time, OffsetDateTime.now()).abs().toMinutes() < 5, time.toString());
        }
    }
}
