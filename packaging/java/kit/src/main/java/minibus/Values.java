package minibus;

import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.Map;
import java.util.UUID;

/** The typed values of message JSON: {"int":5}. */
final class Values {
    private Values() {
    }

    static Object encode(Object value) {
        if (value instanceof Byte || value instanceof Short) {
            return Map.of(value.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT), value);
        }
        if (value instanceof Integer) {
            return Map.of("int", value);
        }
        if (value instanceof Float || value instanceof Double) {
            return Map.of(value instanceof Float ? "float" : "double", value);
        }
        if (value instanceof Character) {
            return Map.of("char", value);
        }
        if (value instanceof Instant) {
            return Map.of("timestamp", value);
        }
        if (value instanceof Date date) {
            return Map.of("timestamp", date.toInstant());
        }
        if (value instanceof UUID) {
            return Map.of("uuid", value);
        }
        if (value instanceof byte[] bytes) {
            return Map.of("binary", Base64.getEncoder().encodeToString(bytes));
        }
        return value;
    }

    static Object decode(Object value) {
        if (!(value instanceof Map<?, ?> map) || map.size() != 1) {
            return value;
        }
        var type = String.valueOf(map.keySet().iterator().next());
        var inner = map.values().iterator().next();
        return switch (type) {
            case "byte" -> ((Number) inner).byteValue();
            case "short" -> ((Number) inner).shortValue();
            case "int" -> ((Number) inner).intValue();
            case "long" -> inner instanceof String text ? Long.valueOf(text) : inner;
            case "float" -> inner instanceof Number number ? (Object) number.floatValue() : inner;
            case "double" -> inner instanceof Number number ? (Object) number.doubleValue() : inner;
            case "timestamp" -> Instant.parse((String) inner);
            case "uuid" -> UUID.fromString((String) inner);
            case "binary" -> Base64.getDecoder().decode((String) inner);
            case "string", "symbol", "boolean" -> inner;
            default -> value;
        };
    }
}
