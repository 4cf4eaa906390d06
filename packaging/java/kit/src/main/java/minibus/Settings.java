package minibus;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The settings of a queue, a topic or a subscription. What is not set has the default of Config.json: messages live
 * for an hour and are delivered 3 times.
 *
 * @param <S> the type itself
 */
public abstract class Settings<S extends Settings<S>> {
    final Map<String, Object> properties = new LinkedHashMap<>();

    Settings() {
    }

    /** Sets any setting by its name in Config.json: {@code set("MaxSizeInMegabytes", 2048)}. */
    @SuppressWarnings("unchecked")
    public S set(String name, Object value) {
        properties.put(name, value);
        return (S) this;
    }

    /** How long a message lives that has no time to live of its own. */
    public S defaultMessageTimeToLive(Duration time) {
        return set("DefaultMessageTimeToLive", time);
    }

    /** How long an entity lives that nobody uses. */
    public S autoDeleteOnIdle(Duration time) {
        return set("AutoDeleteOnIdle", time);
    }

    /** The entity as it stands in Config.json. */
    Map<String, Object> declaration(String name) {
        return Control.body("Name", name, "Properties", properties);
    }
}
