package minibus;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Locale;

/** Finds the program. That of the package is copied once into the user's cache, under the hash of its content. */
final class Binary {
    private Binary() {
    }

    /** Returns the path of the program. */
    static Path find(Path given) {
        if (given != null) {
            return existing(given, "the option binary");
        }
        var variable = System.getenv("MINIBUS_PATH");
        if (variable != null && !variable.isEmpty()) {
            return existing(Path.of(variable), "the variable MINIBUS_PATH");
        }
        var resource = resource(platform());
        if (resource == null) {
            throw new MinibusException("There is no program of Minibus for " + platform() + " on the class path."
                + " Add the dependency minibus-binary with the classifier " + platform() + ", if there is one,"
                + " or set the variable MINIBUS_PATH to the path of a program.", null);
        }
        try {
            return extracted(resource, cache());
        } catch (IOException e) {
            throw new MinibusException("The program of Minibus can't be copied to " + cache() + ": " + e
                + ". Set the variable MINIBUS_PATH to the path of a program.", e);
        }
    }

    /** Reports whether find would find one. */
    static boolean isThere() {
        var variable = System.getenv("MINIBUS_PATH");
        return variable != null && !variable.isEmpty() || resource(platform()) != null;
    }

    private static Path existing(Path path, String source) {
        if (!Files.isRegularFile(path)) {
            throw new MinibusException("There is no program of Minibus: " + source + " names " + path.toAbsolutePath()
                + ", which does not exist.", null);
        }
        return path.toAbsolutePath();
    }

    /** The platform as the classifiers of Maven name it, such as linux-x86_64. */
    static String platform() {
        var name = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        var arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        var os = name.startsWith("windows") ? "windows" : name.startsWith("mac") ? "osx" : name.split(" ")[0];
        return os + "-" + (arch.equals("amd64") ? "x86_64" : arch.equals("aarch64") ? "aarch_64" : arch);
    }

    private static String fileName() {
        return platform().startsWith("windows") ? "minibus.exe" : "minibus";
    }

    private static URL resource(String platform) {
        return Binary.class.getResource("binary/" + platform + "/" + fileName());
    }

    private static Path cache() {
        var home = Path.of(System.getProperty("user.home"));
        var local = System.getenv("LOCALAPPDATA");
        var xdg = System.getenv("XDG_CACHE_HOME");
        if (platform().startsWith("windows")) {
            return (local == null ? home.resolve("AppData/Local") : Path.of(local)).resolve("minibus");
        }
        if (platform().startsWith("osx")) {
            return home.resolve("Library/Caches/minibus");
        }
        return (xdg == null || xdg.isEmpty() ? home.resolve(".cache") : Path.of(xdg)).resolve("minibus");
    }

    /**
     * Copies the program to its place unless it is there. Several JVMs may do so at once: each writes a file of its
     * own and renames it, so whoever finds the name finds a whole program.
     */
    private static Path extracted(URL resource, Path cache) throws IOException {
        String hash;
        try (var in = new URL(resource, "sha256").openStream()) {
            hash = new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip();
        }
        var path = cache.resolve(hash.substring(0, 16)).resolve(fileName());
        if (Files.isExecutable(path)) {
            return path;
        }
        Files.createDirectories(path.getParent());
        var part = Files.createTempFile(path.getParent(), "minibus-", ".part");
        try (var in = resource.openStream()) {
            copy(in, part, hash);
            if (!part.toFile().setExecutable(true, false)) {
                throw new IOException("the file can't be made executable");
            }
            Files.move(part, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (!Files.isExecutable(path)) { // on Windows one that runs can't be replaced: another JVM was faster
                throw e;
            }
        } finally {
            Files.deleteIfExists(part);
        }
        return path;
    }

    private static void copy(InputStream in, Path to, String hash) throws IOException {
        try {
            var digest = MessageDigest.getInstance("SHA-256");
            Files.copy(new DigestInputStream(in, digest), to, StandardCopyOption.REPLACE_EXISTING);
            if (!HexFormat.of().formatHex(digest.digest()).equals(hash)) {
                throw new IOException("the jar is damaged: the program has another hash than " + hash);
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }
}
