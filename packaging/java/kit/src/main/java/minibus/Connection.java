package minibus;

import java.time.Instant;
import java.util.List;

/**
 * A client's connection.
 *
 * @param id its id, as in the log
 * @param remote the client's address
 * @param transport tcp, tls, websocket, websocket-tls, memory or http
 * @param since when it began
 * @param container the id of the client's application or container
 * @param product the client library
 * @param version the version of the client library
 * @param links its links
 */
public record Connection(String id, String remote, String transport, Instant since, String container, String product,
    String version, List<Link> links) {
    /**
     * A link.
     *
     * @param id its number on the connection
     * @param role of the client: receiver or sender
     * @param address what it is attached to
     * @param entity the entity
     * @param subQueue the sub-queue; null: the main queue
     * @param credit how many messages the receiver takes
     * @param unsettled messages that are not settled
     * @param sessionId the session that the receiver holds
     */
    public record Link(long id, String role, String address, String entity, String subQueue, long credit,
        long unsettled, String sessionId) {
    }
}
