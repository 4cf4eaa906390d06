package minibus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessageContext;
import com.azure.spring.messaging.ConsumerIdentifier;
import com.azure.spring.messaging.PropertiesSupplier;
import com.azure.spring.messaging.implementation.annotation.EnableAzureMessaging;
import com.azure.spring.messaging.servicebus.core.properties.ProcessorProperties;
import com.azure.spring.messaging.servicebus.implementation.core.annotation.ServiceBusListener;
import com.azure.spring.messaging.servicebus.support.ServiceBusMessageHeaders;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;

/** An application with Spring Cloud Azure: it listens to a queue, its dead letters, a subscription and a queue with sessions. */
@SpringBootApplication
@EnableAzureMessaging
class Shop {
    record Order(String what, int pounds) { }

    record Parcel(String label, Map<String, Object> headers) { }

    final BlockingQueue<Parcel> parcels = new LinkedBlockingQueue<>();
    final BlockingQueue<Parcel> undeliverable = new LinkedBlockingQueue<>();
    final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    final BlockingQueue<String> tours = new LinkedBlockingQueue<>();

    @ServiceBusListener(destination = "parcels")
    void parcel(String label, @Headers Map<String, Object> headers) {
        parcels.add(new Parcel(label, headers));
        if (label.equals("broken")) {
            throw new IllegalArgumentException("a broken parcel");
        }
    }

    @ServiceBusListener(destination = "parcels/$deadletterqueue")
    void undeliverable(String label, @Headers Map<String, Object> headers) {
        undeliverable.add(new Parcel(label, headers));
    }

    @ServiceBusListener(destination = "orders", group = "billing")
    void order(Order order) {
        orders.add(order);
    }

    @ServiceBusListener(destination = "tours")
    void stop(String stop, @Header(ServiceBusMessageHeaders.RECEIVED_MESSAGE_CONTEXT) ServiceBusReceivedMessageContext context) {
        tours.add(context.getMessage().getSessionId() + " " + stop);
    }

    /** Sessions are on for the queue that has them. */
    @Bean
    PropertiesSupplier<ConsumerIdentifier, ProcessorProperties> processors() {
        return entity -> {
            final ProcessorProperties properties = new ProcessorProperties();
            properties.setSessionEnabled(entity.getDestination().equals("tours"));
            return properties;
        };
    }
}
