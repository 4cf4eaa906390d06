package minibus;

import io.smallrye.reactive.messaging.amqp.IncomingAmqpMetadata;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Message;

/** An application with channels to and from a queue, its dead letters, and a topic with a subscription. */
@ApplicationScoped
public class Shop {
    /** What came: the payload, and one application property. */
    public record Parcel(String label, String shop) { }

    @Channel("parcels-out")
    Emitter<String> parcelsOut;

    @Channel("orders-out")
    Emitter<String> ordersOut;

    private final BlockingQueue<Parcel> parcels = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> undeliverable = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    // The container hands out a proxy, which passes on calls and has fields of its own.

    Emitter<String> parcelsOut() {
        return parcelsOut;
    }

    Emitter<String> ordersOut() {
        return ordersOut;
    }

    BlockingQueue<Parcel> parcels() {
        return parcels;
    }

    BlockingQueue<String> undeliverable() {
        return undeliverable;
    }

    BlockingQueue<String> orders() {
        return orders;
    }

    @Incoming("parcels-in")
    CompletionStage<Void> parcel(Message<String> parcel) {
        if (parcel.getPayload().equals("broken")) {
            return parcel.nack(new IllegalArgumentException("a broken parcel"));
        }
        final String shop = parcel.getMetadata(IncomingAmqpMetadata.class).orElseThrow().getProperties().getString("shop");
        parcels.add(new Parcel(parcel.getPayload(), shop));
        return parcel.ack();
    }

    @Incoming("undeliverable")
    void undeliverable(String label) {
        undeliverable.add(label);
    }

    @Incoming("billing")
    void order(String order) {
        orders.add(order);
    }
}
