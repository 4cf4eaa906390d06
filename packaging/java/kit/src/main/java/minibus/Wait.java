package minibus;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What to wait for. All of it must hold at one moment: {@code w -> w.entity("orders").idle().count("deadLetter", 1)}.
 */
public final class Wait {
    private final Map<String, Object> values = new LinkedHashMap<>();
    private final List<Object> counts = new ArrayList<>();
    Duration timeout = Duration.ofSeconds(10);

    Wait() {
    }

    /** Sets the entity or sub-queue of {@link #idle} and the counts. */
    public Wait entity(String path) {
        values.put("entity", path);
        return this;
    }

    /** Until no message of the entity is active, locked or waits to be forwarded: its receivers are done. */
    public Wait idle() {
        values.put("idle", true);
        return this;
    }

    /**
     * Until the entity has exactly so many of active, deferred, scheduled, deadLetter, transfer or
     * transferDeadLetter.
     */
    public Wait count(String of, long exactly) {
        return counts(of, exactly, exactly);
    }

    /** Until the entity has so many or more. */
    public Wait atLeast(String of, long least) {
        return counts(of, least, null);
    }

    /** Until the entity has so many or fewer. */
    public Wait atMost(String of, long most) {
        return counts(of, null, most);
    }

    private Wait counts(String of, Long least, Long most) {
        counts.add(Control.body("of", of, "least", least, "most", most));
        return this;
    }

    /** Until a message is in an entity or sub-queue that the filter selects. */
    public Wait message(String entity, Consumer<MessageFilter> filter) {
        var selected = new MessageFilter();
        filter.accept(selected);
        values.put("message", Control.body("entity", entity, "filter", selected.body()));
        return this;
    }

    /** Until so many events that the filter selects have happened. */
    public Wait events(int times, Consumer<EventFilter> filter) {
        var selected = new EventFilter();
        filter.accept(selected);
        values.put("events", selected.body(times));
        return this;
    }

    /** Sets how long to wait at most, in real time; 10 seconds without it. */
    public Wait timeout(Duration time) {
        timeout = time;
        return this;
    }

    Map<String, Object> body() {
        values.put("counts", counts.isEmpty() ? null : counts);
        values.put("timeoutSeconds", timeout.toMillis() / 1000.0);
        return values;
    }
}
