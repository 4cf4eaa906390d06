package minibus;

import java.util.List;
import java.util.function.Consumer;

/**
 * What goes wrong for the clients of a namespace. The methods that are named after a kind take the entity, null for
 * all, and what else the fault hits: {@code faults.throttle("orders", f -> f.count(2))}.
 */
public final class MinibusFaults {
    private final MinibusNamespace bus;

    MinibusFaults(MinibusNamespace bus) {
        this.bus = bus;
    }

    /** Injects a fault. */
    public MinibusFault inject(FaultKind kind, Consumer<FaultOptions> options) {
        var order = new FaultOptions();
        options.accept(order);
        order.values.put("kind", kind);
        return new MinibusFault(bus, bus.ask("POST", "/faults", order.values));
    }

    private MinibusFault inject(FaultKind kind, String entity, Consumer<FaultOptions> options) {
        return inject(kind, order -> options.accept(order.entity(entity)));
    }

    /** The faults that there are. */
    public List<MinibusFault> list() {
        return bus.control.list(bus.path("/faults")).stream().map(each -> new MinibusFault(bus, each)).toList();
    }

    /** Removes all faults. */
    public void remove() {
        bus.ask("DELETE", "/faults", null);
    }

    /** Refuses operations with {@code com.microsoft:server-busy}. */
    public MinibusFault throttle(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.THROTTLE, entity, options);
    }

    /** Refuses operations with a condition. */
    public MinibusFault refuse(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.REFUSE, entity, options);
    }

    /** Detaches links. */
    public MinibusFault detach(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.DETACH, entity, options);
    }

    /** Cuts connections. */
    public MinibusFault drop(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.DROP, entity, options);
    }

    /** Closes connections with an error. */
    public MinibusFault close(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.CLOSE, entity, options);
    }

    /** Ends the locks of messages when they are settled or renewed. */
    public MinibusFault loseLock(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.LOSE_LOCK, entity, options);
    }

    /** Ends the locks of sessions when messages are settled or locks renewed. */
    public MinibusFault loseSession(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.LOSE_SESSION, entity, options);
    }

    /** Delays outcomes, in real time. */
    public MinibusFault delay(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.DELAY, entity, options);
    }

    /** Gives senders no credit and receivers no messages. */
    public MinibusFault starve(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.STARVE, entity, options);
    }

    /** Fails to write operations down. */
    public MinibusFault failJournal(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.FAIL_JOURNAL, entity, options);
    }

    /** Expires the tokens of connections. */
    public MinibusFault expireToken(String entity, Consumer<FaultOptions> options) {
        return inject(FaultKind.EXPIRE_TOKEN, entity, options);
    }
}
