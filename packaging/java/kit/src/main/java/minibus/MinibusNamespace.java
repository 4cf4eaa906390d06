package minibus;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A namespace: entities, messages, keys and a clock, apart from all other namespaces. Entities are named by their
 * paths: {@code orders}, {@code events/Subscriptions/large}, {@code orders/$DeadLetterQueue}.
 *
 * <p>Every method throws a {@link MinibusException} for what Minibus refuses. Objects of this class may be used by
 * several threads.
 */
public class MinibusNamespace implements AutoCloseable {
    private static final int PAGE = 1000;

    /** What Minibus takes for a request at most, as a job or an advance of the clock. */
    static final Duration LONGEST = Duration.ofSeconds(60);

    final Control control;
    private final String name;
    private final String connectionString;
    private final MinibusClock clock = new MinibusClock(this);
    private final MinibusFaults faults = new MinibusFaults(this);

    MinibusNamespace(Control control, String name, String connectionString) {
        this.control = control;
        this.name = name;
        this.connectionString = connectionString;
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** For the clients of the SDK: {@code new ServiceBusClientBuilder().connectionString(bus.connectionString())}. */
    public String connectionString() {
        return connectionString;
    }

    /** Where the explorer shows it. */
    public URI explorerUrl() {
        return control.origin().resolve("/#/" + Control.encode(name));
    }

    /** Its time, which locks, schedules and times to live follow. */
    public MinibusClock clock() {
        return clock;
    }

    /** What goes wrong for its clients. */
    public MinibusFaults faults() {
        return faults;
    }

    /** Makes entities what they are declared: creates new ones and changes others. What is not declared stays. */
    public void put(Consumer<Entities> declare) {
        var entities = new Entities();
        declare.accept(entities);
        if (entities.config() != null) {
            ask("POST", "/config", entities.config());
        }
        putDeclared(entities);
    }

    final void putDeclared(Declaration<?> declared) {
        for (var entity : declared.declared) {
            ask("PUT", entityPath(entity.name()) + "?kind=" + entity.kind(), entity.body());
        }
    }

    /** Deletes an entity with its messages. */
    public void delete(String entity) {
        ask("DELETE", entityPath(entity), null);
    }

    /** How many messages an entity has. */
    public Counts counts(String entity) {
        return Json.read(Counts.class, (Map<?, ?>) ask("GET", entityPath(entity), null).get("counts"));
    }

    /** Sends messages, all or none, and returns their sequence numbers. */
    public List<Long> send(String entity, MinibusMessage... messages) {
        var bodies = Stream.of(messages).map(MinibusMessage::json).toList();
        var sent = ask("POST", entityPath(entity) + "/messages", bodies);
        return ((List<?>) sent.get("sequenceNumbers")).stream().map(Long.class::cast).toList();
    }

    /** Sends a text and returns its sequence number. */
    public long send(String entity, String body) {
        return send(entity, new MinibusMessage(body)).get(0);
    }

    /** The messages of an entity or sub-queue, without receiving them. */
    public List<MinibusMessage> messages(String entity) {
        return messages(entity, filter -> { });
    }

    /** The messages of an entity or sub-queue that the filter selects, without receiving them. */
    public List<MinibusMessage> messages(String entity, Consumer<MessageFilter> filter) {
        var selected = new MessageFilter();
        filter.accept(selected);
        var query = selected.query();
        query.put("limit", PAGE);
        query.put("body", 4096);
        query.put("properties", true);
        var list = new ArrayList<MinibusMessage>();
        for (var item : control.list(path(entityPath(entity) + "/messages" + Control.query(query)))) {
            list.add(whole(entity, new MinibusMessage(strings(item))));
        }
        return list;
    }

    /** Fetches a message again whose body is longer than a list shows. */
    private MinibusMessage whole(String entity, MinibusMessage listed) {
        if (!Boolean.TRUE.equals(listed.json().get("bodyCut"))) {
            return listed;
        }
        try {
            var path = entityPath(entity) + "/messages/" + listed.sequenceNumber();
            return new MinibusMessage(strings(ask("GET", path, null)));
        } catch (MinibusException e) {
            if (e.status() != 404) {
                throw e;
            }
            return listed; // it is gone meanwhile
        }
    }

    /** The messages of the entity's dead-letter queue. */
    public List<MinibusMessage> deadLetters(String entity) {
        return messages(named(entity) + "/$DeadLetterQueue");
    }

    /** The messages of the entity's dead-letter queue that the filter selects. */
    public List<MinibusMessage> deadLetters(String entity, Consumer<MessageFilter> filter) {
        return messages(named(entity) + "/$DeadLetterQueue", filter);
    }

    /** Sends all dead-lettered messages of an entity to it again, and returns how many. */
    public long resubmit(String entity) {
        return resubmit(entity, filter -> { }, edit -> { });
    }

    /** Sends the dead-lettered messages that the filter selects to their entity again, and returns how many. */
    public long resubmit(String entity, Consumer<MessageFilter> filter) {
        return resubmit(entity, filter, edit -> { });
    }

    /**
     * Changes the dead-lettered messages that the filter selects, sends them to their entity again, and returns how
     * many.
     */
    public long resubmit(String entity, Consumer<MessageFilter> filter, Consumer<MessageEdit> edit) {
        var edited = new MessageEdit();
        edit.accept(edited);
        return job("resubmit", entity, filter, edited.body());
    }

    /** Removes all active messages of an entity or sub-queue, and returns how many. */
    public long purge(String entity) {
        return purge(entity, filter -> { });
    }

    /** Removes the messages of an entity or sub-queue that the filter selects, and returns how many. */
    public long purge(String entity, Consumer<MessageFilter> filter) {
        return job("purge", entity, filter, null);
    }

    private long job(String kind, String entity, Consumer<MessageFilter> filter, Object edit) {
        var selected = new MessageFilter();
        filter.accept(selected);
        var order = Control.body("kind", kind, "entity", named(entity), "filter", selected.body(), "edit", edit);
        var job = ask("POST", "/jobs?wait=60s", order, LONGEST);
        while ("running".equals(job.get("state"))) {
            job = ask("GET", "/jobs/" + job.get("id") + "?wait=60s", null, LONGEST);
        }
        var failures = ((List<?>) job.get("errors")).stream()
            .map(each -> String.valueOf(((Map<?, ?>) each).get("detail"))).toList();
        if (!"done".equals(job.get("state")) || !failures.isEmpty()) {
            var why = job.get("why") == null ? String.join("\n", failures) : job.get("why");
            throw new MinibusException(409,
                "To " + kind + " messages of " + entity + " failed after " + job.get("done") + ": " + why, failures);
        }
        return (Long) job.get("done");
    }

    /**
     * What happened to the messages with an id: sent, delivered, completed, ..., in this order. It knows messages
     * that are gone too.
     */
    public List<Event> history(String messageId) {
        return events(ask("GET", "/history/life" + Control.query(Map.of("messageId", messageId)), null));
    }

    /** What happened in the namespace, the oldest event first. */
    public List<Event> events(Consumer<EventFilter> filter) {
        var selected = new EventFilter();
        filter.accept(selected);
        var query = selected.query();
        query.put("limit", PAGE);
        var list = new ArrayList<Event>();
        List<Event> page;
        do {
            var answer = ask("GET", "/history" + Control.query(query), null);
            page = events(answer);
            list.addAll(page);
            query.put("cursor", answer.get("next"));
        } while (page.size() == PAGE);
        return list;
    }

    private static List<Event> events(Map<?, ?> answer) {
        return ((List<?>) answer.get("items")).stream().map(each -> Json.read(Event.class, (Map<?, ?>) each)).toList();
    }

    /**
     * Waits until something holds.
     *
     * @throws MinibusException if it does not hold in time: the message says how it stands and why nothing is received
     */
    public void waitFor(Consumer<Wait> condition) {
        var wait = new Wait();
        condition.accept(wait);
        var answer = ask("POST", "/wait", wait.body(), wait.timeout);
        if (Boolean.TRUE.equals(answer.get("met"))) {
            return;
        }
        var text = "Not met after " + Durations.text(wait.timeout) + ": " + answer.get("text");
        if (answer.get("wanted") != null) {
            text += "; wanted: " + answer.get("wanted");
        }
        if (answer.get("why") instanceof Map<?, ?> why) {
            text += "\n" + Json.read(Diagnosis.class, why);
        }
        throw new MinibusException(408, text, List.of());
    }

    /** Says why nothing is received from an entity, and what to do. */
    public Diagnosis why(String entity) {
        return Json.read(Diagnosis.class, ask("GET", entityPath(entity) + "/why", null));
    }

    /** Says which subscriptions of a topic a message would reach. Nothing is sent. */
    public Match match(String topic, MinibusMessage message) {
        var body = Control.body("message", message.json());
        return Json.read(Match.class, ask("POST", entityPath(topic) + "/match", body));
    }

    /** The links and tokens that Minibus has refused. */
    public List<Refusal> refusals() {
        return control.list(path("/refusals")).stream().map(each -> Json.read(Refusal.class, each)).toList();
    }

    /** The clients that are connected. */
    public List<Connection> connections() {
        return control.list(path("/connections")).stream().map(each -> Json.read(Connection.class, each)).toList();
    }

    /** Saves what is in the namespace under a name, and replaces an earlier one. */
    public void snapshot(String snapshot) {
        ask("POST", "/snapshots", Control.body("name", snapshot, "replace", true));
    }

    /** Makes the namespace what it was when the snapshot was saved. */
    public void restore(String snapshot) {
        ask("POST", "/snapshots/" + Control.encode(snapshot) + "/restore", null);
    }

    /** Makes the namespace what it was at the start, and empty. Clients stay connected. */
    public void reset() {
        ask("POST", "/reset", null);
    }

    /**
     * Sends any request of the control API.
     *
     * @param method such as GET
     * @param path below that of the namespace, such as {@code /tree}; in it an entity's slashes are {@code %2F}
     * @param body a map, a list, or the JSON as a text; null: none
     * @return the JSON of the answer as maps and lists; null without one
     */
    public Object request(String method, String path, Object body) {
        return control.send(method, path(path), body, LONGEST);
    }

    final Map<?, ?> ask(String method, String path, Object body) {
        return ask(method, path, body, Duration.ZERO);
    }

    final Map<?, ?> ask(String method, String path, Object body, Duration wait) {
        return (Map<?, ?>) control.send(method, path(path), body, wait);
    }

    private static String entityPath(String entity) {
        return "/entities/" + Control.encode(named(entity));
    }

    private static String named(String entity) {
        if (entity == null || entity.isEmpty()) {
            throw new IllegalArgumentException("The argument entity is " + (entity == null ? "null" : "empty")
                + "; want one such as orders or events/Subscriptions/audit");
        }
        return entity;
    }

    final String path(String rest) {
        return "namespaces/" + Control.encode(name) + rest;
    }

    private static Map<String, Object> strings(Map<?, ?> map) {
        @SuppressWarnings("unchecked")
        var strings = (Map<String, Object>) map;
        return strings;
    }

    /** Deletes the namespace. */
    @Override
    public void close() {
        control.delete(path(""));
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + " " + name;
    }
}
