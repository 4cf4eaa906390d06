// Topics and subscriptions with the JavaScript administration client. See admin.mjs.
import assert from "node:assert/strict";
import { absent, admin, collect, endpoint, exists, forever, invalid, missing, namespace, recent, ServiceBusClient } from "./admin.mjs";
import { proves, test } from "./proves.mjs";

const topicDefaults = {
  authorizationRules: undefined, autoDeleteOnIdle: forever, availabilityStatus: "Available", defaultMessageTimeToLive: forever,
  duplicateDetectionHistoryTimeWindow: "PT10M", enableBatchedOperations: true, enableExpress: false, enablePartitioning: false,
  maxMessageSizeInKilobytes: 256, maxSizeInMegabytes: 1024, requiresDuplicateDetection: false, status: "Active", supportOrdering: true,
  userMetadata: undefined,
};

const subscriptionDefaults = {
  autoDeleteOnIdle: forever, availabilityStatus: "Available", deadLetteringOnFilterEvaluationExceptions: true,
  deadLetteringOnMessageExpiration: false, defaultMessageTimeToLive: forever, enableBatchedOperations: true,
  forwardDeadLetteredMessagesTo: undefined, forwardTo: undefined, lockDuration: "PT1M", maxDeliveryCount: 10, requiresSession: false,
  status: "Active", userMetadata: undefined,
};

test("a topic without options has every default", async () => {
  const want = { ...topicDefaults, name: "topics/plain" };
  assert.deepEqual(await admin.createTopic("topics/plain"), want);
  assert.deepEqual(await admin.getTopic("topics/plain"), want);
});

test("every property of a topic comes back, and follows an update", proves("admin.topicproperties"), async () => {
  const authorizationRules = [{
    claimType: "SharedAccessKey", accessRights: ["Send"], keyName: "send",
    primaryKey: Buffer.alloc(32, 3).toString("base64"), secondaryKey: Buffer.alloc(32, 4).toString("base64"),
  }];
  const options = {
    authorizationRules, autoDeleteOnIdle: "PT1H", defaultMessageTimeToLive: "P2D", duplicateDetectionHistoryTimeWindow: "PT1M",
    enableBatchedOperations: false, enablePartitioning: true, requiresDuplicateDetection: true, status: "SendDisabled",
    supportOrdering: false, userMetadata: "<a> & \"b\"",
  };
  const want = { ...topicDefaults, ...options, name: "topics.Everything", maxSizeInMegabytes: 16384 };
  assert.deepEqual(await admin.createTopic(want.name, { ...options, availabilityStatus: "Available" }), want);
  const got = await admin.getTopic(want.name);
  assert.deepEqual(got, want);
  const changes = {
    authorizationRules: undefined, autoDeleteOnIdle: "PT2H", defaultMessageTimeToLive: "P1D", duplicateDetectionHistoryTimeWindow: "PT2M",
    enableBatchedOperations: true, status: "Active", supportOrdering: true, userMetadata: "other",
  };
  // Policies that an update does not mention stay.
  const changed = { ...want, ...changes, authorizationRules };
  assert.deepEqual(await admin.updateTopic({ ...got, ...changes }), changed);
  assert.deepEqual(await admin.getTopic(want.name), changed);
});

test("express, large messages and size of a topic", async () => {
  const options = { enableExpress: true, maxMessageSizeInKilobytes: 2048, maxSizeInMegabytes: 3072 };
  assert.deepEqual(await admin.createTopic("topics.express", options), { ...topicDefaults, ...options, name: "topics.express" });
});

