/** Minibus as a container of Testcontainers. It needs the module {@code testcontainers-azure}. */
package minibus.testcontainers;
