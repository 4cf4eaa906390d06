// Queues and the namespace with the JavaScript administration client. See admin.mjs.
import assert from "node:assert/strict";
import { absent, admin, endpoint, exists, forever, invalid, missing, namespace, recent, ServiceBusClient } from "./admin.mjs";
import { proves, test } from "./proves.mjs";

const rights = (keyName, ...accessRights) => ({
  claimType: "SharedAccessKey", accessRights, keyName, primaryKey: Buffer.alloc(32, 1).toString("base64"), secondaryKey: Buffer.alloc(32, 2).toString("base64"),
});

const defaults = {
  authorizationRules: undefined, autoDeleteOnIdle: forever, availabilityStatus: "Available", deadLetteringOnMessageExpiration: false,
  defaultMessageTimeToLive: forever, duplicateDetectionHistoryTimeWindow: "PT10M", enableBatchedOperations: true, enableExpress: false,
  enablePartitioning: false, forwardDeadLetteredMessagesTo: undefined, forwardTo: undefined, lockDuration: "PT1M", maxDeliveryCount: 10,
  maxMessageSizeInKilobytes: 256, maxSizeInMegabytes: 1024, requiresDuplicateDetection: false, requiresSession: false, status: "Active",
  userMetadata: undefined,
};

const everything = {
  authorizationRules: [rights("all", "Manage", "Send", "Listen"), rights("send", "Send")], autoDeleteOnIdle: "PT1H",
  deadLetteringOnMessageExpiration: true, defaultMessageTimeToLive: "P2D", duplicateDetectionHistoryTimeWindow: "PT1M",
  enableBatchedOperations: false, enablePartitioning: true, lockDuration: "PT45S", maxDeliveryCount: 8, maxSizeInMegabytes: 2048,
  requiresDuplicateDetection: true, requiresSession: true, status: "ReceiveDisabled", userMetadata: "<a> & \"b\" ü 漢",
};

test("namespace properties", proves("admin.namespace"), async () => {
  const { name, messagingSku, messagingUnits, createdAt, modifiedAt } = await admin.getNamespaceProperties();
  assert.deepEqual({ name, messagingSku, messagingUnits }, { name: namespace, messagingSku: "Standard", messagingUnits: undefined });
  assert.ok(createdAt <= new Date() && createdAt <= modifiedAt, `${createdAt} ${modifiedAt}`);
});

test("a queue without options has every default", proves("admin.queuedefaults"), async () => {
  const want = { ...defaults, name: "queues/plain" };
  const created = await admin.createQueue("queues/plain");
  assert.deepEqual(created, want);
  assert.equal(created._response.status, 201);
  const got = await admin.getQueue("queues/plain");
  assert.deepEqual(got, want);
  assert.equal(got._response.status, 200);
});

test("every property comes back, and follows an update", proves("admin.queueproperties", "admin.queuepolicies"), async () => {
  const name = "Queues.Everything-1_x";
  // Sixteen partitions hold sixteen times the size.
  const want = { ...defaults, ...everything, name, maxSizeInMegabytes: 32768 };
  assert.deepEqual(await admin.createQueue(name, { ...everything, availabilityStatus: "Available" }), want);
  const got = await admin.getQueue(name);
  assert.deepEqual(got, want);
  const changes = {
    authorizationRules: [rights("send", "Listen")], autoDeleteOnIdle: "PT2H", deadLetteringOnMessageExpiration: false,
    defaultMessageTimeToLive: "P1D", duplicateDetectionHistoryTimeWindow: "PT2M", enableBatchedOperations: true, lockDuration: "PT50S",
    maxDeliveryCount: 5, status: "SendDisabled", userMetadata: "other",
  };
  const updated = await admin.updateQueue({ ...got, ...changes });
  assert.equal(updated._response.status, 200);
  assert.deepEqual(updated, { ...want, ...changes });
  assert.deepEqual(await admin.getQueue(name), { ...want, ...changes });
});

test("express and large messages", async () => {
  const options = { enableExpress: true, maxMessageSizeInKilobytes: 2048 };
  assert.deepEqual(await admin.createQueue("queues.express", options), { ...defaults, ...options, name: "queues.express" });
});

test("what an update leaves undefined gets its default", async () => {
  const created = await admin.createQueue("queues.cleared", { lockDuration: "PT30S", maxDeliveryCount: 3, userMetadata: "m", requiresSession: true });
  await admin.updateQueue({ name: created.name, maxDeliveryCount: 4 });
  assert.deepEqual(await admin.getQueue(created.name), { ...defaults, name: created.name, maxDeliveryCount: 4, requiresSession: true });
});

test("names are compared without case and listed in lower case", proves("admin.queuenames"), async () => {
  await admin.createQueue("Queues.CASE");
  assert.equal((await admin.getQueueRuntimeProperties("queues.case")).totalMessageCount, 0);
  assert.equal(await admin.queueExists("QUEUES.case"), true);
  const listed = [];
  for await (const queue of admin.listQueues()) listed.push(queue.name);
  assert.ok(listed.includes("queues.case") && !listed.includes("Queues.CASE"), String(listed));
  await exists(admin.createQueue("queues.Case"), /^SubCode=40900\./);
  await admin.deleteQueue("queues.CASE");
  assert.equal(await admin.queueExists("Queues.CASE"), false);
});

test("an encoded slash is a slash", async () => {
  await admin.createQueue("queues%2Fencoded");
  assert.equal((await admin.getQueue("queues/encoded")).name, "queues/encoded");
  await exists(admin.createQueue("queues/encoded"), /^SubCode=40900\./);
});