test("every property of a subscription comes back, and follows an update", proves("admin.subproperties"), async () => {
  await admin.createTopic("topics.Of");
  const plain = { ...subscriptionDefaults, topicName: "topics.Of", subscriptionName: "Plain" };
  assert.deepEqual(await admin.createSubscription("topics.Of", "Plain"), plain);
  assert.deepEqual(await admin.getSubscription("topics.Of", "Plain"), plain);
  const options = {
    autoDeleteOnIdle: "PT1H", deadLetteringOnFilterEvaluationExceptions: false, deadLetteringOnMessageExpiration: true,
    defaultMessageTimeToLive: "P2D", enableBatchedOperations: false, lockDuration: "PT5M", maxDeliveryCount: 20, requiresSession: true,
    status: "ReceiveDisabled", userMetadata: "<a> & \"b\"",
  };
  const want = { ...subscriptionDefaults, ...options, topicName: "topics.Of", subscriptionName: "all" };
  assert.deepEqual(await admin.createSubscription("topics.Of", "all", { ...options, availabilityStatus: "Available" }), want);
  const got = await admin.getSubscription("topics.Of", "all");
  assert.deepEqual(got, want);
  const changes = {
    autoDeleteOnIdle: "PT2H", deadLetteringOnFilterEvaluationExceptions: true, deadLetteringOnMessageExpiration: false,
    defaultMessageTimeToLive: "P1D", enableBatchedOperations: true, lockDuration: "PT3M", maxDeliveryCount: 7, status: "Active", userMetadata: undefined,
  };
  assert.deepEqual(await admin.updateSubscription({ ...got, ...changes }), { ...want, ...changes });
  assert.deepEqual(await admin.getSubscription("topics.Of", "all"), { ...want, ...changes });
  assert.equal(await admin.subscriptionExists("TOPICS.of", "ALL"), true);
});

test("names below a topic with slashes", async () => {
  await admin.createTopic("topics/a/b");
  const subscription = await admin.createSubscription("topics/a/b", "S.1");
  const rule = await admin.createRule("topics/a/b", "S.1", "R_1", { sqlExpression: "1=0" });
  assert.deepEqual([subscription.topicName, subscription.subscriptionName, rule.name], ["topics/a/b", "S.1", "R_1"]);
  const [listed] = await collect(admin.listSubscriptions("topics/a/b"));
  assert.deepEqual(listed, subscription);
  assert.deepEqual((await collect(admin.listRules("topics/a/b", "S.1"))).map((r) => r.name), ["$Default", "R_1"]);
});

test("forwarding of a subscription, by name and by address", proves("admin.subforward"), async () => {
  await admin.createQueue("topics.target");
  await admin.createTopic("topics.source");
  const target = `${endpoint}topics.target`;
  const created = await admin.createSubscription("topics.source", "s", { forwardTo: "topics.target", forwardDeadLetteredMessagesTo: "topics.target" });
  assert.deepEqual([created.forwardTo, created.forwardDeadLetteredMessagesTo], [target, target]);
  const updated = await admin.updateSubscription({ ...created, forwardTo: target.toUpperCase(), forwardDeadLetteredMessagesTo: undefined });
  assert.deepEqual([updated.forwardTo, updated.forwardDeadLetteredMessagesTo], [`${endpoint}TOPICS.TARGET`, undefined]);
  const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING);
  try {
    await client.createSender("topics.source").sendMessages({ body: "through" });
    const [m] = await client.createReceiver("topics.target").receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    assert.equal(m.body, "through");
  } finally {
    await client.close();
  }
  await invalid(admin.createSubscription("topics.source", "t", { forwardTo: "topics.nowhere" }), /The auto forwarding destination entity does not exist\./);
});

