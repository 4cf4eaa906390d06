package minibus;

import java.time.Duration;
import java.time.Instant;

/**
 * The time of a namespace. Locks, schedules, times to live, duplicate detection and idle entities follow it; the
 * clocks of programs do not.
 */
public final class MinibusClock {
    private final MinibusNamespace bus;

    MinibusClock(MinibusNamespace bus) {
        this.bus = bus;
    }

    /** What it shows. */
    public Instant now() {
        return Instant.parse((String) bus.ask("GET", "/clock", null).get("now"));
    }

    /** Lets time pass. Everything that falls due on the way has happened when it returns. */
    public void advance(Duration time) {
        bus.request("POST", "/clock/advance", Control.body("by", time));
    }

    /** Lets time pass: {@code advance("1h30m")}. */
    public void advance(String time) {
        advance(Durations.parse(time));
    }

    /** Lets time pass until an instant. A clock never goes back. */
    public void set(Instant time) {
        bus.request("PUT", "/clock", Control.body("now", time));
    }

    /** Stops the clock: no lock expires and no schedule fires, however long the test takes. */
    public void freeze() {
        bus.request("POST", "/clock/freeze", null);
    }

    /** Lets a frozen clock go on. */
    public void resume() {
        bus.request("POST", "/clock/resume", null);
    }
}
