package minibus.junit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import minibus.MinibusNamespace;
import minibus.MinibusServer;
import minibus.NamespaceOptions;

/**
 * A namespace and how many need it: JUnit, and contexts of Spring that outlive their test class. The last one deletes
 * it.
 */
final class Lease {
    private static final Map<Object, Lease> SHARED = new HashMap<>();

    private final Object owner;
    private final MinibusNamespace namespace;
    private int holders;

    private Lease(Object owner, MinibusNamespace namespace) {
        this.owner = owner;
        this.namespace = namespace;
    }

    /** Makes the namespace of a class or a static field, unless it is there. */
    static Lease of(Object owner, Minibus minibus) {
        synchronized (SHARED) {
            var lease = SHARED.computeIfAbsent(owner, key -> new Lease(key, make(minibus)));
            lease.holders++;
            return lease;
        }
    }

    /** Makes a namespace for a test. */
    static Lease of(Minibus minibus) {
        return of(new Object(), minibus);
    }

    static boolean declares(Minibus minibus) {
        return minibus.queues().length + minibus.topics().length + minibus.subscriptions().length > 0
            || !minibus.config().isEmpty();
    }

    private static MinibusNamespace make(Minibus minibus) {
        return MinibusServer.shared().namespace(options -> declare(minibus, options));
    }

    private static void declare(Minibus minibus, NamespaceOptions options) {
        options.queues(minibus.queues());
        var topics = new LinkedHashMap<String, List<String>>();
        for (var topic : minibus.topics()) {
            topics.put(topic, new ArrayList<>());
        }
        for (var path : minibus.subscriptions()) {
            var parts = path.split("(?i)/Subscriptions/");
            if (parts.length != 2) {
                throw new IllegalArgumentException("@Minibus: found the subscription \"" + path
                    + "\"; want events/Subscriptions/all");
            }
            topics.computeIfAbsent(parts[0], topic -> new ArrayList<>()).add(parts[1]);
        }
        topics.forEach((topic, names) -> options.topic(topic, t -> t.subscriptions(names.toArray(String[]::new))));
        if (minibus.config().stripLeading().startsWith("{")) {
            options.config(minibus.config());
        } else if (!minibus.config().isEmpty()) {
            options.config(Path.of(minibus.config()));
        }
        if (!minibus.limits().isEmpty()) {
            options.limits(minibus.limits());
        }
    }

    MinibusNamespace namespace() {
        return namespace;
    }

    /** Not close: JUnit 5.13 and later close what is in a store. */
    void end() {
        synchronized (SHARED) {
            holders--;
            if (holders > 0) {
                return;
            }
            SHARED.remove(owner);
        }
        namespace.close();
    }
}
