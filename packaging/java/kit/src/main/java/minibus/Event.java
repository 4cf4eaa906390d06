package minibus;

import java.time.Instant;

/**
 * What happened to a message.
 *
 * @param number its number, among all events of the server
 * @param time when, by the clock of the namespace
 * @param kind what: sent, delivered, completed, deadLettered, ...
 * @param entity in which entity
 * @param subQueue in which sub-queue, such as $DeadLetterQueue; null: the main queue
 * @param sequenceNumber of the message
 * @param messageId of messages that come
 * @param deliveryCount the count of deliveries afterwards
 * @param detail the reason, the rule, the target of a forward, or the error
 * @param text all of it as a sentence
 */
public record Event(long number, Instant time, String kind, String entity, String subQueue, long sequenceNumber,
    String messageId, long deliveryCount, String detail, String text) {
    @Override
    public String toString() {
        return text;
    }
}
