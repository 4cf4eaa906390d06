package spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import minibus.MinibusNamespace;
import minibus.junit.Minibus;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@SpringBootTest
@DirtiesContext
class PropertySourceTest {
    @Minibus(queues = "parcels")
    static MinibusNamespace bus;

    @DynamicPropertySource
    static void minibus(DynamicPropertyRegistry registry) {
        registry.add("spring.cloud.azure.servicebus.connection-string", () -> bus.connectionString());
    }

    @Autowired
    Shop shop;

    @Test
    void aParcelArrives() throws Exception {
        bus.send("parcels", "one parcel");
        assertEquals("one parcel", shop.parcels.take());
    }
}
