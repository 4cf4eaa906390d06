package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void what_is_read_is_written() {
        for (var text : List.of("{}", "[]", "null", "true", "\"\"", "-7", "0.5", "1.0E20", "123456789012345678901",
            "{\"a\":[1,{\"b\":\"c\"},[]],\"d\":{}}", "\"\\\"\\\\\\u000a\\u0001\u00e9\ud83d\ude00\"")) {
            assertEquals(text, Json.write(Json.parse(text)));
        }
    }

    @Test
    void all_forms_are_read() {
        assertEquals(List.of(1L, -2L, 0.5, 300.0, false), Json.parse(" [ 1 ,\t-2,\r\n0.5, 3e2, false ] "));
        assertEquals("a/\b\f\n\r\t\"\\\u00e9\ud83d\ude00", Json.parse("\"a\\/\\b\\f\\n\\r\\t\\\"\\\\\\u00E9\\ud83d\\ude00\""));
        assertEquals(new BigInteger("9223372036854775808"), Json.parse("9223372036854775808"));
        assertEquals(Arrays.asList(null, true), Json.parse("[null,true]"));
    }

    @Test
    void null_members_are_left_out() {
        var map = new LinkedHashMap<String, Object>();
        map.put("a", null);
        map.put("b", 1);
        assertEquals("{\"b\":1}", Json.write(map));
    }

    @Test
    void mistakes_are_named() {
        for (var text : List.of("", "{", "[1,", "{\"a\" 1}", "\"a", "\"\\x\"", "\"\\u12\"", "tru", "1 2", "{1:2}", "--1", "]")) {
            assertThrows(IllegalArgumentException.class, () -> Json.parse(text), text);
        }
    }
}
