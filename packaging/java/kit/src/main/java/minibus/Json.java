package minibus;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON: maps, lists, strings, longs, doubles, booleans and null. The kit needs no library for it. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one value. */
    static Object parse(String text) {
        var json = new Json(text);
        var value = json.value();
        json.space();
        if (json.at < text.length()) {
            throw json.wrong("the end");
        }
        return value;
    }

    /** Reads an object. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        return (Map<String, Object>) parse(text);
    }

    private Object value() {
        space();
        switch (at < text.length() ? text.charAt(at) : ' ') {
            case '{':
                return members();
            case '[':
                return elements();
            case '"':
                return string();
            default:
                var from = at;
                while (at < text.length()
                    && (Character.isLetterOrDigit(text.charAt(at)) || "+-.".indexOf(text.charAt(at)) >= 0)) {
                    at++;
                }
                return word(text.substring(from, at));
        }
    }

    private Object word(String word) {
        switch (word) {
            case "true":
                return true;
            case "false":
                return false;
            case "null":
                return null;
            default:
                try {
                    if (word.matches("-?\\d{1,18}")) {
                        return Long.valueOf(word);
                    }
                    var number = new BigDecimal(word);
                    return word.matches("-?\\d+") ? (Object) number.toBigIntegerExact() : (Object) number.doubleValue();
                } catch (NumberFormatException e) {
                    throw wrong("a value");
                }
        }
    }

    private Map<String, Object> members() {
        var map = new LinkedHashMap<String, Object>();
        at++;
        if (next('}')) {
            return map;
        }
        do {
            space();
            var name = string();
            expect(':');
            map.put(name, value());
        } while (next(','));
        expect('}');
        return map;
    }

    private List<Object> elements() {
        var list = new ArrayList<Object>();
        at++;
        if (next(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (next(','));
        expect(']');
        return list;
    }

    private String string() {
        expect('"');
        var out = new StringBuilder();
        while (true) {
            if (at >= text.length()) {
                throw wrong("a quotation mark");
            }
            var c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            out.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        var c = at < text.length() ? text.charAt(at++) : ' ';
        if (c == 'u' && at + 4 <= text.length()) {
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        var known = "\"\\/bfnrt".indexOf(c);
        if (known < 0) {
            throw wrong("an escape");
        }
        return "\"\\/\b\f\n\r\t".charAt(known);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean next(char c) {
        space();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char c) {
        if (!next(c)) {
            throw wrong(String.valueOf(c));
        }
    }

    private IllegalArgumentException wrong(String wanted) {
        var from = text.substring(Math.min(at, text.length()), Math.min(text.length(), at + 20));
        return new IllegalArgumentException("JSON, character " + at + ": found \"" + from + "\", want " + wanted);
    }

    /** Writes a value. Times and durations become text, null members are left out. */
    static String write(Object value) {
        var out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            var separator = "{";
            for (var entry : map.entrySet()) {
                if (entry.getValue() != null) {
                    out.append(separator);
                    quote(String.valueOf(entry.getKey()), out);
                    out.append(':');
                    write(entry.getValue(), out);
                    separator = ",";
                }
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable<?> list) {
            var separator = "[";
            for (var element : list) {
                out.append(separator);
                write(element, out);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            quote(value.toString(), out);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (var i = 0; i < text.length(); i++) {
            var c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    /** Makes a record of an object: each component gets the member of its name. */
    static <R extends Record> R read(Class<R> type, Map<?, ?> object) {
        var components = type.getRecordComponents();
        var types = new Class<?>[components.length];
        var values = new Object[components.length];
        for (var i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = component(components[i], object);
        }
        try {
            var constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("read a " + type.getSimpleName(), e);
        }
    }

    private static Object component(RecordComponent component, Map<?, ?> object) {
        return convert(object.get(component.getName()), component.getType(), component.getGenericType());
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object convert(Object value, Class<?> type, Type generic) {
        if (type == List.class) {
            var element = (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0];
            var list = value == null ? List.of() : (List<?>) value;
            return list.stream().map(each -> convert(each, element, element)).toList();
        }
        if (type == long.class) {
            return value == null ? 0L : ((Number) value).longValue();
        }
        if (type == boolean.class) {
            return Boolean.TRUE.equals(value);
        }
        if (value == null) {
            return null;
        }
        if (type == Instant.class) {
            return Instant.parse((String) value);
        }
        if (type == Duration.class) {
            return Duration.parse((String) value);
        }
        return type.isRecord() ? read((Class) type, (Map<?, ?>) value) : type.cast(value);
    }
}