test("runtime properties of topics and subscriptions", proves("admin.topiccounts", "admin.subcounts"), async () => {
  const since = Date.now();
  await admin.createTopic("topics.counted");
  const none = { name: "topics.counted", sizeInBytes: 0, subscriptionCount: 0, scheduledMessageCount: 0 };
  assert.deepEqual(recent(await admin.getTopicRuntimeProperties("topics.counted"), since), none);
  await admin.createSubscription("topics.counted", "s");
  const nothing = {
    topicName: "topics.counted", subscriptionName: "s", totalMessageCount: 0, activeMessageCount: 0, deadLetterMessageCount: 0,
    transferMessageCount: 0, transferDeadLetterMessageCount: 0,
  };
  assert.deepEqual(recent(await admin.getSubscriptionRuntimeProperties("topics.counted", "s"), since), nothing);
  const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING);
  try {
    const sender = client.createSender("topics.counted");
    await sender.sendMessages([{ body: "a" }, { body: "b" }]);
    await sender.scheduleMessages({ body: "c" }, new Date(Date.now() + 3_600_000));
    const receiver = client.createReceiver("topics.counted", "s");
    const [first] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    await receiver.deadLetterMessage(first);
  } finally {
    await client.close();
  }
  const { sizeInBytes, ...counts } = recent(await admin.getTopicRuntimeProperties("topics.counted"), since);
  assert.ok(sizeInBytes > 0, `${sizeInBytes} bytes`);
  assert.deepEqual(counts, { name: "topics.counted", subscriptionCount: 1, scheduledMessageCount: 1 });
  assert.deepEqual(recent(await admin.getSubscriptionRuntimeProperties("topics.counted", "s"), since), {
    ...nothing, totalMessageCount: 2, activeMessageCount: 1, deadLetterMessageCount: 1,
  });
});

test("delete, exists, and what is missing", proves("admin.topic", "admin.sub"), async () => {
  await admin.createTopic("topics.deleted");
  await absent(admin.getSubscription("topics.never", "s"));
  await missing(admin.getSubscription("topics.deleted", "s"), new RegExp(`^Entity '${namespace}:Topic:topics\\.deleted\\|s' was not found\\.`));
  await missing(admin.getSubscriptionRuntimeProperties("topics.deleted", "s"), /^Entity /);
  await missing(admin.deleteSubscription("topics.deleted", "s"), /^Entity /);
  await missing(admin.updateSubscription({ ...subscriptionDefaults, topicName: "topics.deleted", subscriptionName: "s" }), /^Entity /);
  await missing(admin.createSubscription("topics.never", "s"), /^The incoming request is not recognized as a namespace policy put request\./);
  assert.equal(await admin.subscriptionExists("topics.deleted", "s"), false);
  await admin.createSubscription("topics.deleted", "s");
  await exists(admin.createSubscription("topics.deleted", "s"), new RegExp(`^The messaging entity '${namespace}:Topic:topics\\.deleted\\|s' already exists\\.`));
  assert.equal((await admin.deleteSubscription("topics.deleted", "s"))._response.status, 200);
  await admin.createSubscription("topics.deleted", "t");
  assert.equal((await admin.deleteTopic("topics.deleted"))._response.status, 200);
  assert.equal(await admin.topicExists("topics.deleted"), false);
  assert.equal(await admin.subscriptionExists("topics.deleted", "t"), false);
  await absent(admin.getTopic("topics.deleted"));
  await absent(admin.getTopicRuntimeProperties("topics.deleted"));
  await missing(admin.deleteTopic("topics.deleted"), /^No service is hosted at the specified address\./);
  await missing(admin.updateTopic({ ...topicDefaults, name: "topics.deleted" }), /^SubCode=40400\. Not Found\./);
});

test("refusals", proves("admin.topicerrors", "admin.suberrors"), async () => {
  const topic = await admin.createTopic("topics.refused");
  const subscription = await admin.createSubscription("topics.refused", "s");
  await exists(admin.createTopic("topics.refused"), /^SubCode=40900\. Conflict\./);
  await invalid(admin.updateTopic({ ...topic, enablePartitioning: true }), /^SubCode=40000\. Partitioning cannot be changed for Topic\. /);
  await invalid(admin.updateTopic({ ...topic, requiresDuplicateDetection: true }), /RequiresDuplicateDetection property of an existing Topic cannot be changed/);
  await invalid(admin.updateSubscription({ ...subscription, requiresSession: true }), /RequiresSession property of an existing Subscription cannot be changed/);
  await invalid(admin.updateSubscription({ ...subscription, lockDuration: "P25D" }), /^The supplied lock time exceeds the allowed maximum of '5' minutes\./);
  await invalid(admin.createSubscription("topics.refused", "a b"), /contains character\(s\) that is not allowed by Service Bus\./);
  // The kinds share their names, and what is asked for as the other kind is not there.
  await assert.rejects(admin.getQueue("topics.refused"), { name: "RestError" });
});
