package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers: how they start, what they say when they don't, and how they end. */
class ServerTest {
    @TempDir
    Path dir;

    private static String failure(Runnable step) {
        return assertThrows(MinibusException.class, step::run).detail();
    }

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    @Test
    void a_server_has_what_was_declared_and_nothing_else() throws Exception {
        long pid;
        try (var bus = MinibusServer.start(o -> o.queues("orders").topics("events").limits("premium").args("--history", "1MiB")
            .env("MINIBUS_LOG_LEVEL", "debug"))) {
            pid = bus.pid();
            assertTrue(isAlive(pid));
            assertEquals(1, bus.send("orders", "x"));
            assertTrue(failure(() -> bus.counts("queue.1")).contains("queue.1"));
            assertTrue(bus.log().contains("DEBUG"), bus.log());
            var page = HttpClient.newHttpClient().send(HttpRequest.newBuilder(bus.explorerUrl()).header("Accept", "text/html").build(), BodyHandlers.ofString());
            assertTrue(page.body().contains("<title>"), page.body());
            try (var other = bus.namespace(o -> o.name("worker-1").limits("standard").queues("orders"))) {
                assertEquals("worker-1", other.name());
                assertNotEquals(bus.connectionString(), other.connectionString());
                assertEquals(0, other.counts("orders").active());
                assertEquals(1, other.send("orders", "y"));
            }
            assertTrue(failure(() -> bus.namespace(o -> o.name("x"))).contains("x"));
            assertEquals(1, bus.counts("orders").active());
            try (var empty = bus.namespace()) {
                assertTrue(empty.toString().contains(empty.name()));
                assertTrue(failure(() -> empty.send("orders", "z")).contains("orders"));
            }
        }
        assertFalse(isAlive(pid));
    }

    @Test
    void a_configuration_and_a_file_for_the_data() throws IOException {
        var config = Files.writeString(dir.resolve("Config.json"),
            "{\"UserConfig\": {\"Namespaces\": [{\"Name\": \"sbemulatorns\", \"Queues\": [{\"Name\": \"orders\"}]}]}} // ours");
        try (var bus = MinibusServer.start(o -> o.config(config).queues("more").data(dir.resolve("minibus.db")))) {
            bus.send("orders", "kept");
            bus.send("more", "kept");
            try (var other = bus.namespace(o -> o.config(config).name("worker-1").queues("more"))) {
                assertEquals(0, other.counts("orders").active() + other.counts("more").active());
            }
        }
        try (var bus = MinibusServer.start(o -> o.config(config).data(dir.resolve("minibus.db")))) {
            assertEquals(1, bus.counts("orders").active());
        }
        assertTrue(failure(() -> MinibusServer.start(o -> o.config(dir.resolve("absent.json")).queues("x"))).contains("absent.json"));
    }

    @Test
    void messages_of_files_are_there_at_the_start() throws IOException {
        var seed = Files.writeString(dir.resolve("orders.jsonl"), "{\"body\": \"one\"}\n{\"body\": \"two\"}\n");
        try (var bus = MinibusServer.start(o -> o.queues("orders").seed(seed))) {
            assertEquals(2, bus.counts("orders").active());
        }
    }

    @Test
    void with_a_key_only_its_holders_are_served() {
        try (var bus = MinibusServer.start(o -> o.queues("orders").rootKey("a-key"))) {
            assertEquals(1, bus.send("orders", "x"));
            assertTrue(bus.connectionString().contains("a-key"));
            try (var other = bus.namespace(o -> o.queues("orders"))) {
                other.send("orders", "x");
            }
            assertEquals(1, MinibusServer.connect(bus.connectionString()).counts("orders").active());
            var stranger = bus.connectionString().replace("a-key", "another");
            assertEquals(401, assertThrows(MinibusException.class, () -> MinibusServer.connect(stranger)).status());
        }
    }

    @Test
    void connecting_leaves_the_server_running() {
        try (var bus = MinibusServer.start()) {
            MinibusServer.connect(bus.connectionString()).close();
            var origin = bus.explorerUrl().resolve("/").toString();
            try (var again = MinibusServer.connect(origin)) {
                assertEquals(0, again.pid());
                assertEquals("", again.log());
                assertEquals(bus.name(), again.name());
            }
            assertTrue(isAlive(bus.pid()));
            // The ports of a container have other numbers here.
            var mapped = MinibusServer.connect(origin, port -> 1);
            assertEquals(1, URI.create(mapped.namespace().connectionString().replaceFirst("Endpoint=(.*?);.*", "$1")).getPort());
        }
        assertTrue(failure(() -> MinibusServer.connect("http://localhost:1")).startsWith("No Minibus answers at http://localhost:1/"));
        assertTrue(assertThrows(IllegalArgumentException.class, () -> MinibusServer.connect("localhost")).getMessage().contains("Endpoint=sb://"));
    }

