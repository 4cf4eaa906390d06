// What the other modules leave out of compat-tests/cases: what is cancelled, what is not set, names, further sections of a message. See
// parity.mjs.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { AzureNamedKeyCredential, AzureSASCredential } from "@azure/core-auth";
import { createHmac } from "node:crypto";
import Long from "long";
import { absent, admin, collect, connectionString, host, quickly as patient, refused, ServiceBusAdministrationClient, ServiceBusClient } from "./admin.mjs";
import { address, bodies, byHand, client, connect, numbers, once, patience, queue, quickly, receive } from "./parity.mjs";
import { proves, test } from "./proves.mjs";

const all = { fromSequenceNumber: Long.ZERO };
const root = "RootManageSharedAccessKey";

test("one identifier for all", proves("conn.identifier"), async () => {
  const { name } = await queue();
  const identifier = "worker-1";
  const clients = [connect(undefined, { ...once, identifier }), connect(undefined, { ...once, identifier })];
  for (const own of clients) {
    await own.createSender(name, { identifier }).sendMessages({ body: "m" });
    assert.deepEqual(bodies(await receive(own.createReceiver(name, { identifier, ...byHand }), 1)), ["m"]);
  }
});

// A client with a credential speaks TLS to the address.
function withCredential(credential) {
  const own = new ServiceBusClient("localhost", credential, { ...once, customEndpointAddress: `sb://${address}` });
  return own;
}

