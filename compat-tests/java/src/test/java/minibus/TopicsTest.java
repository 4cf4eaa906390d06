package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.messaging.servicebus.ServiceBusException;
import com.azure.messaging.servicebus.ServiceBusFailureReason;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.administration.models.CorrelationRuleFilter;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.RuleProperties;
import com.azure.messaging.servicebus.administration.models.SqlRuleAction;
import com.azure.messaging.servicebus.administration.models.SqlRuleFilter;
import com.azure.messaging.servicebus.administration.models.TrueRuleFilter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Topics with rules, made by the administration and over AMQP. */
class TopicsTest extends Case {
    private void publish(String topic, String body, String color) {
        final ServiceBusMessage m = new ServiceBusMessage(body).setSubject(color);
        m.getApplicationProperties().put("color", color);
        closing(clients().sender().topicName(topic).buildClient()).sendMessage(m);
    }

    private ServiceBusReceiverClient receiver(String topic, String subscription) {
        return closing(clients().receiver().topicName(topic).subscriptionName(subscription).disableAutoComplete()
            .maxAutoLockRenewDuration(Duration.ZERO).buildClient());
    }

    @Test
    @Proves({"send.topic", "topic.copies", "topic.sql", "topic.action", "topic.number"})
    void rules_choose_and_actions_change() {
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "all");
        admin.createSubscription(topic, "red");
        admin.deleteRule(topic, "red", "$Default");
        admin.createRule(topic, "r", "red",
            new CreateRuleOptions(new SqlRuleFilter("color = 'red'")).setAction(new SqlRuleAction("SET seen = 'yes'; REMOVE color")));
        publish(topic, "1", "red");
        publish(topic, "2", "blue");
        publish(topic, "3", "red");
        assertEquals(List.of("1", "2", "3"), bodies(receive(receiver(topic, "all"), 3)));
        final var red = receive(receiver(topic, "red"), 2);
        assertEquals(List.of("1", "3"), bodies(red));
        assertEquals("yes", red.get(0).getApplicationProperties().get("seen"));
        assertEquals(false, red.get(0).getApplicationProperties().containsKey("color"));
        assertEquals(1, red.get(0).getEnqueuedSequenceNumber());
    }

    @Test
    @Proves({"rule.create", "rule.list", "rule.delete", "rule.exists", "topic.correlation"})
    void the_rule_manager_speaks_amqp() {
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
        final var rules = closing(clients().ruleManager().topicName(topic).subscriptionName("s").buildClient());
        rules.deleteRule("$Default");
        final CorrelationRuleFilter filter = new CorrelationRuleFilter().setLabel("red");
        filter.getProperties().put("color", "red");
        rules.createRule("correlation", new CreateRuleOptions(filter));
        rules.createRule("sql", new CreateRuleOptions(new SqlRuleFilter("color = 'green'")).setAction(new SqlRuleAction("SET a = 1")));
        final List<RuleProperties> got = rules.listRules().stream().toList();
        assertEquals(List.of("correlation", "sql"), got.stream().map(RuleProperties::getName).toList());
        assertEquals(filter, got.get(0).getFilter());
        assertEquals("SET a = 1", ((SqlRuleAction) got.get(1).getAction()).getSqlExpression());
        refused(ServiceBusFailureReason.MESSAGING_ENTITY_ALREADY_EXISTS, () -> rules.createRule("sql", new CreateRuleOptions(filter)));
        publish(topic, "1", "red");
        publish(topic, "2", "blue");
        assertEquals(List.of("1"), bodies(receive(receiver(topic, "s"), 1)));
    }

    @Test
    @Proves({"rule.default", "rule.missing", "rule.bad"})
    void the_rule_managers_refusals() {
        final String topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
        final var rules = closing(clients().ruleManager().topicName(topic).subscriptionName("s").buildClient());
        final RuleProperties first = rules.listRules().stream().toList().get(0);
        assertEquals("$Default", first.getName());
        assertEquals(TrueRuleFilter.class, first.getFilter().getClass());
        refused(ServiceBusFailureReason.MESSAGING_ENTITY_NOT_FOUND, () -> rules.deleteRule("missing"));
        final var bad = assertThrows(ServiceBusException.class, () -> rules.createRule("bad", new CreateRuleOptions(new SqlRuleFilter("a = = 1"))));
        assertTrue(bad.getMessage().contains("Token line=1"), bad.getMessage());
        assertEquals(1, rules.listRules().stream().count());
    }
}
