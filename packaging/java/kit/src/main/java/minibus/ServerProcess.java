package minibus;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server that runs as a child of this JVM. Its standard input is a pipe, and it ends when the pipe is closed: by
 * {@link #stop}, or by the system when this JVM is gone, even if it was killed.
 */
final class ServerProcess {
    private static final int LINES = 2000;
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(10);

    private final Path folder;
    private final List<String> command;
    private final Process process;
    private final Thread reader;
    private final ArrayDeque<String> log = new ArrayDeque<>();

    private ServerProcess(Path folder, List<String> command, ServerOptions options) throws IOException {
        this.folder = folder;
        this.command = command;
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        // A suite must not depend on what the environment says about another Minibus.
        builder.environment().keySet().removeIf(name -> name.startsWith("MINIBUS_"));
        builder.environment().put("MINIBUS_EXIT_WITH_STDIN", "true");
        if (options.rootKey != null) {
            builder.environment().put("MINIBUS_ROOT_KEY", options.rootKey); // lists of processes show flags
        }
        builder.environment().putAll(options.environment);
        process = builder.start();
        reader = new Thread(this::read, "minibus-log");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a server and waits until it is ready. */
    static ServerProcess start(ServerOptions options) {
        var binary = Binary.find(options.binary);
        try {
            var folder = Files.createTempDirectory("minibus-");
            ServerProcess server;
            try {
                server = new ServerProcess(folder, command(binary, folder, options), options);
            } catch (IOException e) {
                remove(folder);
                throw new MinibusException(binary + " can't be run: " + e.getMessage(), e);
            }
            return server;
        } catch (IOException e) {
            throw new MinibusException("The temporary files of Minibus can't be written: " + e, e);
        }
    }

    private static List<String> command(Path binary, Path folder, ServerOptions options) throws IOException {
        // Always a configuration: the queues and topics of the default one never get into a suite.
        var config = options.configFile;
        if (config == null) {
            var text = options.config() == null ? Json.write(whole(options)) : options.config();
            config = Files.writeString(folder.resolve("Config.json"), text);
        }
        var command = new ArrayList<>(List.of(binary.toString(), "--config", config.toString(), "--amqp-port", "0",
            "--tls-port", "off", "--http-port", "off", "--namespace-ports", "0",
            "--ports-file", ports(folder).toString()));
        command.addAll(options.data == null ? List.of("--ephemeral") : List.of("--data", options.data.toString()));
        if (options.rootKey != null) {
            command.addAll(List.of("--auth", "sas"));
        }
        command.addAll(options.flags);
        return command;
    }

    private static Object whole(ServerOptions options) {
        var namespace = Control.body("Name", "sbemulatorns");
        namespace.putAll(options.entities());
        return Control.body("UserConfig", Control.body("Namespaces", List.of(namespace)));
    }

    private static Path ports(Path folder) {
        return folder.resolve("ports.json");
    }

    /** Waits until it is ready and returns its port. */
    int waitUntilReady(Duration patience) {
        var deadline = Instant.now().plus(patience);
        try {
            while (true) {
                try {
                    return ((Long) Json.object(Files.readString(ports(folder))).get("amqp")).intValue();
                } catch (NoSuchFileException early) {
                    // It is renamed when it is whole.
                }
                if (!process.isAlive()) {
                    reader.join(); // until the end of the log
                    throw failed("Minibus ended at once, with code " + process.exitValue());
                }
                if (Instant.now().isAfter(deadline)) {
                    throw failed("Minibus was not ready after " + patience.toSeconds() + " s");
                }
                Thread.sleep(5);
            }
        } catch (IOException e) {
            throw new MinibusException("The ports of Minibus can't be read: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MinibusException("The thread was interrupted while Minibus started", e);
        }
    }

    private MinibusException failed(String what) {
        return new MinibusException(what + ": " + String.join(" ", command) + "\n" + log(), null);
    }

    long pid() {
        return process.pid();
    }

    /** The last lines that it has printed. */
    String log() {
        synchronized (log) {
            return String.join("\n", log);
        }
    }

    /** What to say when it does not answer: nothing as long as it runs. */
    String obituary() {
        return process.isAlive() ? "" : ". Its process has ended, with code " + process.exitValue() + ":\n" + log();
    }

    private void read() {
        try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                synchronized (log) {
                    if (log.size() == LINES) {
                        log.remove();
                    }
                    log.add(line);
                }
            }
        } catch (IOException closed) {
            // The process is gone.
        }
    }

    /** Ends it, and waits until it has ended. */
    void stop() {
        try {
            process.getOutputStream().close();
        } catch (IOException gone) {
            // Then it has ended.
        }
        try {
            if (!process.waitFor(STOP_PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        remove(folder);
    }

    /** The files go with the JVM if nobody stops the server. */
    void forget() {
        folder.toFile().deleteOnExit();
        ports(folder).toFile().deleteOnExit();
        folder.resolve("Config.json").toFile().deleteOnExit();
    }

    private static void remove(Path folder) {
        var files = folder.toFile().listFiles();
        for (var file : files == null ? new File[0] : files) {
            file.delete();
        }
        folder.toFile().delete();
    }
}