test("a token of an unknown issuer is refused", proves("auth.tokenrefused"), async () => {
  const { name } = await queue();
  const token = { getToken: async () => ({ token: "header.eyJhdWQiOiJzYiJ9.signature", expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const own = withCredential(token);
  await assert.rejects(own.createSender(name).sendMessages({ body: "m" }), { code: "UnauthorizedAccess" });
  await own.close();
});

function signature(seconds) {
  const [resource, expiry] = [encodeURIComponent("sb://localhost/"), Math.floor(Date.now() / 1000) + seconds];
  const hash = encodeURIComponent(createHmac("sha256", "SAS_KEY_VALUE").update(`${resource}\n${expiry}`).digest("base64"));
  return `SharedAccessSignature sr=${resource}&sig=${hash}&se=${expiry}&skn=${root}`;
}

// The server waits for a minute more, as clocks may differ.
test("a link ends with its token, and comes back with a new one", proves("auth.end"), async () => {
  const { name, receiver } = await queue();
  const credential = new AzureSASCredential(signature(5));
  const own = withCredential(credential);
  const sender = own.createSender(name);
  await sender.sendMessages({ body: "before" });
  await receive(receiver, 1);
  await assert.rejects(async () => {
    for (; ; await sleep(500)) await sender.sendMessages({ body: "more" });
  }, /ExpiredToken|expired/);
  credential.update(signature(3600));
  await sender.sendMessages({ body: "after" });
  assert.equal((await receiver.peekMessages(250, all)).at(-1).body, "after");
  await own.close();
});

test("nothing is sent", proves("send.none"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages([]);
  await sender.sendMessages(await sender.createMessageBatch());
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
});

test("a cancelled send sends nothing", proves("send.cancelled"), async () => {
  const { sender, receiver } = await queue();
  await assert.rejects(sender.sendMessages({ body: "never" }, { abortSignal: AbortSignal.abort() }), { name: "AbortError" });
  await sender.sendMessages({ body: "m" });
  assert.equal((await receive(receiver, 1))[0].sequenceNumber.toNumber(), 1);
});

test("what the sender did not set is not there", proves("prop.none"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages({ body: "m" });
  for (const m of [(await receiver.peekMessages(1, all))[0], (await receive(receiver, 1))[0]]) {
    for (const property of ["correlationId", "subject", "contentType", "to", "replyTo", "replyToSessionId", "sessionId", "partitionKey",
      "scheduledEnqueueTimeUtc", "deadLetterReason", "deadLetterErrorDescription", "deadLetterSource"]) {
      assert.equal(m[property], undefined, property);
    }
    assert.deepEqual({ ...m.applicationProperties }, {});
  }
});

test("names of properties, and a trace of the program's own", proves("app.names", "trace.keep"), async () => {
  const { sender, receiver } = await queue();
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const applicationProperties = { "Diagnostic-Id": trace, traceparent: trace, tracestate: "a=b" };
  for (const name of ["name", "NAME", "größe", "日本語", "a b.c-d", "🚌", ...numbers(200).map((i) => `n${i}`)]) applicationProperties[name] = name;
  await sender.sendMessages({ body: "m", applicationProperties });
  assert.deepEqual({ ...(await receive(receiver, 1))[0].applicationProperties }, applicationProperties);
});

test("further sections and values", proves("raw.delivery", "raw.broker", "body.value"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages({
    body: "m", bodyType: "value", deliveryAnnotations: { "x-mine": "d" },
    messageAnnotations: { "x-opt-sequence-number": 77, "x-opt-enqueued-time": new Date(0) },
  });
  const [m] = await receive(receiver, 1);
  assert.equal(m.sequenceNumber.toNumber(), 1);
  assert.ok(m.enqueuedTimeUtc.getUTCFullYear() > 2020);
  assert.equal(m._rawAmqpMessage.deliveryAnnotations["x-mine"], "d");
  for (const body of [true, false, new Date(1_700_000_000_001), Buffer.from("bytes")]) {
    await sender.sendMessages({ body, bodyType: "value" });
    assert.deepEqual((await receive(receiver, 1))[0].body, body);
  }
});

test("the queue of a sender is deleted and made again", proves("err.deletedsender"), async () => {
  const { name, receiver } = await queue();
  const sender = connect(undefined, { retryOptions: { maxRetries: 5, retryDelayInMs: 200 } }).createSender(name);
  await sender.sendMessages({ body: "lost" });
  await admin.deleteQueue(name);
  await sleep(500); // what the SDK sends while the link ends, it waits for in vain
  await assert.rejects(sender.sendMessages({ body: "m" }), { code: "MessagingEntityNotFound" });
  await admin.createQueue(name);
  await sender.sendMessages({ body: "m" });
  assert.equal((await receive(receiver, 1))[0].sequenceNumber.toNumber(), 1);
});

test("a new subscription gets only what is sent later", proves("topic.later"), async () => {
  await admin.createTopic("parity.later");
  await admin.createSubscription("parity.later", "early");
  const sender = client.createSender("parity.later");
  await sender.sendMessages({ body: "first" });
  await admin.createSubscription("parity.later", "late");
  await sender.sendMessages({ body: "second" });
  assert.deepEqual(bodies(await receive(client.createReceiver("parity.later", "early", byHand), 2)), ["first", "second"]);
  assert.deepEqual(bodies(await receive(client.createReceiver("parity.later", "late", byHand), 1)), ["second"]);
});

test("rules over AMQP: fields, types, a missing subscription", proves("rule.fields", "rule.types", "rule.nosubscription"), async () => {
  await admin.createTopic("parity.rules");
  await admin.createSubscription("parity.rules", "s");
  const manager = client.createRuleManager("parity.rules", "s");
  const filter = {
    correlationId: "c", messageId: "m", to: "t", replyTo: "r", subject: "l <&> €", sessionId: "s", replyToSessionId: "rs", contentType: "ct",
    applicationProperties: { text: "t", number: 5, yes: true, time: new Date(1_700_000_000_001) },
  };
  await manager.createRule("correlation", filter);
  const rules = await collect(manager.listRules());
  assert.deepEqual(rules.map((r) => r.name).sort(), ["$Default", "correlation"]);
  const { applicationProperties, ...rest } = rules.find((r) => r.name === "correlation").filter;
  const { applicationProperties: sent, ...fields } = filter;
  assert.deepEqual({ ...rest }, fields);
  assert.deepEqual({ ...applicationProperties }, sent);
  await manager.deleteRule("$Default");
  const { subject, sessionId, contentType, ...properties } = fields;
  await client.createSender("parity.rules").sendMessages([
    { body: "other", ...properties, subject, sessionId, contentType, applicationProperties: { ...sent, number: 6 } },
    { body: "m", ...properties, subject, sessionId, contentType, applicationProperties: sent },
  ]);
  assert.deepEqual(bodies(await receive(client.createReceiver("parity.rules", "s", byHand), 1)), ["m"]);
  await assert.rejects(collect(client.createRuleManager("parity.rules", "missing").listRules()), { code: "MessagingEntityNotFound" });
});

test("a session id means the same in any case", proves("sess.case"), async () => {
  const { name, sender } = await queue({ requiresSession: true });
  await sender.sendMessages({ body: "m", sessionId: "ORDER-1" });
  const session = await client.acceptSession(name, "order-1", byHand);
  const [m] = await receive(session, 1);
  assert.equal(m.sessionId, "ORDER-1");
  await session.setSessionState("half");
  await assert.rejects(connect().acceptSession(name, "Order-1", byHand), { code: "SessionCannotBeLocked" });
  await session.completeMessage(m);
  await session.close();
  assert.equal(await (await client.acceptSession(name, "ORDER-1", byHand)).getSessionState(), "half");
});

test("a deferred message of a session has the end of its lock", proves("peek.deferred"), async () => {
  const { name, sender } = await queue({ requiresSession: true });
  await sender.sendMessages({ body: "m", sessionId: "s" });
  const session = await client.acceptSession(name, "s", byHand);
  await session.deferMessage((await receive(session, 1))[0]);
  const [m] = await session.peekMessages(1, all);
  assert.ok(m.state === "deferred" && m.lockedUntilUtc instanceof Date, `${m.state}, locked until ${m.lockedUntilUtc}`);
});

test("names in lower case, with hyphens, with a dollar sign", proves("admin.lowercase", "admin.hyphen", "admin.dollar", "admin.topicaccess"), async () => {
  await absent(admin.getQueue("$verification"));
  await admin.createQueue("Parity.Names-");
  await admin.createTopic("Parity/Fault--Order--");
  const before = (await admin.getTopicRuntimeProperties("parity/fault--order--")).accessedAt;
  await admin.createSubscription("Parity/Fault--Order--", "Mixed");
  assert.ok((await admin.getTopicRuntimeProperties("parity/fault--order--")).accessedAt > before, "accessed");
  const names = [...await collect(admin.listQueues()), ...await collect(admin.listTopics())].map((e) => e.name);
  assert.ok(names.includes("parity.names-") && names.includes("parity/fault--order--"), `${names}`);
});

test("a partitioned queue holds sixteen times the size", proves("admin.queuepartitions"), async () => {
  const { name } = await queue({ enablePartitioning: true, maxSizeInMegabytes: 2048 });
  assert.equal((await admin.getQueue(name)).maxSizeInMegabytes, 16 * 2048);
});

test("the administration client: versions, the port, a named key", proves("admin.versions", "admin.port", "admin.namedkey"), async () => {
  const { name } = await queue();
  for (const serviceVersion of ["2017-04", "2021-05"]) {
    const own = new ServiceBusAdministrationClient(connectionString(), { ...patient, serviceVersion });
    assert.equal((await own.getQueue(name)).maxMessageSizeInKilobytes, serviceVersion === "2017-04" ? undefined : 256);
  }
  const named = new ServiceBusAdministrationClient(host, new AzureNamedKeyCredential(root, "SAS_KEY_VALUE"), patient);
  assert.equal((await named.getQueue(name)).name, name);
  const wrong = new ServiceBusAdministrationClient(host, new AzureNamedKeyCredential(root, "wrong"), patient);
  await refused(wrong.getQueue(name), "UnauthorizedRequestError", 401, /InvalidSignature/);
});

test("properties of every type are changed", proves("settle.types"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages({ body: "m" });
  const changed = { text: "größe", int: 5, double: 1.5, yes: true, time: new Date(1_700_000_000_001) };
  await receiver.abandonMessage((await receive(receiver, 1))[0], changed);
  const { ...got } = (await receive(receiver, 1))[0].applicationProperties;
  assert.deepEqual({ ...got, time: new Date(got.time) }, changed);
});

test("a call peeks 250 messages at most", proves("peek.most"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages(numbers(300).map((body) => ({ body })));
  assert.equal((await receiver.peekMessages(1000)).length, 250);
  assert.equal((await receiver.peekMessages(1000)).length, 50);
});

test("a dead letter is not dead-lettered again", proves("dlq.twice"), async () => {
  const { sender, receiver, dead } = await queue();
  await sender.sendMessages({ body: "m" });
  await receiver.deadLetterMessage((await receive(receiver, 1))[0]);
  await assert.rejects(dead.deadLetterMessage((await receive(dead, 1))[0]));
  assert.deepEqual(bodies(await dead.peekMessages(5, all)), ["m"]);
});

test("a session ends with its connection", proves("sess.connection"), async () => {
  const { name, sender } = await queue({ requiresSession: true });
  await sender.sendMessages({ body: "m", sessionId: "a" });
  const own = connect();
  const session = await own.acceptNextSession(name, byHand);
  assert.equal(session.sessionId, "a");
  await receive(session, 1);
  await own.close();
  assert.deepEqual(bodies(await receive(await client.acceptSession(name, "a", byHand), 1)), ["m"]);
});

test("a processor that deletes, and one of dead letters", proves("proc.delete", "proc.deadletter"), async () => {
  const { name, sender, receiver } = await queue();
  await sender.sendMessages([{ body: "bad" }, { body: "m" }]);
  await receiver.deadLetterMessage((await receive(receiver, 1))[0]);
  const seen = [];
  const processError = async ({ error }) => assert.fail(error);
  for (const options of [{ receiveMode: "receiveAndDelete" }, { subQueueType: "deadLetter" }]) {
    const stream = client.createReceiver(name, { ...byHand, ...options });
    const count = seen.length;
    stream.subscribe({ processMessage: async (m) => { seen.push(m.body); }, processError });
    for (const end = Date.now() + 30_000; seen.length === count && Date.now() < end;) await sleep(20);
    await stream.close();
  }
  assert.deepEqual(seen, ["m", "bad"]);
  assert.equal((await admin.getQueueRuntimeProperties(name)).totalMessageCount, 0);
});
