package minibus;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Queues, topics and subscriptions that are declared.
 *
 * @param <S> the type itself
 */
public abstract class Declaration<S extends Declaration<S>> {
    final List<Declared> declared = new ArrayList<>(); // in this order, since one may forward to another
    Path configFile;
    private String configText;

    /** A queue or topic as it stands in Config.json. */
    record Declared(String kind, String name, Map<String, Object> body) {
    }

    Declaration() {
    }

    @SuppressWarnings("unchecked")
    private S self() {
        return (S) this;
    }

    /** Adds queues with the default settings. */
    public S queues(String... names) {
        for (var name : names) {
            queue(name);
        }
        return self();
    }

    /** Adds a queue with the default settings. */
    public S queue(String name) {
        return queue(name, settings -> { });
    }

    /** Adds a queue: {@code queue("work", q -> q.requiresSession(true))}. */
    public S queue(String name, Consumer<QueueSettings> settings) {
        var queue = new QueueSettings();
        settings.accept(queue);
        declared.add(new Declared("queue", name, queue.declaration(name)));
        return self();
    }

    /** Adds topics without subscriptions. */
    public S topics(String... names) {
        for (var name : names) {
            topic(name);
        }
        return self();
    }

    /** Adds a topic without subscriptions. */
    public S topic(String name) {
        return topic(name, settings -> { });
    }

    /** Adds a topic: {@code topic("events", t -> t.subscription("large", s -> s.filter("amount > 5")))}. */
    public S topic(String name, Consumer<TopicSettings> settings) {
        var topic = new TopicSettings();
        settings.accept(topic);
        declared.add(new Declared("topic", name, topic.declaration(name)));
        return self();
    }

    /** Adds the entities of a Config.json. */
    public S config(Path file) {
        configFile = file;
        return self();
    }

    /**
     * Adds the entities of the text of a Config.json, or of one namespace of it:
     * {@code {"Queues": [{"Name": "orders"}]}}.
     */
    public S config(String json) {
        configText = json;
        return self();
    }

    /** The text of the configuration, null without one. */
    String config() {
        if (configFile == null) {
            return configText;
        }
        try {
            return Files.readString(configFile);
        } catch (IOException e) {
            throw new MinibusException("The configuration " + configFile.toAbsolutePath() + " can't be read: " + e, e);
        }
    }

    /** What is declared beside the configuration, as a namespace of a Config.json. */
    Map<String, Object> entities() {
        return Control.body("Queues", bodies("queue"), "Topics", bodies("topic"));
    }

    private List<Map<String, Object>> bodies(String kind) {
        return declared.stream().filter(each -> each.kind.equals(kind)).map(Declared::body).toList();
    }
}
