package minibus;

import java.util.Map;

/** A fault. Closing it removes it. */
public final class MinibusFault implements AutoCloseable {
    private final MinibusNamespace bus;
    private final long id;
    private final String kind;

    MinibusFault(MinibusNamespace bus, Map<?, ?> fault) {
        this.bus = bus;
        id = (Long) fault.get("id");
        kind = (String) fault.get("kind");
    }

    /** Its number. */
    public long id() {
        return id;
    }

    /** Its kind, such as throttle. */
    public String kind() {
        return kind;
    }

    /** How many operations it has hit. */
    public long hits() {
        return (Long) bus.ask("GET", path(), null).get("hits");
    }

    /** Removes it. What it holds back goes on. */
    public void remove() {
        bus.control.delete(bus.path(path()));
    }

    @Override
    public void close() {
        remove();
    }

    private String path() {
        return "/faults/" + id;
    }
}