test("forwarding by name and by address, and it has an effect", proves("admin.queueforward"), async () => {
  const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING);
  try {
    await admin.createQueue("queues.target");
    const target = `${endpoint}queues.target`;
    const created = await admin.createQueue("queues.source", { forwardTo: "queues.target", forwardDeadLetteredMessagesTo: target });
    assert.deepEqual([created.forwardTo, created.forwardDeadLetteredMessagesTo], [target, target]);
    await client.createSender("queues.source").sendMessages({ body: "first" });
    // The host loses its capitals, the name keeps them, and it is the same queue.
    const updated = await admin.updateQueue({ ...created, forwardTo: target.toUpperCase(), forwardDeadLetteredMessagesTo: undefined });
    assert.deepEqual([updated.forwardTo, updated.forwardDeadLetteredMessagesTo], [`${endpoint}QUEUES.TARGET`, undefined]);
    await client.createSender("queues.source").sendMessages({ body: "second" });
    const receiver = client.createReceiver("queues.target", { receiveMode: "receiveAndDelete" });
    const got = [];
    while (got.length < 2) got.push(...(await receiver.receiveMessages(2, { maxWaitTimeInMs: 30_000 })));
    assert.deepEqual(got.map((m) => m.body), ["first", "second"]);
    await invalid(admin.createQueue("queues.lost", { forwardTo: "queues.nowhere" }), /^SubCode=40400\. The auto forwarding destination entity does not exist\./);
    await invalid(admin.createQueue("queues.lost", { forwardTo: "queues.target", requiresSession: true }), /^SubCode=40000\. Bad Request\./);
    assert.equal(await admin.queueExists("queues.lost"), false);
  } finally {
    await client.close();
  }
});

test("runtime properties count what is there", proves("admin.queuecounts"), async () => {
  const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING);
  try {
    const since = Date.now();
    await admin.createQueue("queues.counted");
    const none = { name: "queues.counted", sizeInBytes: 0, totalMessageCount: 0, activeMessageCount: 0, deadLetterMessageCount: 0, scheduledMessageCount: 0, transferMessageCount: 0, transferDeadLetterMessageCount: 0 };
    assert.deepEqual(recent(await admin.getQueueRuntimeProperties("queues.counted"), since), none);
    const sender = client.createSender("queues.counted");
    await sender.sendMessages([{ body: "a" }, { body: "b" }, { body: "c" }]);
    await sender.scheduleMessages({ body: "d" }, new Date(Date.now() + 3_600_000));
    const receiver = client.createReceiver("queues.counted");
    const [first] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    await receiver.deadLetterMessage(first);
    const { sizeInBytes, ...counts } = recent(await admin.getQueueRuntimeProperties("queues.counted"), since);
    assert.ok(sizeInBytes > 0, `${sizeInBytes} bytes`);
    assert.deepEqual({ sizeInBytes: 0, ...counts }, { ...none, totalMessageCount: 4, activeMessageCount: 2, deadLetterMessageCount: 1, scheduledMessageCount: 1 });
  } finally {
    await client.close();
  }
});

test("delete, exists, and what is missing", proves("admin.queue", "admin.queuemissing", "admin.queuehas"), async () => {
  await admin.createQueue("queues.deleted");
  assert.equal(await admin.queueExists("queues.deleted"), true);
  assert.equal((await admin.deleteQueue("queues.deleted"))._response.status, 200);
  assert.equal(await admin.queueExists("queues.deleted"), false);
  await absent(admin.getQueue("queues.deleted"));
  await absent(admin.getQueueRuntimeProperties("queues.deleted"));
  await missing(admin.deleteQueue("queues.deleted"), /^No service is hosted at the specified address\./);
  await missing(admin.updateQueue({ ...defaults, name: "queues.deleted" }), /^SubCode=40400\. Not Found\./);
});

test("refusals", proves("admin.queueexists", "admin.queuebad", "admin.queuefixed"), async () => {
  const queue = await admin.createQueue("queues.refused");
  await exists(admin.createQueue("queues.refused"), /^SubCode=40900\. Conflict\./);
  await exists(admin.createTopic("queues.refused"), /^SubCode=40900\. Conflict\./);
  for (const [change, message] of [
    [{ requiresSession: true }, /^SubCode=40000\. The value for the RequiresSession property of an existing Queue cannot be changed\./],
    [{ requiresDuplicateDetection: true }, /^SubCode=40000\. The value for the RequiresDuplicateDetection property of an existing Queue cannot be changed\./],
    [{ enablePartitioning: true }, /^SubCode=40000\. Partitioning cannot be changed for Queue\./],
    [{ lockDuration: "P25D" }, /^SubCode=40000\. The supplied lock time exceeds the allowed maximum of '5' minutes\.[^]*Actual value was 25\.00:00:00/],
    [{ duplicateDetectionHistoryTimeWindow: "P25D" }, /^SubCode=40000\. The value supplied must be between 00:00:\d\d and 7\.00:00:00\./],
    [{ maxDeliveryCount: 0 }, /^SubCode=40000\.[^]*MaxDeliveryCount/],
    [{ defaultMessageTimeToLive: "tomorrow" }, /^SubCode=40000\.[^]*DefaultMessageTimeToLive/],
    [{ maxMessageSizeInKilobytes: 102401 }, /^SubCode=40000\. The property value for 'MaxMessageSizeInKilobytes' must be between \d+ and 102400\./],
    [{ status: "Sleeping" }, /^SubCode=40000\.[^]*Status/],
  ]) {
    await invalid(admin.updateQueue({ ...queue, ...change }), message);
  }
  assert.deepEqual(await admin.getQueue("queues.refused"), { ...defaults, name: "queues.refused" });
  await invalid(admin.createQueue("queues refused"), /contains character\(s\) that is not allowed by Service Bus\./);
});
