package minibus;

import java.time.Instant;

/**
 * A link or token that Minibus refused.
 *
 * @param time when
 * @param operation attach or put-token
 * @param condition the AMQP condition of the error
 * @param entity what the client asked for; null: the whole namespace
 * @param text what the client was told
 */
public record Refusal(Instant time, String operation, String condition, String entity, String text) {
}
