package minibus;

import java.time.Duration;

/** The settings of a queue. */
public final class QueueSettings extends ReceivableSettings<QueueSettings> {
    QueueSettings() {
    }

    /** Whether a message with an id that was there before is dropped, and for how long ids are remembered. */
    public QueueSettings detectsDuplicates(Duration history) {
        return set("RequiresDuplicateDetection", true).set("DuplicateDetectionHistoryTimeWindow", history);
    }
}
