package minibus;

import java.time.Duration;

/**
 * What a queue and a subscription have in common: receivers.
 *
 * @param <S> the type itself
 */
public abstract class ReceivableSettings<S extends ReceivableSettings<S>> extends Settings<S> {
    ReceivableSettings() {
    }

    /** How long a message is locked for its receiver. */
    public S lockDuration(Duration time) {
        return set("LockDuration", time);
    }

    /** How often a message is delivered before it is dead-lettered. */
    public S maxDeliveryCount(int count) {
        return set("MaxDeliveryCount", count);
    }

    /** Whether receivers take messages by sessions. */
    public S requiresSession(boolean on) {
        return set("RequiresSession", on);
    }

    /** Whether messages that expire are dead-lettered. */
    public S deadLetteringOnMessageExpiration(boolean on) {
        return set("DeadLetteringOnMessageExpiration", on);
    }

    /** The queue or topic to which messages go on. */
    public S forwardTo(String entity) {
        return set("ForwardTo", entity);
    }

    /** The queue or topic to which dead-lettered messages go on. */
    public S forwardDeadLetteredMessagesTo(String entity) {
        return set("ForwardDeadLetteredMessagesTo", entity);
    }
}
