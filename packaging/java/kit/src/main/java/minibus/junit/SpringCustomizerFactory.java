package minibus.junit;

import static org.junit.platform.commons.support.AnnotationSupport.findAnnotatedFields;

import java.lang.reflect.Field;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import minibus.MinibusException;
import org.junit.platform.commons.support.ModifierSupport;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Tells the application of a Spring test where the namespace of its class is, and keeps the namespaces of the class
 * as long as the application runs. META-INF/spring.factories names it; without Spring nobody loads it.
 */
final class SpringCustomizerFactory implements ContextCustomizerFactory {
    private static final List<String> PROPERTIES = List.of("spring.cloud.azure.servicebus.connection-string",
        "SERVICEBUS_CONNECTION_STRING", "AZURE_SERVICEBUS_CONNECTION_STRING");

    @Override
    public ContextCustomizer createContextCustomizer(Class<?> type, List<ContextConfigurationAttributes> attributes) {
        var annotated = Annotated.of(type);
        var none = annotated == null || annotated.minibus().perTest();
        return none && Customizer.fields(type).isEmpty() ? null : new Customizer(type);
    }

    /** Customizers of one class are equal, so its tests share an application. */
    private record Customizer(Class<?> type) implements ContextCustomizer {
        static List<Field> fields(Class<?> type) {
            return findAnnotatedFields(type, Minibus.class, ModifierSupport::isStatic);
        }

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            var leases = new ArrayList<Lease>();
            var annotated = Annotated.of(type);
            if (annotated != null && !annotated.minibus().perTest()) {
                var lease = annotated.lease();
                leases.add(lease);
                var values = new HashMap<String, Object>();
                PROPERTIES.forEach(name -> values.put(name, lease.namespace().connectionString()));
                context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("minibus", values));
            }
            fields(type).forEach(field -> leases.add(Lease.of(field, field.getAnnotation(Minibus.class))));
            // What is registered first is destroyed last: the listeners have stopped by then.
            var beans = (DefaultListableBeanFactory) context.getBeanFactory();
            beans.registerDisposableBean("minibus", () -> leases.forEach(Customizer::end));
        }

        /**
         * The clients close their links when the listeners have stopped already. A missing entity would be an error
         * in the log.
         */
        private static void end(Lease lease) {
            var deadline = Instant.now().plusSeconds(1);
            try {
                while (Instant.now().isBefore(deadline)
                    && lease.namespace().connections().stream().anyMatch(each -> !each.links().isEmpty())) {
                    Thread.sleep(10);
                }
                lease.end();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (MinibusException e) {
                // The server is gone, and the namespace with it.
            }
        }
    }
}
