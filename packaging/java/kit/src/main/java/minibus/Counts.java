package minibus;

/**
 * How many messages an entity has.
 *
 * @param active active ones, with those that are locked or deferred
 * @param deferred of the active ones, those that are deferred
 * @param scheduled those that become active later
 * @param deadLetter dead-lettered ones
 * @param transfer those that wait to be forwarded
 * @param transferDeadLetter those that could not be forwarded
 * @param sizeBytes what they take of the entity's quota
 */
public record Counts(long active, long deferred, long scheduled, long deadLetter, long transfer,
    long transferDeadLetter, long sizeBytes) {
}
