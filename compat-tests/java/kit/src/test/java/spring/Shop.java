package spring;

import com.azure.spring.messaging.implementation.annotation.EnableAzureMessaging;
import com.azure.spring.messaging.servicebus.implementation.core.annotation.ServiceBusListener;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with Spring Cloud Azure: it listens to a queue. */
@SpringBootApplication
@EnableAzureMessaging
class Shop {
    final BlockingQueue<String> parcels = new LinkedBlockingQueue<>();

    @ServiceBusListener(destination = "parcels")
    void parcel(String label) {
        parcels.add(label);
    }
}
