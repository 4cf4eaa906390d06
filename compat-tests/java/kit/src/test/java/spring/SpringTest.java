package spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.spring.messaging.servicebus.core.ServiceBusTemplate;
import minibus.MinibusNamespace;
import minibus.junit.Minibus;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.messaging.support.MessageBuilder;

@Minibus(queues = "parcels")
@SpringBootTest(properties = "spring.cloud.azure.servicebus.producer.entity-type=queue")
class SpringTest {
    @Autowired
    ServiceBusTemplate template;

    @Autowired
    Shop shop;

    @Test
    void aParcelArrives(MinibusNamespace bus) throws Exception {
        template.sendAsync("parcels", MessageBuilder.withPayload("one parcel").build()).block();
        assertEquals("one parcel", shop.parcels.take());
        bus.waitFor(wait -> wait.entity("parcels").idle());
    }
}
