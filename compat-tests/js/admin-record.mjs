// Records what the JavaScript administration client sends, for the golden files of mgmt:
//
//    node admin-record.mjs DIRECTORY   writes javascript-queues.txt and javascript-topics.txt; the server must be fresh
//
// What differs from run to run (times, the port) is written as the replay has it: its clock stands still, and its host is
// localhost:5300.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect, connectionString, host, quickly, ServiceBusAdministrationClient } from "./admin.mjs";

const time = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const header = (headers, ...names) => names.filter((name) => headers.has(name)).map((name) => `${name}: ${headers.get(name)}`);

// The last policy before the transport keeps what passes.
function recorder() {
  const exchanges = [];
  const policy = {
    name: "recorder",
    async sendRequest(request, next) {
      const response = await next(request);
      exchanges.push([
        `${request.method} ${request.url}`, ...header(request.headers, "Content-Type", "If-Match"), "", request.body ?? "",
        `--- ${response.status}`, ...header(response.headers, "Content-Type", "Etag"), "", response.bodyAsText ?? "", "===", "",
      ].join("\n"));
      return response;
    },
  };
  const text = () => exchanges.join("").replaceAll(host, "localhost:5300").replace(time, "2026-03-01T10:00:00Z");
  return { policy, text };
}

const refused = (call) => assert.rejects(call, { name: "RestError" });

const rights = (keyName, ...accessRights) => ({
  claimType: "SharedAccessKey", accessRights, keyName, primaryKey: Buffer.alloc(32, 1).toString("base64"), secondaryKey: Buffer.alloc(32, 2).toString("base64"),
});

async function queues(client) {
  await client.getNamespaceProperties();
  await client.createQueue("target");
  await client.createQueue("orders/eu", {
    authorizationRules: [rights("all", "Manage", "Send", "Listen"), rights("send", "Send")], autoDeleteOnIdle: "PT1H", deadLetteringOnMessageExpiration: true,
    defaultMessageTimeToLive: "P2D", duplicateDetectionHistoryTimeWindow: "PT1M", enableBatchedOperations: false, enablePartitioning: true,
    enableExpress: false, forwardDeadLetteredMessagesTo: "target", lockDuration: "PT45S", maxDeliveryCount: 8, maxSizeInMegabytes: 2048,
    requiresDuplicateDetection: true, requiresSession: false, status: "Active", availabilityStatus: "Available", userMetadata: "<metadata> & \"more\"",
  });
  const queue = await client.getQueue("orders/eu");
  await client.updateQueue({ ...queue, forwardTo: "target", status: "ReceiveDisabled" });
  await client.getQueueRuntimeProperties("orders/eu");
  await client.updateQueue({ name: "target", maxDeliveryCount: 5 });
  await collect(client.listQueues());
  await collect(client.listQueues().byPage({ maxPageSize: 1 }));
  await collect(client.listQueuesRuntimeProperties().byPage({ continuationToken: "1", maxPageSize: 5 }));
  assert.equal(await client.queueExists("Target"), true);
  assert.equal(await client.queueExists("none"), false);
  await refused(client.createQueue("target"));
  await refused(client.createQueue("a b"));
  await refused(client.createQueue("lost", { forwardTo: "none" }));
  await refused(client.updateQueue({ ...queue, requiresSession: true }));
  await refused(client.updateQueue({ ...queue, lockDuration: "P25D" }));
  await client.deleteQueue("orders/eu");
  await refused(client.deleteQueue("orders/eu"));
  await refused(client.updateQueue(queue));
}

async function topics(client) {
  const topic = await client.createTopic("events", {
    authorizationRules: [rights("send", "Send")], autoDeleteOnIdle: "PT1H", defaultMessageTimeToLive: "P2D", duplicateDetectionHistoryTimeWindow: "PT1M",
    enableBatchedOperations: false, enableExpress: false, enablePartitioning: true, maxSizeInMegabytes: 1024, requiresDuplicateDetection: true,
    status: "Active", availabilityStatus: "Available", supportOrdering: false, userMetadata: "m",
  });
  await client.updateTopic({ ...topic, defaultMessageTimeToLive: "P1D" });
  await client.getTopic("events");
  const subscription = await client.createSubscription("events", "eu", {
    autoDeleteOnIdle: "PT1H", deadLetteringOnFilterEvaluationExceptions: false, deadLetteringOnMessageExpiration: true, defaultMessageTimeToLive: "P2D",
    enableBatchedOperations: false, lockDuration: "PT5M", maxDeliveryCount: 20, requiresSession: true, status: "Active",
    availabilityStatus: "Available", userMetadata: "m",
    defaultRuleOptions: { name: "first", filter: { sqlExpression: "a = @a AND b = @b", sqlParameters: { "@a": 1, "@b": "b" } }, action: { sqlExpression: "SET a = 'b'" } },
  });
  await client.updateSubscription({ ...subscription, maxDeliveryCount: 21 });
  await client.getSubscription("events", "eu");
  await client.createSubscription("events", "us");
  await client.getTopicRuntimeProperties("events");
  await client.getSubscriptionRuntimeProperties("events", "eu");
  await collect(client.listTopics());
  await collect(client.listTopicsRuntimeProperties());
  await collect(client.listSubscriptions("events").byPage({ maxPageSize: 1 }));
  await collect(client.listSubscriptionsRuntimeProperties("events"));
  await rules(client, "events", "eu");
  assert.equal(await client.subscriptionExists("events", "none"), false);
  assert.equal(await client.topicExists("none"), false);
  await refused(client.createTopic("events"));
  await refused(client.createSubscription("events", "eu"));
  await refused(client.createSubscription("none", "eu"));
  await refused(client.updateSubscription({ ...subscription, requiresSession: false }));
  await client.deleteSubscription("events", "eu");
  await refused(client.deleteSubscription("events", "eu"));
  await client.deleteTopic("events");
  await refused(client.getTopic("events"));
}

async function rules(client, ...path) {
  const applicationProperties = { text: "a < b", whole: 2, double: 1.5, yes: true, when: new Date("2020-07-05T11:12:13Z") };
  const rule = await client.createRule(...path, "correlation", {
    correlationId: "c", subject: "l", to: "t", replyTo: "r", replyToSessionId: "rs", sessionId: "s", messageId: "m", contentType: "ct", applicationProperties,
  }, { sqlExpression: "SET priority = @low", sqlParameters: { "@low": "low" } });
  await client.createRule(...path, "true", { sqlExpression: "1=1" });
  await client.createRule(...path, "false", { sqlExpression: "1=0" });
  await client.updateRule(...path, { ...rule, filter: { applicationProperties: { only: "x" } } });
  await client.getRule(...path, "correlation");
  await client.getRule(...path, "first");
  await collect(client.listRules(...path).byPage({ maxPageSize: 2 }));
  await client.deleteRule(...path, "false");
  await refused(client.createRule(...path, "true", { sqlExpression: "1=1" }));
  await refused(client.createRule(...path, "bad", { sqlExpression: "a =" }));
  await refused(client.createRule(...path, "b@d", { sqlExpression: "1=1" }));
  await refused(client.deleteRule(...path, "none"));
  await refused(client.getRule(...path, "none"));
}

for (const [name, scenario] of Object.entries({ queues, topics })) {
  const { policy, text } = recorder();
  const client = new ServiceBusAdministrationClient(connectionString(), quickly);
  client.pipeline.addPolicy(policy, { afterPhase: "Sign" });
  await scenario(client);
  writeFileSync(join(process.argv[2], `javascript-${name}.txt`), text());
}
