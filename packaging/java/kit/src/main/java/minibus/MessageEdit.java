package minibus;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What to change in messages that are resubmitted: {@code e -> e.subject("again").property("attempt", 2)}. */
public final class MessageEdit {
    private final Map<String, Object> values = new LinkedHashMap<>();
    private final Map<String, Object> properties = new LinkedHashMap<>();
    private final List<String> removed = new ArrayList<>();

    MessageEdit() {
    }

    /** Sets a value by its name in the control API: messageId, to, replyTo, strip, ... */
    public MessageEdit set(String name, Object value) {
        values.put(name, value);
        return this;
    }

    /** Replaces the body by a text. */
    public MessageEdit body(String text) {
        return set("body", text);
    }

    /** Sets the subject. */
    public MessageEdit subject(String subject) {
        return set("subject", subject);
    }

    /** Sets the session. */
    public MessageEdit sessionId(String id) {
        return set("sessionId", id);
    }

    /** Schedules the messages. */
    public MessageEdit scheduledEnqueueTime(Instant time) {
        return set("scheduledEnqueueTime", time);
    }

    /** Sets an application property. */
    public MessageEdit property(String name, Object value) {
        properties.put(name, Values.encode(value));
        return this;
    }

    /** Removes application properties. */
    public MessageEdit removeProperties(String... names) {
        removed.addAll(List.of(names));
        return this;
    }

    Map<String, Object> body() {
        values.put("properties", properties.isEmpty() ? null : properties);
        values.put("removeProperties", removed.isEmpty() ? null : removed);
        return values;
    }
}
