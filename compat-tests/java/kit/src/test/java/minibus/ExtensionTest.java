package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import minibus.junit.Minibus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Which namespace a test gets, and that it is deleted. */
class ExtensionTest {
    /** The namespaces that the classes below have had. */
    private static final List<String> NAMES = new ArrayList<>();

    private static MinibusNamespace note(MinibusNamespace bus) {
        NAMES.add(bus.name());
        return bus;
    }

    @Minibus(queues = "orders", topics = "events", subscriptions = {"events/Subscriptions/all", "prices/Subscriptions/red"}, limits = "standard")
    static class OfClass {
        private static MinibusNamespace first;
        private final MinibusNamespace constructed;

        OfClass(MinibusNamespace bus) {
            constructed = bus;
        }

        @BeforeAll
        static void before(MinibusNamespace bus) {
            first = note(bus);
        }

        @Test
        void has_its_entities(MinibusNamespace bus, @Minibus String connectionString, MinibusClock clock, MinibusFaults faults,
            MinibusServer server) {
            assertSame(first, bus);
            assertSame(first, constructed);
            assertSame(bus.clock(), clock);
            assertSame(bus.faults(), faults);
            assertSame(MinibusServer.shared(), server);
            assertEquals(bus.connectionString(), connectionString);
            bus.send("orders", "x");
            assertEquals(0, bus.counts("events/Subscriptions/all").active() + bus.counts("prices/Subscriptions/red").active());
        }

        @Test
        void another_test_has_the_same(MinibusNamespace bus) {
            assertSame(first, bus);
        }

        @Nested
        class Inside {
            @Test
            void has_that_of_the_class_around_it(MinibusNamespace bus) {
                assertSame(first, bus);
            }
        }

        @Nested
        @Minibus(config = "{\"Queues\": [{\"Name\": \"own\"}]}")
        class InsideWithItsOwn {
            @Test
            void has_its_own(MinibusNamespace bus) {
                assertNotEquals(first.name(), note(bus).name());
                bus.send("own", "x");
            }
        }
    }

    static class Inherited extends OfClass {
        Inherited(MinibusNamespace bus) {
            super(bus);
        }
    }

    @Minibus(queues = "orders", perTest = true)
    static class PerTest {
        private MinibusNamespace before;

        @BeforeEach
        void prepare(MinibusNamespace bus) {
            before = bus;
        }

        @Test
        void first(MinibusNamespace bus) {
            assertSame(before, bus);
            note(bus).send("orders", "x");
        }

        @Test
        void second(MinibusNamespace bus) {
            assertEquals(0, note(bus).counts("orders").active());
        }
    }

    static class Fields {
        @Minibus(queues = "orders")
        private static MinibusNamespace ofClass;

        @Minibus(queues = "orders")
        private MinibusNamespace ofTest;

        @Minibus
        private String empty;

        @Test
        void first() {
            note(ofClass).send("orders", "x");
            note(ofTest).send("orders", "x");
            assertNotEquals(ofClass.connectionString(), empty);
        }

        @Test
        void second(@Minibus(queues = "own") MinibusNamespace own) {
            assertEquals(0, note(ofTest).counts("orders").active());
            note(own).send("own", "x");
        }

        @AfterAll
        static void is_there_until_the_end() {
            assertEquals(1, ofClass.counts("orders").active());
        }
    }

    static class WithoutAnnotation {
        @Minibus
        static String unused;

        @Test
        void fails(MinibusNamespace bus) {
        }
    }

    @Minibus(subscriptions = "events")
    static class WrongPath {
        @Test
        void fails() {
        }
    }

    static class WrongField {
        @Minibus
        static Object wrong;

        @Test
        void fails() {
        }
    }

    @Minibus(perTest = true)
    static class TooEarly {
        @BeforeAll
        static void before(MinibusNamespace bus) {
        }

        @Test
        void fails() {
        }
    }

    private static SummaryGeneratingListener run(Class<?>... types) {
        var listener = new SummaryGeneratingListener();
        var request = LauncherDiscoveryRequestBuilder.request().configurationParameter("junit.jupiter.execution.parallel.enabled", "false");
        for (var type : types) {
            request.selectors(selectClass(type));
        }
        LauncherFactory.create().execute(request.build(), listener);
        return listener;
    }

    @Test
    void each_has_its_namespace_and_leaves_none() {
        NAMES.clear();
        var summary = run(OfClass.class, Inherited.class, PerTest.class, Fields.class).getSummary();
        summary.getFailures().forEach(failure -> failure.getException().printStackTrace());
        assertEquals(0, summary.getTotalFailureCount());
        assertEquals(12, summary.getTestsSucceededCount());
        // OfClass 2, Inherited 2, PerTest 2, Fields: one for the class, noted once, two for the tests and one for the parameter.
        assertEquals(10, NAMES.size());
        assertEquals(10, new HashSet<>(NAMES).size());
        var there = (List<?>) ((Map<?, ?>) MinibusServer.shared().control.send("GET", "namespaces", null)).get("namespaces");
        var left = there.stream().map(each -> ((Map<?, ?>) each).get("name")).toList();
        NAMES.forEach(name -> assertFalse(left.contains(name), left.toString()));
    }

    @Test
    void mistakes_are_named() {
        for (var mistake : Map.of(
            WithoutAnnotation.class, "Annotate the class or the parameter with @Minibus(queues = ...)",
            WrongPath.class, "want events/Subscriptions/all",
            WrongField.class, "want a field of the type MinibusNamespace or String",
            TooEarly.class, "only tests, @BeforeEach and @AfterEach methods").entrySet()) {
            var failures = run(mistake.getKey()).getSummary().getFailures();
            assertEquals(1, failures.size());
            assertTrue(failures.get(0).getException().getMessage().contains(mistake.getValue()), failures.get(0).getException().toString());
        }
    }
}
