package minibus;

import com.azure.core.amqp.models.AmqpAnnotatedMessage;
import com.azure.core.amqp.models.AmqpMessageBody;
import com.azure.core.util.BinaryData;
import com.azure.core.util.serializer.TypeReference;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import com.azure.messaging.servicebus.models.ServiceBusReceiveMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.qpid.proton.amqp.Binary;
import org.junit.jupiter.api.Test;

/**
 * One side of compat-tests/exchange, run only when it is named: sends the samples of a file to a topic, or receives what
 * subscriptions have and writes it, one message a line, in the form of samples.json.
 *
 * <p>MINIBUS_SEND is FILE TOPIC; MINIBUS_RECEIVE is COUNT TOPIC SUBSCRIPTION FILE, several of them with commas between.
 */
class Exchange {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ServiceBusClientBuilder clients = new ServiceBusClientBuilder().connectionString(System.getenv("MINIBUS_CONNECTION_STRING"));

    /** A value of the samples, as a program of this SDK has it. */
    @SuppressWarnings("unchecked")
    private static Object value(Object sample) {
        final Map.Entry<String, Object> entry = ((Map<String, Object>) sample).entrySet().iterator().next();
        final Object v = entry.getValue();
        return switch (entry.getKey()) {
            case "null" -> null;
            case "uuid" -> UUID.fromString((String) v);
            case "binary" -> Base64.getDecoder().decode((String) v);
            case "time" -> new Date(((Number) v).longValue()); // an OffsetDateTime goes as a type that only .NET knows too
            case "list" -> values((List<Object>) v);
            case "map" -> values((Map<String, Object>) v);
            default -> v;
        };
    }

    private static List<Object> values(List<Object> samples) {
        final List<Object> all = new ArrayList<>();
        samples.forEach(sample -> all.add(value(sample)));
        return all;
    }

    private static Map<String, Object> values(Map<String, Object> samples) {
        final Map<String, Object> all = new TreeMap<>();
        samples.forEach((key, sample) -> all.put(key, value(sample)));
        return all;
    }

    /** What the SDK shows of a value. */
    private static Map<String, Object> shown(Object v) {
        if (v == null) {
            return Map.of("null", true);
        } else if (v instanceof String) {
            return Map.of("string", v);
        } else if (v instanceof Boolean) {
            return Map.of("bool", v);
        } else if (v instanceof Double || v instanceof Float) {
            return Map.of("double", v);
        } else if (v instanceof Number) {
            return Map.of("int", v);
        } else if (v instanceof UUID) {
            return Map.of("uuid", v.toString());
        } else if (v instanceof Binary bytes) {
            return Map.of("binary", Base64.getEncoder().encodeToString(bytes.getArray()));
        } else if (v instanceof Date time) {
            return Map.of("time", time.getTime());
        } else if (v instanceof List<?> list) {
            return Map.of("list", list.stream().map(Exchange::shown).toList());
        } else if (v instanceof Map<?, ?> map) {
            return Map.of("map", showns(map));
        }
        return Map.of("unknown", v.getClass() + " " + v);
    }

    private static Map<String, Object> showns(Map<?, ?> values) {
        final Map<String, Object> all = new TreeMap<>();
        values.forEach((key, v) -> all.put(key.toString(), shown(v)));
        return all;
    }

