package minibus.junit;

import static org.junit.platform.commons.support.AnnotationSupport.findAnnotatedFields;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import minibus.MinibusClock;
import minibus.MinibusFaults;
import minibus.MinibusNamespace;
import minibus.MinibusServer;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.ModifierSupport;

/** What {@link Minibus} does. A namespace is deleted with the class or the test that it is for. */
public final class MinibusExtension
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {
    private static final ExtensionContext.Namespace STORE = ExtensionContext.Namespace.create(MinibusExtension.class);
    private static final String LEASES = "leases"; // of a context: what ends with it

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        var annotated = Annotated.of(context);
        if (annotated != null && !annotated.minibus().perTest() && namespace(context, annotated) == null) {
            lease(context, annotated.type(), annotated.lease());
        }
        fill(context, context.getRequiredTestClass(), null, ModifierSupport::isStatic);
    }

    @Override
    public void beforeEach(ExtensionContext context) throws Exception {
        var annotated = Annotated.of(context);
        if (annotated != null && annotated.minibus().perTest()) {
            perTest(context, annotated);
        }
        for (var instance : context.getRequiredTestInstances().getAllInstances()) {
            fill(context, instance.getClass(), instance, ModifierSupport::isNotStatic);
        }
    }

    private static void fill(ExtensionContext context, Class<?> type, Object instance, Predicate<Field> which)
        throws IllegalAccessException {
        for (var field : findAnnotatedFields(type, Minibus.class, which)) {
            if (field.getType() != MinibusNamespace.class && field.getType() != String.class) {
                throw new ExtensionConfigurationException("@Minibus " + field
                    + ": want a field of the type MinibusNamespace or String");
            }
            field.setAccessible(true);
            var minibus = field.getAnnotation(Minibus.class);
            var namespace = lease(context, field, instance == null ? Lease.of(field, minibus) : Lease.of(minibus));
            field.set(instance, field.getType() == String.class ? namespace.connectionString() : namespace);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        var type = parameter.getParameter().getType();
        return type == MinibusNamespace.class || type == MinibusServer.class || type == MinibusClock.class
            || type == MinibusFaults.class || type == String.class && parameter.isAnnotated(Minibus.class);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        var type = parameter.getParameter().getType();
        if (type == MinibusServer.class) {
            return MinibusServer.shared();
        }
        var bus = namespace(parameter, context);
        if (type == MinibusClock.class) {
            return bus.clock();
        }
        if (type == MinibusFaults.class) {
            return bus.faults();
        }
        return type == String.class ? bus.connectionString() : bus;
    }

    private static MinibusNamespace namespace(ParameterContext parameter, ExtensionContext context) {
        var own = parameter.findAnnotation(Minibus.class);
        var annotated = Annotated.of(context);
        if (own.isPresent() && (annotated == null || Lease.declares(own.get()))) {
            return lease(context, parameter.getParameter(), Lease.of(own.get()));
        }
        if (annotated == null) {
            throw new ParameterResolutionException("Annotate the class or the parameter with @Minibus(queues = ...)");
        }
        if (annotated.minibus().perTest()) {
            if (context.getTestMethod().isEmpty()) {
                throw new ParameterResolutionException("With @Minibus(perTest = true) only tests, @BeforeEach and"
                    + " @AfterEach methods have a namespace");
            }
            return perTest(context, annotated);
        }
        return namespace(context, annotated);
    }

    private static MinibusNamespace perTest(ExtensionContext context, Annotated annotated) {
        var found = namespace(context, annotated);
        return found != null ? found : lease(context, annotated.type(), Lease.of(annotated.minibus()));
    }

    /** The namespace of an annotated class in this context or one around it. */
    private static MinibusNamespace namespace(ExtensionContext context, Annotated annotated) {
        var lease = context.getStore(STORE).get(annotated.type(), Lease.class);
        return lease == null ? null : lease.namespace();
    }

    /** Keeps a namespace until the context ends. */
    private static MinibusNamespace lease(ExtensionContext context, Object key, Lease lease) {
        var store = context.getStore(STORE);
        @SuppressWarnings("unchecked")
        var leases = (List<Lease>) store.getOrComputeIfAbsent(LEASES + context.getUniqueId(),
            id -> new ArrayList<Lease>());
        leases.add(lease);
        store.put(key, lease);
        return lease.namespace();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        end(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        end(context);
    }

    private static void end(ExtensionContext context) {
        @SuppressWarnings("unchecked")
        var leases = (List<Lease>) context.getStore(STORE).remove(LEASES + context.getUniqueId());
        if (leases != null) {
            leases.forEach(Lease::end);
        }
    }
}
