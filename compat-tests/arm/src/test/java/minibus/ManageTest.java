package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.core.amqp.AmqpRetryOptions;
import com.azure.core.http.rest.PagedResponse;
import com.azure.core.management.AzureEnvironment;
import com.azure.core.management.exception.ManagementException;
import com.azure.core.management.profile.AzureProfile;
import com.azure.identity.ClientSecretCredentialBuilder;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.ServiceBusMessage;
import com.azure.messaging.servicebus.ServiceBusSenderClient;
import com.azure.resourcemanager.servicebus.ServiceBusManager;
import com.azure.resourcemanager.servicebus.fluent.models.RuleInner;
import com.azure.resourcemanager.servicebus.fluent.models.SBQueueInner;
import com.azure.resourcemanager.servicebus.fluent.models.SBSubscriptionInner;
import com.azure.resourcemanager.servicebus.fluent.models.SBTopicInner;
import com.azure.resourcemanager.servicebus.models.Action;
import com.azure.resourcemanager.servicebus.models.CorrelationFilter;
import com.azure.resourcemanager.servicebus.models.FilterType;
import com.azure.resourcemanager.servicebus.models.KeyType;
import com.azure.resourcemanager.servicebus.models.NamespaceSku;
import com.azure.resourcemanager.servicebus.models.Queue;
import com.azure.resourcemanager.servicebus.models.ServiceBusNamespace;
import com.azure.resourcemanager.servicebus.models.SqlFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** azure-resourcemanager-servicebus as a program uses it, and the client for messages with the connection strings that it gets. */
class ManageTest {
    private static final String BASE = System.getenv("MINIBUS_BASE");
    private static final String GROUP = "java";
    private static final String SPACE = "java-ns-1";

    private final ServiceBusManager manager = manager();

    private static ServiceBusManager manager() {
        final Map<String, String> endpoints = new HashMap<>();
        for (String name : List.of("resourceManagerEndpointUrl", "managementEndpointUrl", "activeDirectoryEndpointUrl", "activeDirectoryResourceId",
                "microsoftGraphResourceId")) {
            endpoints.put(name, BASE + "/");
        }
        return ServiceBusManager.authenticate(
            new ClientSecretCredentialBuilder().tenantId(System.getenv("MINIBUS_TENANT")).clientId(System.getenv("MINIBUS_CLIENT_ID"))
                .clientSecret(System.getenv("MINIBUS_SECRET")).authorityHost(BASE).disableInstanceDiscovery().build(),
            new AzureProfile(System.getenv("MINIBUS_TENANT"), System.getenv("MINIBUS_SUBSCRIPTION"), new AzureEnvironment(endpoints)));
    }

    @Test
    void manages() {
        final ServiceBusNamespace space = manager.namespaces().define(SPACE).withRegion("westeurope").withExistingResourceGroup(GROUP)
            .withSku(NamespaceSku.STANDARD).withNewQueue("first", 2048).withNewSendRule("sender").withTag("team", "a").create();
        assertEquals("a", space.tags().get("team"));
        assertEquals(2048, space.queues().getByName("first").maxSizeInMB());
        lists();
        durations(space);
        rules();
        policies(space);
        assertEquals("b", space.update().withTag("team", "b").apply().tags().get("team"));
        manager.namespaces().deleteByResourceGroup(GROUP, SPACE);
        missing("ResourceNotFound", () -> manager.namespaces().getByResourceGroup(GROUP, SPACE));
    }

    private static void missing(String code, Runnable call) {
        final ManagementException e = assertThrows(ManagementException.class, call::run);
        assertEquals(404, e.getResponse().getStatusCode());
        assertEquals(code, e.getValue().getCode());
    }

    private void lists() {
        final List<String> want = new ArrayList<>(List.of("first"));
        for (int i = 0; i < 250; i++) {
            want.add(String.format("q%03d", i));
            manager.serviceClient().getQueues().createOrUpdate(GROUP, SPACE, want.get(i + 1), new SBQueueInner());
        }
        final List<String> got = new ArrayList<>();
        int pages = 0;
        for (PagedResponse<SBQueueInner> page : manager.serviceClient().getQueues().listByNamespace(GROUP, SPACE).iterableByPage()) {
            pages++;
            page.getValue().forEach(q -> got.add(q.name()));
        }
        assertEquals(3, pages);
        assertEquals(want, got.stream().sorted().toList());
        missing("MessagingGatewayNotFoundStatusCode", () -> manager.serviceClient().getQueues().get(GROUP, SPACE, "none"));
    }

    private static void durations(ServiceBusNamespace space) {
        space.queues().define("durations").withMessageLockDurationInSeconds(90).withDefaultMessageTTL(Duration.ofDays(14)).create();
        final Queue q = space.queues().getByName("durations");
        assertEquals(90, q.lockDurationInSeconds());
        assertEquals(Duration.ofDays(14), q.defaultMessageTtlDuration());
    }

    private void rules() {
        manager.serviceClient().getTopics().createOrUpdate(GROUP, SPACE, "t", new SBTopicInner());
        manager.serviceClient().getSubscriptions().createOrUpdate(GROUP, SPACE, "t", "s", new SBSubscriptionInner());
        final var rules = manager.serviceClient().getRules();
        rules.createOrUpdate(GROUP, SPACE, "t", "s", "sql", new RuleInner().withFilterType(FilterType.SQL_FILTER)
            .withSqlFilter(new SqlFilter().withSqlExpression("a = 1")).withAction(new Action().withSqlExpression("SET b = 2")));
        rules.createOrUpdate(GROUP, SPACE, "t", "s", "correlation", new RuleInner().withFilterType(FilterType.CORRELATION_FILTER)
            .withCorrelationFilter(new CorrelationFilter().withLabel("red").withProperties(Map.of("size", "5"))));
        final Map<String, RuleInner> found = new TreeMap<>();
        rules.listBySubscriptions(GROUP, SPACE, "t", "s").forEach(r -> found.put(r.name(), r));
        assertEquals(List.of("$Default", "correlation", "sql"), List.copyOf(found.keySet()));
        assertEquals("a = 1", found.get("sql").sqlFilter().sqlExpression());
        assertEquals("SET b = 2", found.get("sql").action().sqlExpression());
        assertEquals(Map.of("size", "5"), found.get("correlation").correlationFilter().properties());
    }

    private static void policies(ServiceBusNamespace space) {
        final var rule = space.authorizationRules().getByName("sender");
        final var before = rule.getKeys();
        send(before.primaryConnectionString(), "first");
        final var after = rule.regenerateKey(KeyType.PRIMARY_KEY);
        assertNotEquals(before.primaryKey(), after.primaryKey());
        assertEquals(before.secondaryKey(), after.secondaryKey());
        assertThrows(RuntimeException.class, () -> send(before.primaryConnectionString(), "first"));
        send(after.primaryConnectionString(), "first");
        send(after.secondaryConnectionString(), "first");
    }

    private static void send(String connection, String queue) {
        try (ServiceBusSenderClient sender = new ServiceBusClientBuilder().connectionString(connection)
                .retryOptions(new AmqpRetryOptions().setMaxRetries(0)).sender().queueName(queue).buildClient()) {
            sender.sendMessage(new ServiceBusMessage("x"));
        }
    }
}
