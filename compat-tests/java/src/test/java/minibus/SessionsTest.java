package minibus;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.amqp.exception.AmqpException;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceiverClient;
import com.azure.messaging.servicebus.ServiceBusSessionReceiverClient;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Session receivers: by id, the next one, state, locks. */
class SessionsTest extends Case {
    private String queue;

    @BeforeEach
    void makeQueue() {
        queue = queue(new CreateQueueOptions().setSessionRequired(true));
    }

    private void sendTo(String session, String... bodies) {
        for (String body : bodies) {
            sender(queue).sendMessage(new ServiceBusMessage(body).setSessionId(session));
        }
    }

    private ServiceBusSessionReceiverClient sessions() {
        return sessions(clients());
    }

    private ServiceBusSessionReceiverClient sessions(ServiceBusClientBuilder builder) {
        return closing(builder.sessionReceiver().queueName(queue).disableAutoComplete().maxAutoLockRenewDuration(Duration.ZERO)
            .buildClient());
    }

    @Test
    @Proves("sess.accept")
    void a_session_by_its_id() {
        sendTo("a", "a1", "a2");
        sendTo("b", "b1");
        final ServiceBusReceiverClient a = closing(sessions().acceptSession("a"));
        assertEquals("a", a.getSessionId());
        final var got = receive(a, 2);
        assertEquals(List.of("a1", "a2"), bodies(got));
        assertEquals("a", got.get(0).getSessionId());
        got.forEach(a::complete);
        assertEmpty(a);
        assertEquals(1, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }

    @Test
    @Proves("sess.next")
    void the_next_session() {
        sendTo("a", "a1");
        sendTo("b", "b1");
        final ServiceBusSessionReceiverClient sessions = sessions();
        final var one = closing(sessions.acceptNextSession());
        final var other = closing(sessions.acceptNextSession());
        assertEquals(Set.of("a", "b"), Set.of(one.getSessionId(), other.getSessionId()));
        assertEquals(one.getSessionId() + "1", receiveOne(one).getBody().toString());
    }

    @Test
    @Proves("sess.state")
    void state_stays_with_the_session() {
        final byte[] state = "state".getBytes(StandardCharsets.UTF_8);
        final ServiceBusReceiverClient first = sessions().acceptSession("a");
        assertNull(first.getSessionState());
        first.setSessionState(state);
        first.close();
        // On its own connection: on one, the SDK may hand out the link that it is closing.
        final var second = closing(sessions(Bus.clients()).acceptSession("a"));
        assertArrayEquals(state, second.getSessionState());
        second.setSessionState(null);
        assertNull(second.getSessionState());
    }

    @Test
    @Proves({"sess.renew", "sess.held"})
    void a_lock_is_renewed_and_keeps_others_out() {
        final var holder = closing(sessions().acceptSession("a"));
        assertTrue(holder.renewSessionLock().isAfter(OffsetDateTime.now().plusSeconds(30)));
        final var impatient = Bus.clients().retryOptions(new AmqpRetryOptions().setMaxRetries(0).setTryTimeout(SOON));
        final var other = closing(impatient.sessionReceiver().queueName(queue).disableAutoComplete().buildClient());
        // Of what goes wrong while it accepts, the SDK shows the exception of its AMQP library.
        final AmqpException e = assertThrows(AmqpException.class, () -> other.acceptSession("a"));
        assertEquals("com.microsoft:session-cannot-be-locked", e.getErrorCondition().getErrorCondition());
    }

    @Test
    @Proves({"sess.defer", "sess.peek"})
    void defer_and_peek_within_a_session() {
        sendTo("a", "a1", "a2");
        sendTo("b", "b1");
        final var receiver = closing(sessions().acceptSession("a"));
        assertEquals(List.of("a1", "a2"), bodies(receiver.peekMessages(10)));
        final var m = receiveOne(receiver);
        receiver.defer(m);
        receiver.complete(receiver.receiveDeferredMessage(m.getSequenceNumber()));
        assertEquals(2, admin.getQueueRuntimeProperties(queue).getTotalMessageCount());
    }
}
