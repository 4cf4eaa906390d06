package minibus;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.messaging.Message;

/** An application with Spring Cloud Stream: functions bound to a queue, a topic with a subscription, and a dead-letter queue. */
@SpringBootApplication
class Shop {
    record Bill(String order, Object shop) { }

    final BlockingQueue<Bill> bills = new LinkedBlockingQueue<>();
    final BlockingQueue<Object> undeliverable = new LinkedBlockingQueue<>();

    /** From the queue to the topic. */
    @Bean
    Function<String, String> pack() {
        return parcel -> {
            if (parcel.equals("broken")) {
                throw new IllegalArgumentException("a broken parcel");
            }
            return parcel + ", packed";
        };
    }

    @Bean
    Consumer<Message<String>> bill() {
        return order -> bills.add(new Bill(order.getPayload(), order.getHeaders().get("shop")));
    }

    @Bean
    Consumer<Message<String>> lament() {
        return parcel -> undeliverable.add(parcel.getPayload());
    }
}
