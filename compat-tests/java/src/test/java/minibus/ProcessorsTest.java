package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.messaging.servicebus.ServiceBusErrorSource;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusReceivedMessageContext;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.models.SubQueue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** ServiceBusProcessorClient: what becomes of a message when its handler returns, fails, works for long. */
class ProcessorsTest extends Case {
    private static void until(BooleanSupplier condition, String what) {
        final long end = System.nanoTime() + SOON.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, what);
            pause(20);
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the processor is being stopped
        }
    }

    private static long left(String queue) {
        return admin.getQueueRuntimeProperties(queue).getTotalMessageCount();
    }

    @Test
    @Proves("proc.concurrent")
    void as_many_handlers_as_allowed() {
        final String queue = queue();
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final var processor = closing(clients().processor().queueName(queue).maxConcurrentCalls(4).processMessage(m -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            for (final long end = System.nanoTime() + SOON.toNanos() / 2; most.get() < 4 && System.nanoTime() < end;) {
                pause(20);
            }
            pause(100); // for one too many
            running.decrementAndGet();
        }).processError(e -> { }).buildProcessorClient());
        send(queue, IntStream.range(0, 12).mapToObj(Integer::toString).toArray(String[]::new));
        processor.start();
        until(() -> left(queue) == 0, "all are completed");
        assertEquals(4, most.get());
    }

    @Test
    @Proves("proc.fail")
    void what_the_handler_fails_on() {
        final String queue = queue();
        final List<Long> counts = new CopyOnWriteArrayList<>();
        final List<ServiceBusErrorSource> sources = new CopyOnWriteArrayList<>();
        final var processor = closing(clients().processor().queueName(queue).processMessage(m -> {
            counts.add(m.getMessage().getDeliveryCount());
            if (counts.size() == 1) {
                throw new IllegalStateException("not now");
            }
        }).processError(e -> sources.add(e.getErrorSource())).buildProcessorClient());
        send(queue, "m");
        processor.start();
        until(() -> left(queue) == 0, "it is completed");
        assertEquals(List.of(0L, 1L), counts);
        assertEquals(List.of(ServiceBusErrorSource.USER_CALLBACK), sources);
    }

    @Test
    @Proves("proc.manual")
    void the_handler_settles() {
        final String queue = queue();
        final var processor = closing(clients().processor().queueName(queue).disableAutoComplete().processMessage(m -> {
            switch (m.getMessage().getBody().toString()) {
                case "complete" -> m.complete();
                case "dead" -> m.deadLetter();
                default -> m.defer();
            }
        }).processError(e -> { }).buildProcessorClient());
        send(queue, "complete", "dead", "defer");
        processor.start();
        final var letters = closing(receiverOf(queue).subQueue(SubQueue.DEAD_LETTER_QUEUE).buildClient());
        assertEquals("dead", receiveOne(letters).getBody().toString());
        until(() -> left(queue) == 2, "one is completed");
        until(() -> receiver(queue).peekMessage().getState().toString().equals("DEFERRED"), "one is deferred");
    }

    @Test
    @Proves("proc.renew")
    void the_lock_is_renewed() {
        final String queue = queue(new CreateQueueOptions().setLockDuration(Duration.ofSeconds(5)));
        final AtomicInteger calls = new AtomicInteger();
        final var processor = closing(clients().processor().queueName(queue).maxAutoLockRenewDuration(Duration.ofMinutes(1)).processMessage(m -> {
            calls.incrementAndGet();
            pause(7000);
        }).processError(e -> { }).buildProcessorClient());
        send(queue, "m");
        processor.start();
        until(() -> left(queue) == 0, "it is completed");
        assertEquals(1, calls.get());
    }

    @Test
    @Proves({"proc.sessions", "sess.share"})
    void sessions_at_once_and_in_order() {
        final String queue = queue(new CreateQueueOptions().setSessionRequired(true));
        final var sender = sender(queue);
        for (int i = 0; i < 5; i++) {
            final String body = "" + i;
            sender.sendMessages(IntStream.range(0, 20).mapToObj(s -> new ServiceBusMessage(body).setSessionId("s" + s)).toList());
        }
        final Map<String, List<String>> seen = new ConcurrentHashMap<>();
        final var processor = closing(clients().sessionProcessor().queueName(queue).maxConcurrentSessions(4).sessionIdleTimeout(Duration.ofSeconds(1))
            .processMessage(m -> seen.computeIfAbsent(m.getMessage().getSessionId(), s -> new CopyOnWriteArrayList<>())
                .add(m.getMessage().getBody().toString()))
            .processError(e -> { }).buildProcessorClient());
        processor.start();
        until(() -> left(queue) == 0, "all are completed");
        assertEquals(20, seen.size());
        seen.forEach((session, bodies) -> assertEquals(List.of("0", "1", "2", "3", "4"), bodies, session));
    }

    @Test
    @Proves("proc.stop")
    void a_stopped_processor_takes_nothing() {
        final String queue = queue();
        final List<String> seen = new CopyOnWriteArrayList<>();
        final var processor = closing(clients().processor().queueName(queue)
            .processMessage((ServiceBusReceivedMessageContext m) -> seen.add(m.getMessage().getBody().toString())).processError(e -> { }).buildProcessorClient());
        processor.start();
        send(queue, "before");
        until(() -> left(queue) == 0, "it is completed");
        processor.close();
        send(queue, "after");
        assertEquals(0, receiveOne(receiver(queue)).getDeliveryCount());
        assertEquals(List.of("before"), seen);
    }

    @Test
    @Proves("proc.deleted")
    void the_queue_is_deleted() {
        final String queue = queue();
        final List<Throwable> errors = new CopyOnWriteArrayList<>();
        final var processor = closing(clients().processor().queueName(queue).processMessage(m -> { })
            .processError(e -> errors.add(e.getException())).buildProcessorClient());
        processor.start();
        send(queue, "m");
        until(() -> left(queue) == 0, "it is attached");
        admin.deleteQueue(queue);
        until(() -> !errors.isEmpty(), "the error handler hears of it");
    }
}
