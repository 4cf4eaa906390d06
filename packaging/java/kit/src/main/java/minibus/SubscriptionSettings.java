package minibus;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The settings of a subscription, and its rules. Without a rule it gets every message. */
public final class SubscriptionSettings extends ReceivableSettings<SubscriptionSettings> {
    private final List<Object> rules = new ArrayList<>();

    SubscriptionSettings() {
    }

    /** Which messages it gets, as a SQL filter: {@code color = 'red' AND size > 5}. */
    public SubscriptionSettings filter(String sql) {
        return rule("filter" + (rules.isEmpty() ? "" : rules.size()), sql, null);
    }

    /**
     * Adds a rule with a SQL filter.
     *
     * @param name its name
     * @param filter which messages it selects
     * @param action what it changes in their copies, such as {@code SET size = 6}; null: nothing
     */
    public SubscriptionSettings rule(String name, String filter, String action) {
        rules.add(Control.body("Name", name, "Properties", Control.body(
            "FilterType", "Sql",
            "SqlFilter", Control.body("SqlExpression", filter),
            "Action", action == null ? null : Control.body("SqlExpression", action))));
        return this;
    }

    /**
     * Adds a rule with a correlation filter: all of the values must be those of the message.
     *
     * @param name its name
     * @param values by their names in Config.json: Label, CorrelationId, ...; application properties in a map under
     *     Properties
     */
    public SubscriptionSettings correlation(String name, Map<String, ?> values) {
        rules.add(Control.body("Name", name,
            "Properties", Control.body("FilterType", "Correlation", "CorrelationFilter", values)));
        return this;
    }

    @Override
    Map<String, Object> declaration(String name) {
        var declaration = super.declaration(name);
        if (!rules.isEmpty()) {
            declaration.put("Rules", rules);
        }
        return declaration;
    }
}