    @SuppressWarnings("unchecked")
    private static ServiceBusMessage message(Map<String, Object> sample) {
        final Map<String, Object> body = (Map<String, Object>) sample.getOrDefault("body", Map.of());
        final ServiceBusMessage m;
        if (body.containsKey("value")) {
            m = new ServiceBusMessage(AmqpMessageBody.fromValue(value(body.get("value"))));
        } else if (body.containsKey("sequence")) {
            m = new ServiceBusMessage(AmqpMessageBody.fromSequence(values(((List<List<Object>>) body.get("sequence")).get(0))));
        } else {
            m = new ServiceBusMessage(Base64.getDecoder().decode(((List<String>) body.getOrDefault("data", List.of(""))).get(0)));
        }
        final Map<String, String> p = (Map<String, String>) sample.getOrDefault("properties", Map.of());
        m.setMessageId((String) sample.get("id")).setCorrelationId(p.get("correlationId")).setSubject(p.get("subject"))
            .setContentType(p.get("contentType")).setTo(p.get("to")).setReplyTo(p.get("replyTo"))
            .setReplyToSessionId(p.get("replyToSessionId")).setSessionId(p.get("sessionId")).setPartitionKey(p.get("partitionKey"));
        m.getApplicationProperties().putAll(values((Map<String, Object>) sample.getOrDefault("app", Map.of())));
        final AmqpAnnotatedMessage raw = m.getRawAmqpMessage();
        if (sample.get("header") instanceof Map<?, ?> header) {
            raw.getHeader().setDurable((Boolean) header.get("durable")).setPriority(((Number) header.get("priority")).shortValue());
        }
        raw.getMessageAnnotations().putAll(values((Map<String, Object>) sample.getOrDefault("annotations", Map.of())));
        raw.getFooter().putAll(values((Map<String, Object>) sample.getOrDefault("footer", Map.of())));
        return m;
    }

    private static Map<String, Object> bodyOf(AmqpMessageBody body) {
        return switch (body.getBodyType()) {
            case VALUE -> Map.of("value", shown(body.getValue()));
            case SEQUENCE -> Map.of("sequence", List.of(body.getSequence().stream().map(Exchange::shown).toList()));
            default -> Map.of("data", body.getData().stream().map(Base64.getEncoder()::encodeToString).toList());
        };
    }

    private static Map<String, Object> canonical(ServiceBusReceivedMessage m) {
        final AmqpAnnotatedMessage raw = m.getRawAmqpMessage();
        final Map<String, Object> p = new TreeMap<>();
        p.put("correlationId", m.getCorrelationId());
        p.put("subject", m.getSubject());
        p.put("contentType", m.getContentType());
        p.put("to", m.getTo());
        p.put("replyTo", m.getReplyTo());
        p.put("replyToSessionId", m.getReplyToSessionId());
        p.put("sessionId", m.getSessionId());
        p.put("partitionKey", m.getPartitionKey());
        p.values().removeIf(v -> v == null);
        final var header = raw.getHeader();
        return Map.of("id", m.getMessageId(), "properties", p, "app", showns(m.getApplicationProperties()), "body", bodyOf(raw.getBody()),
            "header", Map.of("durable", Boolean.TRUE.equals(header.isDurable()), "priority", header.getPriority() == null ? 4 : header.getPriority()),
            "annotations", showns(raw.getMessageAnnotations()), "footer", showns(raw.getFooter()));
    }

    @Test
    void send() throws IOException {
        final String[] job = System.getenv("MINIBUS_SEND").split(" ");
        final List<Map<String, Object>> samples = BinaryData.fromBytes(Files.readAllBytes(Path.of(job[0])))
            .toObject(new TypeReference<List<Map<String, Object>>>() { });
        try (var sender = clients.sender().topicName(job[1]).buildClient()) {
            samples.forEach(sample -> sender.sendMessage(message(sample)));
        }
    }

    @Test
    void receive() throws IOException {
        for (String each : System.getenv("MINIBUS_RECEIVE").split(",")) {
            final String[] job = each.split(" ");
            final List<String> lines = new ArrayList<>();
            try (var receiver = clients.receiver().topicName(job[1]).subscriptionName(job[2])
                    .receiveMode(ServiceBusReceiveMode.RECEIVE_AND_DELETE).buildClient()) {
                final long end = System.nanoTime() + PATIENCE.toNanos();
                for (int left = Integer.parseInt(job[0]); left > 0 && System.nanoTime() < end; left = Integer.parseInt(job[0]) - lines.size()) {
                    receiver.receiveMessages(left, PATIENCE).forEach(m -> lines.add(BinaryData.fromObject(canonical(m)).toString()));
                }
            }
            Files.write(Path.of(job[3]), lines);
        }
    }
}
