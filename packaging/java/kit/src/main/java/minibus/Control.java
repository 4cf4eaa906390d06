package minibus;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Sends requests to the control API of one server. */
final class Control {
    // One for the JVM: each has threads. No proxy: Minibus is near.
    private static final HttpClient HTTP = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY)
        .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();

    private static final Pattern AZURE = Pattern.compile("\\.servicebus\\."); // in all of its clouds
    private static final Pattern LOCAL = Pattern.compile("(.+\\.)?localhost|127(\\.\\d+){3}|\\[::1]");

    private final URI origin;
    private final String keyName;
    private final String key;
    private Supplier<String> obituary = () -> "";
    Duration patience = Duration.ofSeconds(30); // besides what Minibus is told to wait

    /** Takes a URL such as http://localhost:5300, or a connection string. */
    Control(String urlOrConnectionString) {
        if (urlOrConnectionString.matches("https?://.*")) {
            origin = URI.create(urlOrConnectionString).resolve("/");
            refuseAzure(origin);
            keyName = null;
            key = null;
            return;
        }
        var parts = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
        for (var part : urlOrConnectionString.split(";")) {
            var equals = part.indexOf('=');
            if (equals > 0) {
                parts.put(part.substring(0, equals).strip(), part.substring(equals + 1).strip());
            }
        }
        var endpoint = parts.get("Endpoint");
        if (endpoint == null || !endpoint.matches("sb://[^/]+/?") || URI.create(endpoint).getHost() == null) {
            throw new IllegalArgumentException("found " + (endpoint == null ? "no Endpoint" : "Endpoint=" + endpoint)
                + "; want a connection string such as Endpoint=sb://localhost:5672;...,"
                + " or a URL such as http://localhost:5300");
        }
        var address = URI.create(endpoint);
        refuseAzure(address);
        var host = address.getHost();
        if (!"true".equalsIgnoreCase(parts.get("UseDevelopmentEmulator"))
            && !LOCAL.matcher(host.toLowerCase(Locale.ROOT)).matches()) {
            throw new IllegalArgumentException("The connection string for " + host
                + " lacks UseDevelopmentEmulator=true. Nothing was sent there. If a Minibus runs there, add it.");
        }
        var port = address.getPort() < 0 ? 5672 : address.getPort();
        origin = URI.create("http://" + address.getHost() + ":" + port + "/");
        keyName = parts.get("SharedAccessKeyName");
        key = parts.get("SharedAccessKey");
    }

    private static void refuseAzure(URI address) {
        var host = String.valueOf(address.getHost());
        if (AZURE.matcher(host.toLowerCase(Locale.ROOT)).find()) {
            throw new IllegalArgumentException("This is a namespace of Azure: " + host + ". Nothing was sent to it."
                + " Give the connection string of a Minibus, or start one with MinibusServer.start().");
        }
    }

    /** Where the server answers HTTP. */
    URI origin() {
        return origin;
    }

    /** Sets what to say of a server that does not answer. */
    void onSilence(Supplier<String> text) {
        obituary = text;
    }

    /** Waits until the server is ready. */
    void waitUntilHealthy(Duration time) {
        var deadline = Instant.now().plus(time);
        while (true) {
            String last;
            try {
                var request = HttpRequest.newBuilder(origin.resolve("/health")).timeout(time).build();
                var answer = HTTP.send(request, BodyHandlers.ofString());
                if (answer.statusCode() == 200) {
                    return;
                }
                last = answer.body();
                Thread.sleep(50);
            } catch (HttpTimeoutException e) {
                throw silent(e);
            } catch (IOException e) {
                throw new MinibusException("No Minibus answers at " + origin + ": " + reason(e)
                    + ". Start one, or correct the connection string.", e);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
            if (Instant.now().isAfter(deadline)) {
                throw new MinibusException("Minibus at " + origin + " is not ready: " + last, null);
            }
        }
    }

    /** Sends a request and returns what the JSON of its answer says; null without one. */
    Object send(String method, String path, Object body) {
        return send(method, path, body, Duration.ZERO);
    }

    /** Sends a request that Minibus may take so long for by its order. The body may be the JSON itself, as a text. */
    Object send(String method, String path, Object body, Duration wait) {
        var publisher = body == null ? BodyPublishers.noBody()
            : BodyPublishers.ofString(body instanceof String text ? text : Json.write(body));
        var answer = ask(method, path, publisher, wait);
        var text = new String(answer.body(), StandardCharsets.UTF_8);
        return text.isEmpty() ? null : Json.parse(text);
    }

    /** Returns the bytes of an answer. */
    byte[] bytes(String path) {
        return ask("GET", path, BodyPublishers.noBody(), Duration.ZERO).body();
    }

    /** Deletes what may be gone already. */
    void delete(String path) {
        try {
            send("DELETE", path, null);
        } catch (MinibusException e) {
            if (e.status() != 404) {
                throw e;
            }
        }
    }

    /** Reads all pages of a list. */
    List<Map<?, ?>> list(String path) {
        var items = new ArrayList<Map<?, ?>>();
        Object cursor = null;
        do {
            var more = cursor == null ? "" : (path.contains("?") ? "&" : "?") + "cursor=" + encode(cursor.toString());
            var page = (Map<?, ?>) send("GET", path + more, null);
            for (var item : (List<?>) page.get("items")) {
                items.add((Map<?, ?>) item);
            }
            cursor = page.get("next");
        } while (cursor != null);
        return items;
    }

    private HttpResponse<byte[]> ask(String method, String path, BodyPublisher body, Duration wait) {
        var request = HttpRequest.newBuilder(URI.create(origin + "$minibus/v1/" + path)).method(method, body)
            .header("Content-Type", "application/json").timeout(patience.plus(wait));
        if (key != null) {
            request.header("Authorization", token());
        }
        HttpResponse<byte[]> answer;
        try {
            answer = HTTP.send(request.build(), BodyHandlers.ofByteArray());
        } catch (HttpTimeoutException e) {
            throw silent(e);
        } catch (IOException e) {
            throw new MinibusException("Minibus does not answer at " + origin + ": " + reason(e) + obituary.get(), e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        if (answer.statusCode() >= 300) {
            throw refusal(method, path, answer.statusCode(), new String(answer.body(), StandardCharsets.UTF_8));
        }
        return answer;
    }

    private static MinibusException refusal(String method, String path, int status, String text) {
        try {
            var problem = Json.object(text);
            var errors = new ArrayList<String>();
            if (problem.get("errors") instanceof List<?> list) {
                list.forEach(each -> errors.add(String.valueOf(each)));
            }
            return new MinibusException(status, (String) problem.get("detail"), errors);
        } catch (IllegalArgumentException | ClassCastException notJson) {
            return new MinibusException(status, method + " " + path + " was refused with " + status + ": " + text,
                List.of());
        }
    }

    private MinibusException silent(HttpTimeoutException e) {
        return new MinibusException(e instanceof HttpConnectTimeoutException
            ? "No Minibus answers at " + origin + ": " + reason(e) + ". Start one, or correct the connection string."
            : origin + " accepts connections but does not answer. Is it a Minibus?", e);
    }

    private static MinibusException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new MinibusException("The thread was interrupted while it waited for Minibus", e);
    }

    /** Java's exception for a refused connection often has no text. */
    private static String reason(IOException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null) {
                return cause.getMessage();
            }
        }
        return e instanceof java.net.ConnectException ? "connection refused" : e.getClass().getSimpleName();
    }

    private String token() {
        try {
            var audience = encode(origin.toString());
            var expiry = Instant.now().plus(Duration.ofHours(1)).getEpochSecond();
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            var signature = mac.doFinal((audience + "\n" + expiry).getBytes(StandardCharsets.UTF_8));
            return "SharedAccessSignature sr=" + audience
                + "&sig=" + encode(Base64.getEncoder().encodeToString(signature))
                + "&se=" + expiry + "&skn=" + encode(keyName == null ? "" : keyName);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("sign a token", e);
        }
    }

    /** Encodes a segment of a path or a value of a query. */
    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Writes a query; what is null is left out. */
    static String query(Map<String, ?> values) {
        var text = new StringBuilder();
        values.forEach((name, value) -> {
            if (value != null) {
                text.append(text.isEmpty() ? '?' : '&').append(name).append('=').append(encode(value.toString()));
            }
        });
        return text.toString();
    }

    /** Makes a map that keeps the order, for bodies: names and values in turn. */
    static Map<String, Object> body(Object... namesAndValues) {
        var map = new LinkedHashMap<String, Object>();
        for (var i = 0; i < namesAndValues.length; i += 2) {
            map.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return map;
    }
}
