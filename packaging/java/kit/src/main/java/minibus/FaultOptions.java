package minibus;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a fault hits: {@code f -> f.entity("orders").operations("send").count(2)}. */
public final class FaultOptions {
    final Map<String, Object> values = new LinkedHashMap<>();

    FaultOptions() {
    }

    private FaultOptions set(String name, Object value) {
        values.put(name, value);
        return this;
    }

    /** Only this entity or sub-queue, which must exist; without it, all. */
    public FaultOptions entity(String path) {
        return set("entity", path);
    }

    /**
     * These operations: attachSender, attachReceiver, send, receive, settle, renew, manage, authenticate, now.
     * Without them, those that are usual for the kind.
     */
    public FaultOptions operations(String... names) {
        return set("operations", List.of(names));
    }

    /** Only this client: a connection by its id, container, address or library, or a link. */
    public FaultOptions client(String client) {
        return set("client", client);
    }

    /** The AMQP condition of the error, such as {@code unauthorized-access}. */
    public FaultOptions condition(String condition) {
        return set("condition", condition);
    }

    /** How many operations are hit; without it, all. */
    public FaultOptions count(long operations) {
        return set("count", operations);
    }

    /** How many operations go well first. */
    public FaultOptions skip(long operations) {
        return set("skip", operations);
    }

    /** The chance to hit an operation; the same seed makes the same choices. */
    public FaultOptions probability(double chance, long seed) {
        return set("probability", chance).set("seed", seed);
    }

    /** Until when, by the clock of the namespace. */
    public FaultOptions during(Duration time) {
        return set("for", time);
    }

    /** By how much {@link FaultKind#DELAY} delays. */
    public FaultOptions delay(Duration time) {
        return set("delayMilliseconds", time.toMillis());
    }

    /** Carries the operation out, and loses only its answer. */
    public FaultOptions after() {
        return set("after", true);
    }
}
