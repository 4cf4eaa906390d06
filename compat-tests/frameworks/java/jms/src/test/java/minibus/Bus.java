package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.json.JsonProviders;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A namespace of its own for a program, with a clock of its own, and what the program asks the server beside JMS. */
final class Bus implements AutoCloseable {
    static final String KEY = "SAS_KEY_VALUE";
    static final String ROOT = "RootManageSharedAccessKey";

    /** A policy without the Manage right. */
    static final String WORKER = "worker";

    /** How long a program waits, in ms, for what should come at once. */
    static final long SOON = 60_000;

    private static final String BASE = "http://" + System.getenv("MINIBUS_HOST") + ":"
        + System.getenv("MINIBUS_PORT_HTTP");
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final AtomicInteger namespaces = new AtomicInteger();

    final String name;
    final String host;

    private final Client client;
    private final Deque<Connection> connections = new ArrayDeque<>();

    Bus(Setup setup) {
        client = setup.client();
        name = "jmstest" + namespaces.incrementAndGet(); // the hosts file has these
        host = name + ".servicebus.windows.net";
        ask("POST", "namespaces", """
            {"name": "%s", "limits": "%s", "Queues": [], "Topics": [], "authorizationRules": [
              {"KeyName": "%s", "PrimaryKey": "%s", "Rights": ["Manage", "Send", "Listen"]},
              {"KeyName": "%s", "PrimaryKey": "%s", "Rights": ["Send", "Listen"]}
            ]}""".formatted(name, setup.limits(), ROOT, KEY, WORKER, KEY));
    }

    /** A connection that is started, closed with the namespace at the latest. */
    Connection connect() throws JMSException {
        return connect(null);
    }

    Connection connect(String clientId) throws JMSException {
        return connect(clientId, Map.of());
    }

    Connection connect(String clientId, Map<String, String> options) throws JMSException {
        final Connection connection = factory(ROOT, clientId, options).createConnection();
        connections.push(connection);
        connection.start();
        return connection;
    }

    /** A factory as for {@link #connect}. A request that is not answered fails. */
    ConnectionFactory factory(String policy, String clientId, Map<String, String> options) {
        final Map<String, String> all = new HashMap<>(options);
        all.put("jms.requestTimeout", String.valueOf(SOON));
        return client.factory(host, policy, KEY, clientId, all);
    }

    /** The SDK's clients. */
    ServiceBusClientBuilder sdk() {
        return new ServiceBusClientBuilder().connectionString(Client.connectionString(host, ROOT, KEY));
    }

    void queue(String path) {
        queue(path, "");
    }

    /** A queue with settings, as in Config.json. */
    void queue(String path, String properties) {
        put(path, "queue", "{\"Properties\": {%s}}".formatted(properties));
    }

    void topic(String path) {
        put(path, "topic", "{}");
    }

    void subscription(String topic, String name) {
        put(topic + "/Subscriptions/" + name, "subscription", "{}");
    }

    private void put(String path, String kind, String body) {
        here("PUT", "entities/" + segment(path) + "?kind=" + kind, body);
    }

    /** Sends messages, each in the form of docs/message-json.md. */
    void send(String path, List<String> messages) {
        for (int i = 0; i < messages.size(); i += 1000) {
            final List<String> batch = messages.subList(i, Math.min(i + 1000, messages.size()));
            here("POST", "entities/" + segment(path) + "/messages", "[" + String.join(",", batch) + "]");
        }
    }

    /** What the server knows of an entity: counts, properties, rules. */
    Map<?, ?> entity(String path) {
        return (Map<?, ?>) here("GET", "entities/" + segment(path), null);
    }

    long count(String path, String of) {
        return ((Number) ((Map<?, ?>) entity(path).get("counts")).get(of)).longValue();
    }

    /** The paths of all entities. */
    Set<String> paths() {
        final Set<String> all = new TreeSet<>();
        for (Object item : (List<?>) ((Map<?, ?>) here("GET", "entities?limit=1000", null)).get("items")) {
            all.add(((Map<?, ?>) item).get("path").toString());
        }
        return all;
    }

    /** Messages as docs/message-json.md has them. */
    List<?> messages(String path) {
        return (List<?>) ((Map<?, ?>) here("GET", "entities/" + segment(path) + "/messages", null)).get("items");
    }

    void advance(String duration) {
        here("POST", "clock/advance", "{\"by\": \"%s\"}".formatted(duration));
    }

    /** Waits until an entity has a number of messages. */
    void await(String path, String of, long number) {
        final Map<?, ?> answer = (Map<?, ?>) here("POST", "wait", """
            {"entity": "%s", "counts": [{"of": "%s", "least": %d, "most": %d}], "timeoutSeconds": 120}""".formatted(path, of, number, number));
        assertEquals(true, answer.get("met"), () -> path + ": " + answer);
    }

    /** Waits until something holds that no request waits for. */
    static void eventually(String what, BooleanSupplier holds, Supplier<String> state) {
        final Instant end = Instant.now().plusMillis(SOON);
        while (!holds.getAsBoolean()) {
            assertTrue(Instant.now().isBefore(end), () -> "not in " + SOON + " ms: " + what + ", but " + state.get());
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** Waits until the paths of all entities are as they should be. */
    void awaitPaths(String what, Predicate<Set<String>> holds) {
        eventually(what, () -> holds.test(paths()), () -> paths().toString());
    }

    Object here(String method, String path, String body) {
        return ask(method, "namespaces/" + name + "/" + path, body);
    }

    /** The text of a path of the namespace, as a browser or a tool gets it. */
    String page(String path) {
        return call("GET", "http://" + host + ":" + System.getenv("MINIBUS_PORT_HTTP") + path, null);
    }

    private static Object ask(String method, String path, String body) {
        final String text = call(method, BASE + "/$minibus/v1/" + path, body);
        if (text.isEmpty()) {
            return null;
        }
        try (var reader = JsonProviders.createReader(text)) {
            return reader.readUntyped();
        } catch (IOException e) {
            throw new AssertionError(method + " " + path + ": " + text, e);
        }
    }

    private static String call(String method, String url, String body) {
        final var data = body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body);
        final var request = HttpRequest.newBuilder(URI.create(url)).method(method, data).header("Authorization",
            token(url));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        try {
            final var answer = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() / 100 != 2) {
                throw new AssertionError(method + " " + url + ": " + answer.statusCode() + " " + answer.body());
            }
            return answer.body();
        } catch (IOException e) {
            throw new AssertionError(method + " " + url, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(method + " " + url, e);
        }
    }

    private static String token(String url) {
        final String resource = URLEncoder.encode("sb://" + URI.create(url).getHost() + "/", StandardCharsets.UTF_8);
        final long end = Instant.now().getEpochSecond() + 3600;
        try {
            final Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(KEY.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            final byte[] digest = mac.doFinal((resource + "\n" + end).getBytes(StandardCharsets.UTF_8));
            final String signature = URLEncoder.encode(Base64.getEncoder().encodeToString(digest),
                StandardCharsets.UTF_8);
            return "SharedAccessSignature sr=" + resource + "&sig=" + signature + "&se=" + end + "&skn=" + ROOT;
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static String segment(String path) {
        return URLEncoder.encode(path, StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws JMSException {
        for (Connection connection : connections) {
            connection.close();
        }
        ask("DELETE", "namespaces/" + name, null);
    }
}
