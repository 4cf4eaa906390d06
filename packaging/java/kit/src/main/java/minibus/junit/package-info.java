/** Minibus in tests of JUnit 5 and later, and of Spring. {@link minibus.junit.Minibus} is all that a test needs. */
package minibus.junit;
