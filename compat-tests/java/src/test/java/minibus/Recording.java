package minibus;

import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.core.exception.HttpResponseException;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClient;
import com.azure.messaging.servicebus.administration.models.AccessRights;
import com.azure.messaging.servicebus.administration.models.CorrelationRuleFilter;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.CreateSubscriptionOptions;
import com.azure.messaging.servicebus.administration.models.CreateTopicOptions;
import com.azure.messaging.servicebus.administration.models.EntityStatus;
import com.azure.messaging.servicebus.administration.models.FalseRuleFilter;
import com.azure.messaging.servicebus.administration.models.QueueProperties;
import com.azure.messaging.servicebus.administration.models.RuleProperties;
import com.azure.messaging.servicebus.administration.models.SharedAccessAuthorizationRule;
import com.azure.messaging.servicebus.administration.models.SqlRuleAction;
import com.azure.messaging.servicebus.administration.models.SqlRuleFilter;
import com.azure.messaging.servicebus.administration.models.SubscriptionProperties;
import com.azure.messaging.servicebus.administration.models.TopicProperties;
import com.azure.messaging.servicebus.administration.models.TrueRuleFilter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * Records what the administration client sends, for the golden files of mgmt. Maven does not find it by its name:
 * compat_test.go asks for it, with a fresh server.
 */
class Recording {
    private static void record(String file, Consumer<ServiceBusAdministrationClient> scenario) throws IOException {
        final Recorder recorder = new Recorder();
        scenario.accept(Bus.administration().addPolicy(recorder).buildClient());
        Files.writeString(Path.of(System.getenv("MINIBUS_GOLDEN"), file), recorder.text());
    }

    private static void refused(Executable call) {
        assertThrows(HttpResponseException.class, call);
    }

    @Test
    void queues() throws IOException {
        record("java-queues.txt", Recording::queues);
    }

    @Test
    void topics() throws IOException {
        record("java-topics.txt", Recording::topics);
    }

    private static void queues(ServiceBusAdministrationClient client) {
        client.getNamespaceProperties();
        client.createQueue("target");
        final CreateQueueOptions options = new CreateQueueOptions().setDeadLetteringOnMessageExpiration(true)
            .setDefaultMessageTimeToLive(Duration.ofMinutes(11)).setDuplicateDetectionHistoryTimeWindow(Duration.ofMinutes(12))
            .setBatchedOperationsEnabled(false).setLockDuration(Duration.ofSeconds(13)).setMaxDeliveryCount(14)
            .setMaxSizeInMegabytes(3072).setDuplicateDetectionRequired(true).setUserMetadata("<metadata>")
            .setMaxMessageSizeInKilobytes(512).setForwardDeadLetteredMessagesTo("target");
        options.getAuthorizationRules().add(new SharedAccessAuthorizationRule("mine", "QQ==", "Qg==",
            List.of(AccessRights.SEND, AccessRights.LISTEN)));
        client.createQueue("orders/eu", options);
        final QueueProperties queue = client.getQueue("orders/eu");
        client.updateQueue(queue.setStatus(EntityStatus.RECEIVE_DISABLED).setForwardTo("target"));
        client.getQueueRuntimeProperties("orders/eu");
        client.listQueues().stream().count();
        client.getQueueExists("target");
        refused(() -> client.createQueue("target"));
        refused(() -> client.updateQueue(queue.setLockDuration(Duration.ofDays(25))));
        client.deleteQueue("orders/eu");
        client.getQueueExists("orders/eu");
        refused(() -> client.deleteQueue("orders/eu"));
        refused(() -> client.updateQueue(queue));
        refused(() -> client.getQueue("orders/eu"));
    }

    private static void topics(ServiceBusAdministrationClient client) {
        final TopicProperties topic = client.createTopic("events", new CreateTopicOptions().setAutoDeleteOnIdle(Duration.ofMinutes(10))
            .setDefaultMessageTimeToLive(Duration.ofMinutes(11)).setMaxSizeInMegabytes(2048)
            .setDuplicateDetectionHistoryTimeWindow(Duration.ofMinutes(12)).setDuplicateDetectionRequired(true)
            .setOrderingSupported(true).setUserMetadata("m"));
        client.updateTopic(topic.setDefaultMessageTimeToLive(Duration.ofMinutes(20)));
        client.getTopic("events");
        client.createSubscription("events", "eu", new CreateSubscriptionOptions().setLockDuration(Duration.ofSeconds(13))
            .setSessionRequired(true).setMaxDeliveryCount(14).setDefaultMessageTimeToLive(Duration.ofMinutes(11))
            .setDeadLetteringOnMessageExpiration(true).setEnableDeadLetteringOnFilterEvaluationExceptions(false)
            .setBatchedOperationsEnabled(false).setUserMetadata("m"));
        final SubscriptionProperties subscription = client.getSubscription("events", "eu");
        client.updateSubscription(subscription.setMaxDeliveryCount(15));
        client.getTopicRuntimeProperties("events");
        client.getSubscriptionRuntimeProperties("events", "eu");
        client.createSubscription("events", "us", "first", new CreateSubscriptionOptions(),
            new CreateRuleOptions(new SqlRuleFilter("a = 1")).setAction(new SqlRuleAction("SET b = 2")));
        client.listSubscriptions("events").stream().count();
        client.listTopics().stream().count();
        rules(client);
        refused(() -> client.createTopic("events"));
        refused(() -> client.createSubscription("events", "eu"));
        client.deleteSubscription("events", "eu");
        client.getSubscriptionExists("events", "eu");
        refused(() -> client.updateSubscription(subscription));
        client.deleteTopic("events");
        client.getTopicExists("events");
    }

    private static void rules(ServiceBusAdministrationClient client) {
        final CorrelationRuleFilter correlation = new CorrelationRuleFilter("c").setLabel("l");
        correlation.getProperties().put("color", "a < b");
        final SqlRuleAction action = new SqlRuleAction("SET Priority = @low");
        action.getParameters().put("@low", "low");
        final RuleProperties rule =
            client.createRule("events", "correlation", "eu", new CreateRuleOptions(correlation).setAction(action));
        client.createRule("events", "sql", "eu", new CreateRuleOptions(new SqlRuleFilter("a = 1")));
        client.createRule("events", "true", "eu", new CreateRuleOptions(new TrueRuleFilter()));
        client.createRule("events", "false", "eu", new CreateRuleOptions(new FalseRuleFilter()));
        client.updateRule("events", "eu", rule.setFilter(new SqlRuleFilter("a = 1")));
        client.getRule("events", "eu", "correlation");
        client.listRules("events", "eu").stream().count();
        client.deleteRule("events", "eu", "$Default");
        refused(() -> client.createRule("events", "sql", "eu", new CreateRuleOptions(correlation)));
        refused(() -> client.createRule("events", "bad", "eu", new CreateRuleOptions(new SqlRuleFilter("a ="))));
        refused(() -> client.deleteRule("events", "eu", "none"));
        refused(() -> client.getRule("events", "eu", "none"));
    }
}
