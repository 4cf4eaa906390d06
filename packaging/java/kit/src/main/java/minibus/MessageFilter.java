package minibus;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which messages are meant. A message must fit all that is set:
 * {@code f -> f.deadLetterReason("poison").sql("size > 5")}.
 */
public final class MessageFilter {
    private final Map<String, Object> values = new LinkedHashMap<>();
    private final List<String> states = new ArrayList<>();
    private String messageId;
    private String subject;
    private String sql;

    MessageFilter() {
    }

    /** With this id. */
    public MessageFilter messageId(String id) {
        messageId = id;
        return this;
    }

    /** With this subject. */
    public MessageFilter subject(String value) {
        subject = value;
        return this;
    }

    /** Of this session. */
    public MessageFilter sessionId(String id) {
        values.put("sessionId", id);
        return this;
    }

    /** With this text in the body, a property or its name, in letters of any case. */
    public MessageFilter text(String text) {
        values.put("text", text);
        return this;
    }

    /** Dead-lettered for this reason. */
    public MessageFilter deadLetterReason(String reason) {
        values.put("reason", reason);
        return this;
    }

    /** Selected by a SQL filter, as rules have them: {@code color = 'red'}. */
    public MessageFilter sql(String filter) {
        sql = filter;
        return this;
    }

    /** In one of these states: active, deferred, scheduled; for lists also locked. */
    public MessageFilter states(String... names) {
        states.addAll(List.of(names));
        return this;
    }

    /** Enqueued before this time. */
    public MessageFilter before(Instant time) {
        values.put("before", time);
        return this;
    }

    /** As the filter of a job or a wait. */
    Map<String, Object> body() {
        var body = new LinkedHashMap<>(values);
        body.put("sql", wholeSql());
        body.put("states", states.isEmpty() ? null : states);
        return body;
    }

    /** As the query of a list. */
    Map<String, Object> query() {
        var query = new LinkedHashMap<>(values);
        query.put("enqueuedBefore", query.remove("before"));
        query.put("sql", wholeSql());
        query.put("state", states.isEmpty() ? null : String.join(",", states));
        return query;
    }

    private String wholeSql() {
        var conditions = new ArrayList<String>();
        equal("sys.MessageId", messageId, conditions);
        equal("sys.Label", subject, conditions);
        if (sql != null) {
            conditions.add(conditions.isEmpty() ? sql : "(" + sql + ")");
        }
        return conditions.isEmpty() ? null : String.join(" AND ", conditions);
    }

    private static void equal(String name, String value, List<String> conditions) {
        if (value != null) {
            conditions.add(name + " = '" + value.replace("'", "''") + "'");
        }
    }
}
