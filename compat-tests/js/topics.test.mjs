// Topics with the JavaScript SDK against a running Minibus with the topics t.1 to t.5 and t.sessions that compat_test.go makes: rule manager,
// filters, actions, sessions, scheduling and dead-letter queues of subscriptions. MINIBUS_CONNECTION_STRING says where.
// Run by compat_test.go, or by hand: node --test topics.test.mjs
import assert from "node:assert/strict";
import { after } from "node:test";
import { ServiceBusClient } from "@azure/service-bus";
import Long from "long";
import { proves, test } from "./proves.mjs";

const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0 } });
after(() => client.close());

const patience = { maxWaitTimeInMs: 30_000 };
const quickly = { maxWaitTimeInMs: 300 };
const byHand = { maxAutoLockRenewalDurationInMs: 0 };
const all = { fromSequenceNumber: Long.ZERO };
let topics = 0;

// Each test has a topic of its own, with the subscriptions "a" and "b", which take everything to begin with.
function nextTopic(name = `t.${++topics}`) {
  const sender = client.createSender(name);
  const from = (subscription, options) => client.createReceiver(name, subscription, { ...byHand, ...options });
  const rules = (subscription) => client.createRuleManager(name, subscription);
  return { name, sender, from, rules };
}

async function receive(receiver, count) {
  const all = [];
  while (all.length < count) {
    const messages = await receiver.receiveMessages(count - all.length, patience);
    assert.notEqual(messages.length, 0, `${all.length} of ${count} messages`);
    all.push(...messages);
  }
  return all;
}

// Receives exactly that many messages and completes them.
async function drain(receiver, count) {
  const messages = await receive(receiver, count);
  for (const m of messages) await receiver.completeMessage(m);
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
  return messages;
}

async function list(manager, maxPageSize) {
  const found = [];
  for await (const page of manager.listRules().byPage({ maxPageSize })) found.push(...page);
  return found;
}

const bodies = (messages) => messages.map((m) => m.body);
const numbers = (messages) => messages.map((m) => m.sequenceNumber.toNumber());
const names = (rules) => rules.map((r) => r.name);

test("every subscription has its own copies and numbers (TOP-1, SEQ-15, PROP-2)",
  proves("send.topic", "topic.copies", "topic.number", "topic.batch", "rule.create"), async () => {
  const { sender, from, rules } = nextTopic();
  await rules("b").createRule("even", { sqlExpression: "n % 2 = 0" });
  await rules("b").deleteRule("$Default");
  await sender.sendMessages([1, 2, 3, 4].map((n) => ({ body: n, applicationProperties: { n } })));
  const a = from("a");
  const [first] = await receive(a, 1);
  await a.abandonMessage(first);
  const got = await drain(a, 4);
  assert.deepEqual(bodies(got), [1, 2, 3, 4]);
  assert.deepEqual(numbers(got), [1, 2, 3, 4]);
  assert.deepEqual(got.map((m) => m.deliveryCount), [1, 0, 0, 0]);
  const even = await drain(from("b"), 2);
  assert.deepEqual(bodies(even), [2, 4]);
  assert.deepEqual(numbers(even), [1, 2]);
  assert.deepEqual(even.map((m) => m.enqueuedSequenceNumber), [2, 4]);
  assert.deepEqual(even.map((m) => m.deliveryCount), [0, 0]);
});

