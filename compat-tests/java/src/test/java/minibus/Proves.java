package minibus;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Properties;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Says which behaviours of compat-tests/cases a test proves. They are noted once the test has passed, for docs/parity.md, where
 * MINIBUS_PARITY names a directory.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Proves.Notes.class)
@interface Proves {
    String[] value();

    /** Writes what passed. */
    final class Notes implements TestWatcher {
        @Override
        public void testSuccessful(ExtensionContext test) {
            final String directory = System.getenv("MINIBUS_PARITY");
            if (directory == null || directory.isEmpty()) {
                return;
            }
            final String named = System.getenv("MINIBUS_COLUMN"); // another release than the newest has a column of its own
            final String column = named == null || named.isEmpty() ? "java" : named;
            final String file = "compat-tests/java/src/test/java/minibus/" + test.getRequiredTestClass().getSimpleName() + ".java";
            final StringBuilder lines = new StringBuilder();
            for (String id : test.getRequiredTestMethod().getAnnotation(Proves.class).value()) {
                lines.append(String.join("\t", column, version(), id, file, test.getRequiredTestMethod().getName())).append('\n');
            }
            try {
                Files.writeString(Path.of(directory, column + ".tsv"), lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** The SDK's version, as it tells the service. */
        private static String version() {
            final Properties sdk = new Properties();
            try (var in = Proves.class.getResourceAsStream("/azure-messaging-servicebus.properties")) {
                sdk.load(in);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return sdk.getProperty("version");
        }
    }
}
