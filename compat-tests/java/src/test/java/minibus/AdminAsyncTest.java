package minibus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.exception.ResourceExistsException;
import com.azure.core.exception.ResourceNotFoundException;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationAsyncClient;
import com.azure.messaging.servicebus.administration.models.CreateQueueOptions;
import com.azure.messaging.servicebus.administration.models.CreateRuleOptions;
import com.azure.messaging.servicebus.administration.models.SqlRuleFilter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** ServiceBusAdministrationAsyncClient: the same requests, sent without a thread that waits. */
class AdminAsyncTest extends Case {
    private static final ServiceBusAdministrationAsyncClient async = Bus.administration().buildAsyncClient();

    @Test
    @Proves("admin.async")
    void the_life_of_a_queue() {
        final String name = Bus.name("queue");
        final int count = async.createQueue(name, new CreateQueueOptions().setMaxDeliveryCount(3)).then(async.getQueue(name))
            .flatMap(queue -> async.updateQueue(queue.setMaxDeliveryCount(4))).then(async.getQueue(name))
            .block(SOON).getMaxDeliveryCount();
        assertEquals(4, count);
        assertEquals(0, async.getQueueRuntimeProperties(name).block(SOON).getTotalMessageCount());
        listed(() -> async.listQueues().any(queue -> queue.getName().equals(name)).block(SOON));
        refused(ResourceExistsException.class, 409, () -> async.createQueue(name).block(SOON));
        assertEquals(false, async.deleteQueue(name).then(async.getQueueExists(name)).block(SOON));
        refused(ResourceNotFoundException.class, 404, () -> async.deleteQueue(name).block(SOON));
    }

    @Test
    void the_life_of_a_topic() {
        final String topic = Bus.name("topic");
        final CreateRuleOptions rule = new CreateRuleOptions(new SqlRuleFilter("a = 1"));
        final List<String> rules = async.createTopic(topic).then(async.createSubscription(topic, "s"))
            .then(async.createRule(topic, "s", "r", rule)).thenMany(async.listRules(topic, "s"))
            .map(r -> r.getName()).collectList().block(SOON);
        assertEquals(List.of("$Default", "r"), rules);
        assertEquals(1, async.getTopicRuntimeProperties(topic).block(SOON).getSubscriptionCount());
        assertEquals(false, async.deleteSubscription(topic, "s").then(async.getSubscriptionExists(topic, "s")).block(SOON));
        assertEquals(false, async.deleteTopic(topic).then(async.getTopicExists(topic)).block(SOON));
    }
}
