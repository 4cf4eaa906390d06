package minibus;

/** What a fault does to an operation. */
public enum FaultKind {
    /** Refuses it with {@code com.microsoft:server-busy}. */
    THROTTLE("throttle"),
    /** Refuses it with a condition. */
    REFUSE("refuse"),
    /** Detaches its link. */
    DETACH("detach"),
    /** Cuts its connection. */
    DROP("drop"),
    /** Closes its connection with an error. */
    CLOSE("close"),
    /** Ends the lock of its message. */
    LOSE_LOCK("loseLock"),
    /** Ends the lock of its session. */
    LOSE_SESSION("loseSession"),
    /** Delays its outcome, in real time. */
    DELAY("delay"),
    /** Gives senders no credit and receivers no messages. */
    STARVE("starve"),
    /** Fails to write it down. */
    FAIL_JOURNAL("failJournal"),
    /** Expires the tokens of its connection. */
    EXPIRE_TOKEN("expireToken");

    private final String id;

    FaultKind(String id) {
        this.id = id;
    }

    @Override
    public String toString() {
        return id;
    }
}
