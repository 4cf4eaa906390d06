package minibus;

import jakarta.jms.JMSException;
import jakarta.jms.Message;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jms.annotation.EnableJms;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.jms.config.DefaultJmsListenerContainerFactory;
import org.springframework.jms.config.JmsListenerContainerFactory;

/**
 * An application with the JMS starter of Spring Cloud Azure. Its listeners make the topic and the queues that they
 * need.
 */
@Configuration
@EnableAutoConfiguration
@EnableJms
class SpringApp {
    final BlockingQueue<String> audit = new LinkedBlockingQueue<>();
    final BlockingQueue<String> shared = new LinkedBlockingQueue<>();
    final BlockingQueue<Integer> failing = new LinkedBlockingQueue<>();

    /** Durable, as the starter's factory for topics has it. */
    @JmsListener(destination = "events", containerFactory = "topicJmsListenerContainerFactory", subscription = "audit")
    void audit(String event) {
        audit.add(event);
    }

    @JmsListener(destination = "events", containerFactory = "sharing", subscription = "workers", concurrency = "2")
    void share(String event) {
        shared.add(event);
    }

    @JmsListener(destination = "failing", containerFactory = "jmsListenerContainerFactory")
    void fail(Message message) throws JMSException {
        final int count = message.getIntProperty(Jms.DELIVERY_COUNT);
        failing.add(count);
        if (count < 3) {
            throw new IllegalStateException("not yet");
        }
    }

    /** Answers with a greeting. */
    @JmsListener(destination = "requests", containerFactory = "jmsListenerContainerFactory", concurrency = "4")
    String answer(String name) {
        return "Hello, " + name;
    }

    /** The starter's factory for topics, with shared subscriptions. */
    @Bean
    static JmsListenerContainerFactory<?> sharing(jakarta.jms.ConnectionFactory connections) {
        final DefaultJmsListenerContainerFactory factory = new DefaultJmsListenerContainerFactory();
        factory.setConnectionFactory(connections);
        factory.setPubSubDomain(true);
        factory.setSubscriptionShared(true);
        factory.setSubscriptionDurable(true);
        return factory;
    }
}
