package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.exception.ResourceExistsException;
import com.azure.core.exception.ResourceNotFoundException;
import com.azure.messaging.servicebus.administration.models.CorrelationRuleFilter;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.EmptyRuleAction;
import com.azure.messaging.servicebus.administration.models.FalseRuleFilter;
import com.azure.messaging.servicebus.administration.models.RuleAction;
import com.azure.messaging.servicebus.administration.models.RuleFilter;
import com.azure.messaging.servicebus.administration.models.RuleProperties;
import com.azure.messaging.servicebus.administration.models.SqlRuleAction;
import com.azure.messaging.servicebus.administration.models.SqlRuleFilter;
import com.azure.messaging.servicebus.administration.models.TrueRuleFilter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ServiceBusAdministrationClient: rules with filters and actions of every kind. Values go as strings, whatever they were. */
class AdminRulesTest extends Case {
    private String topic;

    @BeforeEach
    void makeSubscription() {
        topic = AdminTopicsTest.topic();
        admin.createSubscription(topic, "s");
    }

    /** The SDK's equals also compares what only the service says. */
    private static void assertFilter(RuleFilter want, RuleFilter got) {
        assertEquals(want.getClass(), got.getClass());
        assertEquals(Bus.properties(want), Bus.properties(got));
    }

    private static void assertAction(String sql, Map<String, Object> parameters, RuleAction got) {
        final SqlRuleAction action = (SqlRuleAction) got;
        assertEquals(sql, action.getSqlExpression());
        assertEquals(parameters, action.getParameters());
    }

    @Test
    @Proves("admin.ruledefault")
    void the_default_rule() {
        final RuleProperties rule = admin.getRule(topic, "s", "$Default");
        assertFilter(new TrueRuleFilter(), rule.getFilter());
        assertEquals(EmptyRuleAction.class, rule.getAction().getClass());
    }

    @Test
    @Proves({"admin.rulesql", "admin.rulecorrelation"})
    void filters() {
        final SqlRuleFilter parameters = new SqlRuleFilter("a = @a AND b = @b");
        parameters.getParameters().putAll(Map.of("@a", "1", "@b", "x"));
        final CorrelationRuleFilter correlation = new CorrelationRuleFilter("c").setMessageId("m").setTo("t").setReplyTo("r")
            .setLabel("l <&> \u20ac").setSessionId("s").setReplyToSessionId("rs").setContentType("ct");
        correlation.getProperties().putAll(Map.of("color", "<red>", "size", "5"));
        final List<RuleFilter> filters = List.of(new TrueRuleFilter(), new FalseRuleFilter(),
            new SqlRuleFilter("color = 'red' AND size > 5"), parameters, correlation, new CorrelationRuleFilter().setLabel("only this"));
        for (int i = 0; i < filters.size(); i++) {
            final String name = "r" + i;
            assertFilter(filters.get(i), admin.createRule(topic, name, "s", new CreateRuleOptions(filters.get(i))).getFilter());
            final RuleProperties got = admin.getRule(topic, "s", name);
            assertEquals(name, got.getName());
            assertFilter(filters.get(i), got.getFilter());
        }
        assertEquals(List.of("$Default", "r0", "r1", "r2", "r3", "r4", "r5"),
            admin.listRules(topic, "s").stream().map(RuleProperties::getName).toList());
    }

    @Test
    @Proves("admin.ruleaction")
    void actions() {
        final SqlRuleAction action = new SqlRuleAction("SET a = @a; REMOVE c");
        action.getParameters().put("@a", "x");
        admin.createRule(topic, "r", "s", new CreateRuleOptions(new TrueRuleFilter()).setAction(action));
        assertAction("SET a = @a; REMOVE c", Map.of("@a", "x"), admin.getRule(topic, "s", "r").getAction());
    }

    @Test
    void a_rule_without_a_filter_takes_everything() {
        assertFilter(new TrueRuleFilter(), admin.createRule(topic, "s", "r").getFilter());
    }

    @Test
    @Proves("admin.rule")
    void filter_and_action_change() {
        final RuleProperties rule = admin.createRule(topic, "r", "s", new CreateRuleOptions(new SqlRuleFilter("a = 1")));
        admin.updateRule(topic, "s", rule.setFilter(new SqlRuleFilter("b = 2")).setAction(new SqlRuleAction("SET c = 3")));
        final RuleProperties got = admin.getRule(topic, "s", "r");
        assertFilter(new SqlRuleFilter("b = 2"), got.getFilter());
        assertAction("SET c = 3", Map.of(), got.getAction());
        admin.deleteRule(topic, "s", "r");
        refused(ResourceNotFoundException.class, 404, () -> admin.updateRule(topic, "s", rule));
    }

    @Test
    @Proves("admin.ruleerrors")
    void what_exists_and_what_does_not() {
        refused(ResourceExistsException.class, 409, () -> admin.createRule(topic, "s", "$Default"));
        refused(ResourceNotFoundException.class, 404, () -> admin.getRule(topic, "s", "none"));
        refused(ResourceNotFoundException.class, 404, () -> admin.deleteRule(topic, "s", "none"));
        refused(ResourceNotFoundException.class, 404, () -> admin.createRule(topic, "none", "r"));
    }

    @Test
    void bad_expressions_are_refused() {
        for (CreateRuleOptions bad : List.of(new CreateRuleOptions(new SqlRuleFilter("color = ")),
            new CreateRuleOptions(new TrueRuleFilter()).setAction(new SqlRuleAction("DROP TABLE x")))) {
            final HttpResponseException e = refused(HttpResponseException.class, 400, () -> admin.createRule(topic, "bad", "s", bad));
            assertTrue(e.getMessage().contains("There was an error parsing the SQL expression"), e.getMessage());
        }
    }
}
