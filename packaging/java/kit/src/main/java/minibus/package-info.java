/**
 * Minibus, a local Azure Service Bus, for tests on the JVM: {@link minibus.MinibusServer} starts one, and each test
 * may have a {@link minibus.MinibusNamespace}.
 *
 * <p>Without JUnit, Spring and Testcontainers the package needs nothing but the JDK.
 */
package minibus;
