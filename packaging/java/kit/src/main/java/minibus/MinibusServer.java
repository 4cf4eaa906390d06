package minibus;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import java.util.regex.Pattern;
import minibus.testcontainers.MinibusContainer;

/**
 * A running Minibus, seen through its default namespace. {@link #start} starts one, {@link #connect} steers one that
 * runs already.
 *
 * <pre>{@code
 * try (var bus = MinibusServer.start(o -> o.queues("orders"))) {
 *     var builder = new ServiceBusClientBuilder().connectionString(bus.connectionString());
 *     ...
 * }
 * }</pre>
 */
public final class MinibusServer extends MinibusNamespace {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Pattern PORT = Pattern.compile("(Endpoint=sb://[^;]*:)(\\d+)");

    private static MinibusServer shared;

    private final ServerProcess process;
    private final IntUnaryOperator ports;

    private MinibusServer(Control control, String name, String connectionString, ServerProcess process,
        IntUnaryOperator ports) {
        super(control, name, connectionString);
        this.process = process;
        this.ports = ports;
    }

    /** Starts a server without queues and topics. See {@link #start(Consumer)}. */
    public static MinibusServer start() {
        return start(options -> { });
    }

    /**
     * Starts a server on a free port, which keeps everything in memory, and waits until it is ready. It ends when it
     * is closed, at the latest with this JVM, even if that is killed.
     *
     * @param options such as the entities: {@code o -> o.queues("orders")}
     * @throws MinibusException if there is no program for this platform, or if it does not start: the message has its
     *     log
     */
    public static MinibusServer start(Consumer<ServerOptions> options) {
        var chosen = new ServerOptions();
        options.accept(chosen);
        var process = ServerProcess.start(chosen);
        try {
            var address = "//localhost:" + process.waitUntilReady(chosen.startTimeout);
            var control = new Control(chosen.rootKey == null ? "http:" + address : "Endpoint=sb:" + address
                + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=" + chosen.rootKey);
            control.onSilence(process::obituary);
            var server = connected(control, null, process, IntUnaryOperator.identity());
            if (chosen.config() != null) {
                server.putDeclared(chosen);
            }
            process.forget();
            return server;
        } catch (RuntimeException e) {
            process.stop();
            throw e;
        }
    }

    /** Steers the server that the variable {@code SERVICEBUS_CONNECTION_STRING} names, as under {@code minibus run}. */
    public static MinibusServer connect() {
        var variable = System.getenv("SERVICEBUS_CONNECTION_STRING");
        if (variable == null || variable.isEmpty()) {
            throw new MinibusException("The variable SERVICEBUS_CONNECTION_STRING is not set. Run the program with:"
                + " minibus run -- COMMAND, or give the connection string.", null);
        }
        return connect(variable);
    }

    /**
     * Steers a server that runs already, for example in a container. Closing the object leaves it running.
     *
     * @param connectionStringOrUrl a connection string, or the URL of any port such as {@code http://localhost:5300}
     */
    public static MinibusServer connect(String connectionStringOrUrl) {
        return connect(connectionStringOrUrl, IntUnaryOperator.identity());
    }

    /**
     * Steers a server whose ports have other numbers here, as those of a container have.
     *
     * @param connectionStringOrUrl as above
     * @param ports returns the number here for a port of the server
     */
    public static MinibusServer connect(String connectionStringOrUrl, IntUnaryOperator ports) {
        var given = connectionStringOrUrl.startsWith("http") ? null : connectionStringOrUrl;
        return connected(new Control(connectionStringOrUrl), given, null, ports);
    }

    private static MinibusServer connected(Control control, String given, ServerProcess process,
        IntUnaryOperator ports) {
        control.waitUntilHealthy(PATIENCE);
        var namespace = (Map<?, ?>) control.send("GET", "namespaces/$this", null);
        return new MinibusServer(control, (String) namespace.get("name"),
            given == null ? connectionString(namespace, ports) : given, process, ports);
    }

    private static String connectionString(Map<?, ?> namespace, IntUnaryOperator ports) {
        return PORT.matcher((String) namespace.get("connectionString"))
            .replaceFirst(found -> found.group(1) + ports.applyAsInt(Integer.parseInt(found.group(2))));
    }

    /**
     * The server that all tests of this JVM share; tests keep apart by a {@link #namespace} each. It starts at the
     * first call and ends with the JVM. If the variable {@code MINIBUS_URL} is set, it is the server that runs there.
     * If there is no program for this platform, but Testcontainers with its module for Azure, it is a container.
     */
    public static synchronized MinibusServer shared() {
        if (shared == null) {
            var url = System.getenv("MINIBUS_URL");
            if (url != null && !url.isEmpty()) {
                shared = connect(url);
            } else {
                shared = Binary.isThere() || !hasTestcontainers() ? start() : Containers.start();
            }
        }
        return shared;
    }

    private static boolean hasTestcontainers() {
        var module = "org/testcontainers/azure/ServiceBusEmulatorContainer.class";
        return MinibusServer.class.getClassLoader().getResource(module) != null;
    }

    /** Apart, since it needs Testcontainers. */
    private static final class Containers {
        static MinibusServer start() {
            var container = new MinibusContainer();
            container.start();
            return container.server();
        }
    }

    /** Makes an empty namespace. See {@link #namespace(Consumer)}. */
    public MinibusNamespace namespace() {
        return namespace(options -> { });
    }

    /** Makes a namespace of its own for a test or a worker. It is deleted when it is closed. */
    public MinibusNamespace namespace(Consumer<NamespaceOptions> options) {
        var chosen = new NamespaceOptions();
        options.accept(chosen);
        Map<?, ?> made;
        if (chosen.config() != null) {
            var query = Control.body("name", chosen.name, "limits", chosen.limits);
            made = (Map<?, ?>) control.send("POST", "namespaces" + Control.query(query), chosen.config());
        } else {
            var body = chosen.entities();
            body.put("name", chosen.name);
            body.put("limits", chosen.limits);
            made = (Map<?, ?>) control.send("POST", "namespaces", body);
        }
        var namespace = new MinibusNamespace(control, (String) made.get("name"), connectionString(made, ports));
        if (chosen.config() != null) {
            namespace.putDeclared(chosen);
        }
        return namespace;
    }

    /** The id of the process; 0 if this object did not start it. */
    public long pid() {
        return process == null ? 0 : process.pid();
    }

    /** What the process has logged, the last lines of it; empty if this object did not start it. */
    public String log() {
        return process == null ? "" : process.log();
    }

    /** Stops the server if this object started it. */
    public void stop() {
        if (process != null) {
            process.stop();
        }
    }

    /** Stops the server if this object started it. */
    @Override
    public void close() {
        stop();
    }
}
