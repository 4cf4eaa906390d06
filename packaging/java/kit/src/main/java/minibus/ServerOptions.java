package minibus;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a server is started with: {@code MinibusServer.start(o -> o.queues("orders").limits("premium"))}. */
public final class ServerOptions extends Declaration<ServerOptions> {
    final List<String> flags = new ArrayList<>();
    final Map<String, String> environment = new LinkedHashMap<>();
    Path binary;
    Path data;
    String rootKey;
    Duration startTimeout = Duration.ofSeconds(30);

    ServerOptions() {
    }

    /** Sets the limits: relaxed, standard, premium or emulator. */
    public ServerOptions limits(String profile) {
        return args("--limits", profile);
    }

    /** Sends the messages of these files, or of all files in these directories, at the start. */
    public ServerOptions seed(Path... files) {
        for (var file : files) {
            args("--seed", file.toString());
        }
        return this;
    }

    /** Keeps entities and messages in this file. Without it everything is in memory. */
    public ServerOptions data(Path file) {
        data = file;
        return this;
    }

    /** Accepts only clients with this key of RootManageSharedAccessKey. Without it every token is accepted. */
    public ServerOptions rootKey(String key) {
        rootKey = key;
        return this;
    }

    /** Adds flags: {@code args("--history", "64MiB")}. */
    public ServerOptions args(String... values) {
        flags.addAll(List.of(values));
        return this;
    }

    /** Sets a variable of the process. */
    public ServerOptions env(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** Starts this program. Without it: that of the variable {@code MINIBUS_PATH}, else that of the package. */
    public ServerOptions binary(Path file) {
        binary = file;
        return this;
    }

    /** Sets how long the start may take; 30 seconds without it. */
    public ServerOptions startTimeout(Duration time) {
        startTimeout = time;
        return this;
    }
}
