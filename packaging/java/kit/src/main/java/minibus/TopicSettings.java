package minibus;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The settings of a topic, and its subscriptions. */
public final class TopicSettings extends Settings<TopicSettings> {
    final List<Object> subscriptions = new ArrayList<>();

    TopicSettings() {
    }

    /** Whether a message with an id that was there before is dropped, and for how long ids are remembered. */
    public TopicSettings detectsDuplicates(Duration history) {
        return set("RequiresDuplicateDetection", true).set("DuplicateDetectionHistoryTimeWindow", history);
    }

    /** Adds subscriptions that get every message. */
    public TopicSettings subscriptions(String... names) {
        for (var name : names) {
            subscription(name, settings -> { });
        }
        return this;
    }

    /** Adds a subscription: {@code subscription("large", s -> s.filter("amount > 5"))}. */
    public TopicSettings subscription(String name, Consumer<SubscriptionSettings> settings) {
        var subscription = new SubscriptionSettings();
        settings.accept(subscription);
        subscriptions.add(subscription.declaration(name));
        return this;
    }

    @Override
    Map<String, Object> declaration(String name) {
        var declaration = super.declaration(name);
        declaration.put("Subscriptions", subscriptions);
        return declaration;
    }
}
