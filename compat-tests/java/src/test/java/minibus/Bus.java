package minibus;

import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The server under test, and how Java reaches it. compat_test.go starts it and says where it is.
 *
 * <p>The trust store is the JVM's, from -Djavax.net.ssl.trustStore; no client is told of it.
 */
final class Bus {
    static final String AMQP = System.getenv("MINIBUS_PORT_AMQP");
    static final String NAMESPACE = System.getenv("MINIBUS_NAMESPACE");
    static final String TLS = System.getenv("MINIBUS_PORT_TLS");

    /** The end of a connection string. */
    static final String KEY = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;";

    /** What a user pastes: with the emulator's flag, plain AMQP. */
    static final String PLAIN = connectionString(AMQP) + "UseDevelopmentEmulator=true;";

    /** The same without it: TLS. The port is needed only because the server under test is not on 5671. */
    static final String SECURE = connectionString(TLS);

    private static final AtomicInteger names = new AtomicInteger();

    private Bus() {
    }

    static String connectionString(String port) {
        return "Endpoint=sb://localhost:" + port + ";" + KEY;
    }

    /** A name that nothing has yet. */
    static String name(String kind) {
        return kind + "-" + names.incrementAndGet();
    }

    /** The administration client: it takes the host of the endpoint and drops the port for 443. */
    static ServiceBusAdministrationClientBuilder administration() {
        return new ServiceBusAdministrationClientBuilder().connectionString(SECURE);
    }

    /** The data plane over AMQPS. */
    static ServiceBusClientBuilder clients() {
        return new ServiceBusClientBuilder().connectionString(SECURE);
    }

    /** All that the public getters of an object say, by the name of the property, but for those left out. */
    static Map<String, Object> properties(Object of, String... without) {
        final Map<String, Object> all = new TreeMap<>();
        for (Method m : of.getClass().getMethods()) {
            final String property = property(m);
            if (property == null || Set.of(without).contains(property)) {
                continue;
            }
            try {
                all.put(property, m.invoke(of));
            } catch (IllegalAccessException | InvocationTargetException e) {
                throw new AssertionError(m + " fails", e);
            }
        }
        return all;
    }

    /** The property that a method reads, or null. */
    private static String property(Method m) {
        if (m.getParameterCount() > 0 || m.getDeclaringClass() == Object.class) {
            return null;
        }
        for (String prefix : new String[] {"get", "is"}) {
            if (m.getName().startsWith(prefix)) {
                return m.getName().substring(prefix.length());
            }
        }
        return null;
    }

    /** The first map with the second one's entries in place of its own. */
    static Map<String, Object> with(Map<String, Object> base, Map<String, ?> changes) {
        final Map<String, Object> all = new TreeMap<>(base);
        all.putAll(changes);
        return all;
    }
}
