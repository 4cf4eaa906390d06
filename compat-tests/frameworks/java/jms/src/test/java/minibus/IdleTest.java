package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.camel.CamelContext;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.component.amqp.AMQPComponent;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.jms.core.JmsTemplate;

/** Program 26: after 11 minutes without messages, links that have been idle for ten are detached. */
@Tag("nightly")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class IdleTest {
    @Test
    void program_26_springs_listener_answers_after_eleven_minutes() throws Exception {
        try (Bus bus = new Bus(new Setup(Client.AZURE, "premium"))) {
            final String[] settings = {
                "--spring.jms.servicebus.connection-string=" + Client.connectionString(bus.host, Bus.ROOT, Bus.KEY),
                "--spring.jms.servicebus.pricing-tier=premium", "--spring.jms.servicebus.topic-client-id=shop",
                "--spring.jms.cache.enabled=true", "--logging.level.root=off",
            };
            try (var context = new SpringApplicationBuilder(SpringApp.class).web(WebApplicationType.NONE).bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false).run(settings)) {
                final JmsTemplate template = context.getBean(JmsTemplate.class);
                template.setReceiveTimeout(Bus.SOON);
                TimeUnit.MINUTES.sleep(11);
                final Message answer = template.sendAndReceive("requests", session ->
                    session.createTextMessage("Spring"));
                assertEquals("Hello, Spring", Jms.text(answer));
            }
        }
    }

    @Test
    void program_26_camels_route_answers_after_eleven_minutes() throws Exception {
        try (Bus bus = new Bus(new Setup(Client.QPID, "relaxed")); CamelContext context = new DefaultCamelContext()) {
            bus.queue("requests");
            context.addComponent("amqp", new AMQPComponent(bus.factory(Bus.ROOT, null,
                Map.of("jms.prefetchPolicy.all", "0"))));
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("amqp:queue:requests").transform(simple("Hello, ${body}"));
                }
            });
            context.start();
            TimeUnit.MINUTES.sleep(11);
            assertEquals("Hello, Camel", context.createProducerTemplate().requestBody("amqp:queue:requests", "Camel",
                String.class));
        }
    }

    @Test
    void program_26_a_temporary_queue_lives_for_eleven_minutes() throws Exception {
        try (Bus bus = new Bus(new Setup(Client.AZURE, "relaxed"))) {
            final Session session = Jms.automatic(bus.connect());
            final TemporaryQueue queue = session.createTemporaryQueue();
            TimeUnit.MINUTES.sleep(11);
            final Session other = Jms.automatic(bus.connect());
            Jms.send(other, other.createProducer(queue), "still there");
            final MessageConsumer consumer = session.createConsumer(queue);
            assertEquals("still there", Jms.nextText(consumer));
        }
    }
}
