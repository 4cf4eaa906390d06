package minibus;

/**
 * Entities that are declared: {@code bus.put(e -> e.queues("orders").topic("events", t -> t.subscriptions("all")))}.
 */
public final class Entities extends Declaration<Entities> {
    Entities() {
    }
}