test("rule manager: the default rule, create, list by page, delete, refusals (TOP-4, TOP-8, TOP-16)",
  proves("rule.default", "rule.list", "rule.delete", "rule.exists", "rule.missing", "rule.bad"), async () => {
  const { name, rules } = nextTopic();
  const manager = rules("a");
  const [first, ...others] = await list(manager);
  assert.deepEqual([first.name, first.filter.sqlExpression, others], ["$Default", "1=1", []]);
  await manager.createRule("sql", { sqlExpression: "color = 'red'" }, { sqlExpression: "SET seen = 1" });
  await manager.createRule("Correlation", { subject: "x", correlationId: "c", applicationProperties: { n: 5, text: "t", yes: true } });
  for (const size of [1, 2, 100]) assert.deepEqual(names(await list(manager, size)), ["$Default", "Correlation", "sql"], `pages of ${size}`);
  const [, correlation, sql] = await list(manager);
  assert.equal(sql.filter.sqlExpression, "color = 'red'");
  assert.equal(sql.action.sqlExpression, "SET seen = 1");
  assert.equal(correlation.filter.subject, "x");
  assert.equal(correlation.filter.correlationId, "c");
  assert.deepEqual({ ...correlation.filter.applicationProperties }, { n: 5, text: "t", yes: true });
  await assert.rejects(manager.createRule("SQL", { sqlExpression: "1=1" }),
    new RegExp(`The messaging entity '${process.env.MINIBUS_NAMESPACE}:Topic:${name}\\|a\\|SQL' already exists\\.`));
  await assert.rejects(manager.deleteRule("missing"), { code: "MessagingEntityNotFound" });
  await assert.rejects(manager.createRule("bad", { sqlExpression: "color = = 1" }), /There was an error parsing the SQL expression\. \[Token line=1, column=/);
  for (const rule of await list(manager)) await manager.deleteRule(rule.name);
  assert.deepEqual(await list(manager), []);
  assert.deepEqual(names(await list(rules("b"))), ["$Default"]);
});

test("filters and actions on the received message (TOP-5, TOP-6, TOP-9)",
  proves("topic.sql", "topic.correlation", "topic.action"), async () => {
  const { sender, from, rules } = nextTopic();
  const manager = rules("a");
  await manager.deleteRule("$Default");
  await manager.createRule("plain", { sqlExpression: "price > 10 AND sys.Label LIKE 'off%'" });
  await manager.createRule("discount", { sqlExpression: "price > 100" }, { sqlExpression: "SET price = price / 2; SET sys.Label = 'cheap'; REMOVE note" });
  await manager.createRule("to-shop", { subject: "offer", applicationProperties: { vip: true } }, { sqlExpression: "SET sys.To = 'shop'" });
  await sender.sendMessages([
    { body: "low", subject: "offer", applicationProperties: { price: 5, vip: false } },
    { body: "high", subject: "offer", applicationProperties: { price: 200, vip: true, note: "n" } },
    { body: "other", subject: "Offer", applicationProperties: { price: 50 } },
  ]);
  const got = await drain(from("a"), 3);
  assert.deepEqual(bodies(got), ["high", "high", "high"]);
  assert.deepEqual(got.map((m) => m.applicationProperties), [
    { price: 200, vip: true, note: "n" }, { price: 100, vip: true, RuleName: "discount" }, { price: 200, vip: true, note: "n", RuleName: "to-shop" },
  ]);
  assert.deepEqual(got.map((m) => m.subject), ["offer", "cheap", "offer"]);
  assert.deepEqual(got.map((m) => m.to), [undefined, undefined, "shop"]);
  assert.deepEqual(bodies(await drain(from("b"), 3)), ["low", "high", "other"]);
});

test("scheduling: waits in the topic, cancelled there (SCHED-16, SCHED-17)", proves("topic.schedule", "topic.cancel"), async () => {
  const { name, sender, from } = nextTopic();
  const due = new Date(Date.now() + 5000);
  const scheduled = await sender.scheduleMessages([{ body: "1" }, { body: "2" }, { body: "3" }], due);
  await sender.cancelScheduledMessages(scheduled[1]);
  await assert.rejects(sender.cancelScheduledMessages(scheduled[1]), { code: "MessageNotFound" });
  assert.deepEqual(bodies(await client.createReceiver(name).peekMessages(10, all)), ["1", "3"]);
  const a = from("a");
  assert.deepEqual(await a.peekMessages(10, all), []);
  const got = await drain(a, 2);
  assert.deepEqual(bodies(got), ["1", "3"]);
  assert.deepEqual(numbers(got), [1, 2]);
  for (const m of got) assert.ok(m.enqueuedTimeUtc >= due && m.enqueuedTimeUtc <= due.getTime() + 1000, "activated when due");
  assert.deepEqual(bodies(await drain(from("b"), 2)), ["1", "3"]);
});

test("dead-letter queue and deferral of a subscription (DLQ-8, DLQ-R1, DEF-2)",
  proves("topic.deadletter", "topic.defer", "settle.maxdelivery"), async () => {
  const { sender, from } = nextTopic();
  await sender.sendMessages([{ body: "dead" }, { body: "failing" }, { body: "later" }]);
  const a = from("a");
  const [dead, failing, later] = await receive(a, 3);
  await a.deadLetterMessage(dead, { deadLetterReason: "Broken", deadLetterErrorDescription: "why", extra: 1 });
  await a.deferMessage(later);
  await a.abandonMessage(failing);
  await a.abandonMessage((await receive(a, 1))[0]); // two deliveries are all
  const graves = from("a", { subQueueType: "deadLetter" });
  const buried = await drain(graves, 2);
  assert.deepEqual(bodies(buried), ["dead", "failing"]);
  assert.deepEqual(buried.map((m) => m.deadLetterReason), ["Broken", "MaxDeliveryCountExceeded"]);
  assert.equal(buried[0].deadLetterErrorDescription, "why");
  assert.equal(buried[0].applicationProperties.extra, 1);
  const [deferred] = await a.receiveDeferredMessages(later.sequenceNumber);
  assert.equal(deferred.body, "later");
  await a.completeMessage(deferred);
  assert.deepEqual(bodies(await drain(from("b"), 3)), ["dead", "failing", "later"]);
});

test("sessions on a subscription (SESS-3, SESS-32, DLQ-R4)", proves("topic.sessions"), async () => {
  const { name, sender, from } = nextTopic("t.sessions");
  await sender.sendMessages([{ body: "x1", sessionId: "x" }, { body: "none" }, { body: "y1", sessionId: "y" }, { body: "x2", sessionId: "x" }]);
  const x = await client.acceptSession(name, "a", "x", byHand);
  const got = await receive(x, 2);
  assert.deepEqual(bodies(got), ["x1", "x2"]);
  await x.setSessionState({ step: 1 });
  await assert.rejects(client.acceptSession(name, "a", "x", byHand), { code: "SessionCannotBeLocked" });
  const next = await client.acceptNextSession(name, "a", byHand);
  assert.equal(next.sessionId, "y");
  await next.close();
  await x.completeMessage(got[0]);
  await x.close();
  const again = await client.acceptSession(name, "a", "x", byHand);
  assert.deepEqual(await again.getSessionState(), { step: 1 });
  assert.deepEqual(bodies(await receive(again, 1)), ["x2"]);
  await again.close();
  const [dead] = await drain(from("a", { subQueueType: "deadLetter" }), 1);
  assert.equal(dead.body, "none");
  assert.equal(dead.deadLetterReason, "Session id is null.");
  assert.equal((await drain(from("b"), 4)).length, 4);
});
