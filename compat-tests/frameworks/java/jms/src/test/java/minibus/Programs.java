package minibus;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The clients and tiers with which a program runs. Plain Qpid has JMS 2.0 only with relaxed limits: the Premium tier
 * gives it to Microsoft's client alone.
 */
final class Programs {
    private static final Setup QPID = new Setup(Client.QPID, "relaxed");
    private static final Setup QPID_LEGACY = new Setup(Client.QPID, "premium");
    private static final Setup AZURE = new Setup(Client.AZURE, "relaxed");
    private static final Setup AZURE_PREMIUM = new Setup(Client.AZURE, "premium");

    private Programs() {
    }

    /** What needs no JMS 2.0. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest(name = "{0}")
    @MethodSource("minibus.Programs#everywhere")
    @interface Everywhere {
    }

    /** What needs JMS 2.0. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest(name = "{0}")
    @MethodSource("minibus.Programs#both")
    @interface Both {
    }

    /** Microsoft's client alone. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest(name = "{0}")
    @MethodSource("minibus.Programs#azure")
    @interface Azure {
    }

    /** Plain Qpid alone, with and without JMS 2.0. */
    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @ParameterizedTest(name = "{0}")
    @MethodSource("minibus.Programs#qpid")
    @interface Qpid {
    }

    static Stream<Setup> everywhere() {
        return Stream.of(QPID, QPID_LEGACY, AZURE, AZURE_PREMIUM);
    }

    static Stream<Setup> both() {
        return Stream.of(QPID, AZURE, AZURE_PREMIUM);
    }

    static Stream<Setup> azure() {
        return Stream.of(AZURE, AZURE_PREMIUM);
    }

    static Stream<Setup> qpid() {
        return Stream.of(QPID, QPID_LEGACY);
    }
}
