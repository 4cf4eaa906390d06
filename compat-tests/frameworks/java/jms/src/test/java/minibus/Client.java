package minibus;

import com.azure.servicebus.jms.ServiceBusJmsConnectionFactory;
import com.azure.servicebus.jms.ServiceBusJmsConnectionFactorySettings;
import jakarta.jms.ConnectionFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.qpid.jms.JmsConnectionFactory;

/** A JMS client, as its users set it up. */
enum Client {
    /** Apache Qpid JMS by itself, over plain AMQP. */
    QPID {
        @Override
        ConnectionFactory factory(String host, String policy, String key, String clientId,
            Map<String, String> options) {
            final String query = options.entrySet().stream()
                .map(o -> o.getKey() + "=" + o.getValue()).collect(Collectors.joining("&"));
            final var factory = new JmsConnectionFactory(policy, key, "amqp://" + host + ":"
                + System.getenv("MINIBUS_PORT_AMQP") + "?" + query);
            if (clientId != null) {
                factory.setClientID(clientId);
            }
            return factory;
        }
    },

    /** Microsoft's azure-servicebus-jms, which always uses TLS and port 5671. */
    AZURE {
        @Override
        ConnectionFactory factory(String host, String policy, String key, String clientId,
            Map<String, String> options) {
            final var settings = new ServiceBusJmsConnectionFactorySettings(new HashMap<>(options));
            settings.setShouldReconnect(false); // a refusal would be tried again for ever
            final var factory = new ServiceBusJmsConnectionFactory(connectionString(host, policy, key), settings);
            if (clientId != null) {
                factory.setClientId(clientId);
            }
            return factory;
        }
    };

    /** A factory for connections to a host, with options of Qpid's URI and with a client id unless that is null. */
    abstract ConnectionFactory factory(String host, String policy, String key, String clientId,
        Map<String, String> options);

    static String connectionString(String host, String policy, String key) {
        return "Endpoint=sb://" + host + ";SharedAccessKeyName=" + policy + ";SharedAccessKey=" + key;
    }
}