    @Test
    void no_token_leaves_for_azure() {
        var key = ";SharedAccessKeyName=x;SharedAccessKey=secret";
        for (var given : List.of("Endpoint=sb://shop.servicebus.windows.net/" + key,
            "Endpoint=sb://shop.ServiceBus.windows.net.;UseDevelopmentEmulator=true" + key,
            "Endpoint=sb://shop.servicebus.chinacloudapi.cn" + key, "https://shop.servicebus.windows.net")) {
            var text = assertThrows(IllegalArgumentException.class, () -> MinibusServer.connect(given)).getMessage();
            assertTrue(text.startsWith("This is a namespace of Azure: shop.") && !text.contains("secret"), text);
        }
        for (var given : List.of("Endpoint=sb://bus.example.org", "Endpoint=sb://127.example.org",
            "Endpoint=sb://10.0.0.1;UseDevelopmentEmulator=false")) {
            var text = assertThrows(IllegalArgumentException.class, () -> MinibusServer.connect(given + key)).getMessage();
            assertTrue(text.contains("lacks UseDevelopmentEmulator=true") && !text.contains("secret"), text);
        }
        for (var host : List.of("localhost", "shop.localhost", "127.0.0.2", "[::1]", "servicebus;UseDevelopmentEmulator=true",
            "bus.example.org;usedevelopmentemulator=True")) {
            assertEquals("http://" + host.split(";")[0] + ":5672/", new Control("Endpoint=sb://" + host + key).origin().toString());
        }
    }

    @Test
    void a_server_that_does_not_start_says_why() throws IOException {
        var flag = failure(() -> MinibusServer.start(o -> o.args("--hurry")));
        assertTrue(flag.startsWith("Minibus ended at once, with code 2: ") && flag.contains("\nminibus: there is no flag --hurry"), flag);
        var entity = failure(() -> MinibusServer.start(o -> o.queues("")));
        assertTrue(entity.contains("ended at once") && entity.contains("$.UserConfig.Namespaces[0].Queues[0].Name"), entity);
        assertTrue(failure(() -> MinibusServer.start(o -> o.binary(dir.resolve("nothing")))).contains("the option binary names"));
        var text = Files.writeString(dir.resolve("text"), "no program");
        assertTrue(failure(() -> MinibusServer.start(o -> o.binary(text))).contains("can't be run"));
    }

    @Test
    void a_port_that_does_not_answer() throws IOException {
        try (var mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            var origin = "http://127.0.0.1:" + mute.getLocalPort() + "/";
            var control = new Control(origin);
            control.patience = Duration.ofSeconds(2);
            var says = origin + " accepts connections but does not answer. Is it a Minibus?";
            assertEquals(says, failure(() -> control.waitUntilHealthy(control.patience)));
            assertEquals(says, failure(() -> control.send("GET", "namespaces", null)));
        }
    }

    @Test
    void a_wait_may_take_longer_than_an_answer() {
        try (var bus = MinibusServer.start(o -> o.queue("orders").topic("events"))) {
            bus.control.patience = Duration.ofSeconds(1);
            assertTrue(failure(() -> bus.waitFor(w -> w.entity("orders").count("active", 1).timeout(Duration.ofSeconds(2))))
                .startsWith("Not met after 2s"));
        }
    }

    @Test
    void a_server_that_has_ended_says_so() throws Exception {
        try (var bus = MinibusServer.start()) {
            var process = ProcessHandle.of(bus.pid()).orElseThrow();
            process.destroyForcibly();
            process.onExit().get(10, TimeUnit.SECONDS);
            var text = failure(bus::reset);
            assertTrue(text.startsWith("Minibus does not answer at http://localhost:") && text.contains("Its process has ended, with code"), text);
        }
    }

    /** A program whose JVM is ended. It starts a server, says its id and waits. */
    static final class Parent {
        public static void main(String[] args) throws Exception {
            System.out.println(MinibusServer.start(o -> o.queues("orders")).pid());
            if (System.in.read() >= 0) {
                System.exit(0); // without closing the server
            }
        }
    }

    private Process parent(String... options) throws IOException {
        var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Parent.class.getName()));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("XDG_CACHE_HOME", dir.toString());
        return builder.start();
    }

    @Test
    void several_jvms_copy_the_program_once_and_their_servers_end_with_them() throws Exception {
        var parents = new ArrayList<Process>();
        for (var i = 0; i < 4; i++) {
            parents.add(parent());
        }
        var servers = new ArrayList<ProcessHandle>();
        for (var parent : parents) {
            servers.add(ProcessHandle.of(Long.parseLong(parent.inputReader().readLine())).orElseThrow());
        }
        try (var files = Files.walk(dir.resolve("minibus"))) {
            var copies = files.filter(file -> file.getFileName().toString().matches("minibus|.*\\.part") && Files.isRegularFile(file)).toList();
            assertEquals(1, copies.size(), copies.toString());
        }
        for (var i = 0; i < 3; i++) {
            assertTrue(servers.get(i).isAlive());
            var signal = List.of("-KILL", "-TERM", "-INT").get(i);
            new ProcessBuilder("kill", signal, String.valueOf(parents.get(i).pid())).start().waitFor();
        }
        parents.get(3).outputWriter().append("\n").flush(); // it exits
        for (var i = 0; i < 4; i++) {
            servers.get(i).onExit().get(10, TimeUnit.SECONDS);
            assertTrue(parents.get(i).waitFor(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void without_a_program_for_the_platform_the_text_says_what_to_do() throws Exception {
        var parent = parent("-Dos.name=Linux", "-Dos.arch=riscv64");
        parent.outputWriter().close();
        var text = new String(parent.getInputStream().readAllBytes());
        assertTrue(text.contains("There is no program of Minibus for linux-riscv64 on the class path") && text.contains("MINIBUS_PATH"), text);
    }
}
