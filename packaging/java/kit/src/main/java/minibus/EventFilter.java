package minibus;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Which events are meant. An event must fit all that is set: {@code e -> e.kinds("completed").entity("orders")}. */
public final class EventFilter {
    private final Map<String, Object> values = new LinkedHashMap<>();
    private List<String> kinds;

    EventFilter() {
    }

    /** One of these: sent, delivered, completed, deadLettered, ... */
    public EventFilter kinds(String... names) {
        kinds = List.of(names);
        return this;
    }

    /** In this entity or sub-queue. */
    public EventFilter entity(String path) {
        values.put("entity", path);
        return this;
    }

    /** Of messages that came with this id. */
    public EventFilter messageId(String id) {
        values.put("messageId", id);
        return this;
    }

    /** Of the message with this sequence number. */
    public EventFilter sequenceNumber(long number) {
        values.put("sequenceNumber", number);
        return this;
    }

    /** By this client: a connection, a container or an address. */
    public EventFilter client(String client) {
        values.put("client", client);
        return this;
    }

    /** At this time or later; for {@link MinibusNamespace#events} only. */
    public EventFilter since(Instant time) {
        values.put("since", time);
        return this;
    }

    /** Before this time; for {@link MinibusNamespace#events} only. */
    public EventFilter before(Instant time) {
        values.put("before", time);
        return this;
    }

    /** From the event with this number; for waits only, which without it count the events from now on. */
    public EventFilter from(long number) {
        values.put("from", number);
        return this;
    }

    Map<String, Object> query() {
        var query = new LinkedHashMap<>(values);
        query.put("kind", kinds == null ? null : String.join(",", kinds));
        return query;
    }

    Map<String, Object> body(int times) {
        var body = new LinkedHashMap<>(values);
        body.put("kinds", kinds);
        body.put("times", times);
        return body;
    }
}
