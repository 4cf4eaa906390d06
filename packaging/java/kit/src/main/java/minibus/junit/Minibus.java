package minibus.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives tests a namespace with these entities. All namespaces of a JVM are in one server, which starts with the first
 * one.
 *
 * <ul>
 * <li>On a class: one namespace for the class, or with {@link #perTest} for each test. Tests take it as a parameter
 *     of the type {@code MinibusNamespace}; {@code MinibusClock}, {@code MinibusFaults} and {@code MinibusServer} are
 *     injected too, and the connection string as a {@code String} that is annotated itself. A test of Spring Boot
 *     finds its connection string.
 * <li>On a field of the type {@code MinibusNamespace} or {@code String}: a namespace for the class if the field is
 *     static, else for each test.
 * <li>On a parameter: a namespace for the test. Without entities it means that of the class.
 * </ul>
 */
@Target({ElementType.TYPE, ElementType.FIELD, ElementType.PARAMETER})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(MinibusExtension.class)
public @interface Minibus {
    /** Queues with the default settings. */
    String[] queues() default {};

    /** Topics with the default settings. */
    String[] topics() default {};

    /** Subscriptions that get every message, with their topics: {@code events/Subscriptions/all}. */
    String[] subscriptions() default {};

    /** The path of a Config.json, or its text: {@code {"Queues": [{"Name": "orders"}]}}. */
    String config() default "";

    /** The limits: relaxed, standard, premium or emulator. */
    String limits() default "";

    /**
     * On a class: whether each test gets a namespace. It does not go with Spring, whose application outlives a test.
     */
    boolean perTest() default false;
}
