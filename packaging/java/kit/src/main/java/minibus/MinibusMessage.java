package minibus;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A message, to send or as it is in an entity:
 * {@code new MinibusMessage("two coffees").subject("order").property("table", 7)}.
 */
public final class MinibusMessage {
    private final Map<String, Object> json;

    /** Makes a message without a body. */
    public MinibusMessage() {
        json = new LinkedHashMap<>();
    }

    /** Makes a message with a text as its body. */
    public MinibusMessage(String body) {
        this();
        set("body", body);
    }

    /** Makes a message with bytes as its body. */
    public MinibusMessage(byte[] body) {
        this();
        set("bodyBase64", Base64.getEncoder().encodeToString(body));
    }

    MinibusMessage(Map<String, Object> json) {
        this.json = json;
    }

    /** Sets a value by its name in message JSON, which docs/message-json.md describes. */
    public MinibusMessage set(String name, Object value) {
        json.put(name, value);
        return this;
    }

    /** Sets the id, by which duplicates are detected. */
    public MinibusMessage messageId(String id) {
        return set("messageId", id);
    }

    /** Sets the subject. */
    public MinibusMessage subject(String subject) {
        return set("subject", subject);
    }

    /** Sets the session. */
    public MinibusMessage sessionId(String id) {
        return set("sessionId", id);
    }

    /** Sets the correlation id. */
    public MinibusMessage correlationId(String id) {
        return set("correlationId", id);
    }

    /** Sets the content type. */
    public MinibusMessage contentType(String type) {
        return set("contentType", type);
    }

    /** Sets how long the message lives. */
    public MinibusMessage timeToLive(Duration time) {
        return set("timeToLive", time);
    }

    /** Sets when the message becomes active, by the clock of the namespace. */
    public MinibusMessage scheduledEnqueueTime(Instant time) {
        return set("scheduledEnqueueTime", time);
    }

    /**
     * Sets an application property. The value has the type that the SDK gives it: an Integer is an int, an Instant a
     * timestamp.
     */
    @SuppressWarnings("unchecked")
    public MinibusMessage property(String name, Object value) {
        var properties = (Map<String, Object>) json.computeIfAbsent("applicationProperties",
            key -> new LinkedHashMap<>());
        properties.put(name, Values.encode(value));
        return this;
    }

    /** The id; a text even if it has another type. */
    public String messageId() {
        return text("messageId");
    }

    /** The subject. */
    public String subject() {
        return text("subject");
    }

    /** The session. */
    public String sessionId() {
        return text("sessionId");
    }

    /** The correlation id; a text even if it has another type. */
    public String correlationId() {
        return text("correlationId");
    }

    /** The content type. */
    public String contentType() {
        return text("contentType");
    }

    /** The body as text. */
    public String body() {
        return json.get("bodyBase64") == null ? text("body") : new String(bytes(), StandardCharsets.UTF_8);
    }

    /** The body as bytes. */
    public byte[] bytes() {
        if (json.get("bodyBase64") instanceof String base64) {
            return Base64.getDecoder().decode(base64);
        }
        var body = text("body");
        return body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
    }

    /** An application property with its type, null without it. */
    public Object property(String name) {
        return json.get("applicationProperties") instanceof Map<?, ?> properties
            ? Values.decode(properties.get(name)) : null;
    }

    /** The sequence number. */
    public long sequenceNumber() {
        return number("sequenceNumber");
    }

    /** How many deliveries have failed. */
    public int deliveryCount() {
        return (int) number("deliveryCount");
    }

    /** Its state: active, locked, deferred or scheduled. */
    public String state() {
        return text("state");
    }

    /** Why it was dead-lettered. */
    public String deadLetterReason() {
        return text("deadLetterReason");
    }

    /** Why it was dead-lettered, in more words. */
    public String deadLetterErrorDescription() {
        return (String) property("DeadLetterErrorDescription");
    }

    /** When it was enqueued. */
    public Instant enqueuedTime() {
        return time("enqueuedTime");
    }

    /** When it becomes active. */
    public Instant scheduledEnqueueTime() {
        return time("scheduledEnqueueTime");
    }

    /** When it expires. */
    public Instant expiresAt() {
        return time("expiresAt");
    }

    /** When its lock expires. */
    public Instant lockedUntil() {
        return time("lockedUntil");
    }

    /** All values by their names in message JSON. */
    public Map<String, Object> json() {
        return json;
    }

    private String text(String name) {
        var value = Values.decode(json.get(name));
        return value == null || value instanceof String ? (String) value : Json.write(value);
    }

    private long number(String name) {
        return json.get(name) instanceof Number number ? number.longValue() : 0;
    }

    private Instant time(String name) {
        return json.get(name) instanceof String text ? Instant.parse(text) : null;
    }

    @Override
    public String toString() {
        return Json.write(json);
    }
}
