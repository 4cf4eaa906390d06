package minibus;

import java.util.List;

/**
 * Which subscriptions a message would reach.
 *
 * @param topic the topic
 * @param reached the names of the subscriptions that would get it
 * @param duplicate whether the topic would drop it as a duplicate
 * @param refused why the topic would refuse it; null: it would not
 * @param subscriptions all subscriptions of the topic, with what their rules say
 */
public record Match(String topic, List<String> reached, boolean duplicate, String refused,
    List<Subscription> subscriptions) {
    /**
     * A subscription of the topic.
     *
     * @param name its name
     * @param rules its rules
     */
    public record Subscription(String name, List<Rule> rules) {
    }

    /**
     * A rule of a subscription.
     *
     * @param name its name
     * @param filter its filter
     * @param outcome true, false, unknown or error; only true selects the message
     */
    public record Rule(String name, String filter, String outcome) {
    }
}
