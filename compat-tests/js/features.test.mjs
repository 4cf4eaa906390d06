// More of the JavaScript SDK against a running Minibus with the queues f.1 to f.5 and the special ones that compat_test.go
// makes: deferral, scheduling, receive modes, expiry, duplicates, forwarding. Batch delete, for which this version of the SDK
// has no call, goes through rhea. MINIBUS_CONNECTION_STRING and MINIBUS_ADDR say where.
import assert from "node:assert/strict";
import { after } from "node:test";
import { setTimeout } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";
import Long from "long";
import rhea from "rhea";
import { proves, test } from "./proves.mjs";

const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0 } });
after(() => client.close());

const patience = { maxWaitTimeInMs: 30_000 };
const quickly = { maxWaitTimeInMs: 300 };
const byHand = { maxAutoLockRenewalDurationInMs: 0 };
let queues = 0;

// Each test has a queue of its own, so numbers start at 1.
function nextQueue(name = `f.${++queues}`) {
  return { name, sender: client.createSender(name), receiver: client.createReceiver(name, byHand) };
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

const bodies = (messages) => messages.map((m) => m.body);
const all = { fromSequenceNumber: Long.ZERO };

test("deferral: in request order, all or nothing, back to deferred (DEF-4, DEF-5, DC-5)",
  proves("settle.deferprops", "defer.receive", "defer.missing", "defer.abandon", "defer.deadletter"), async () => {
  const { sender, receiver } = nextQueue();
  await sender.sendMessages([{ body: "a" }, { body: "b" }, { body: "c" }]);
  const messages = await receive(receiver, 3);
  for (const m of messages) await receiver.deferMessage(m, { why: "later" });
  await assert.rejects(receiver.receiveDeferredMessages([Long.fromNumber(1), Long.fromNumber(9)]), { code: "MessageNotFound" });
  const fetched = await receiver.receiveDeferredMessages([3, 1, 2].map((n) => Long.fromNumber(n)));
  assert.deepEqual(bodies(fetched), ["c", "a", "b"]);
  for (const m of fetched) {
    assert.equal(m.deliveryCount, 1);
    assert.equal(m.state, "deferred");
    assert.equal(m.applicationProperties.why, "later");
  }
  await receiver.completeMessage(fetched[0]);
  await receiver.abandonMessage(fetched[1]);
  await receiver.deadLetterMessage(fetched[2]);
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
  const [again] = await receiver.receiveDeferredMessages(Long.fromNumber(1));
  assert.equal(again.deliveryCount, 2);
  assert.deepEqual(bodies(await receiver.peekMessages(10, all)), ["a"]);
  await receiver.completeMessage(again);
});

test("scheduling: by the operation and by the property, cancelled as a whole (SCHED-5, SCHED-11, SCHED-14)",
  proves("sched.property", "sched.past", "sched.cancelmany"), async () => {
  const { sender, receiver } = nextQueue();
  const hour = new Date(Date.now() + 3_600_000);
  const numbers = await sender.scheduleMessages([{ body: "a" }, { body: "b" }, { body: "c" }], hour);
  assert.deepEqual(numbers.map(Number), [1, 2, 3]);
  await sender.cancelScheduledMessages(numbers[0]);
  await assert.rejects(sender.cancelScheduledMessages([numbers[1], numbers[0]]), { code: "MessageNotFound" });
  assert.deepEqual(bodies(await receiver.peekMessages(10, all)), ["b", "c"]);
  const due = new Date(Date.now() + 5000);
  await sender.sendMessages([{ body: "now" }, { body: "soon", scheduledEnqueueTimeUtc: due }, { body: "past", scheduledEnqueueTimeUtc: new Date(0) }]);
  const [now, past, soon] = await receive(receiver, 3);
  assert.deepEqual(bodies([now, past, soon]), ["now", "past", "soon"]);
  assert.deepEqual([now, past, soon].map((m) => m.sequenceNumber.toNumber()), [4, 6, 7]);
  assert.ok(soon.enqueuedTimeUtc >= due && soon.enqueuedTimeUtc <= due.getTime() + 1000, "activated when due");
  await sender.cancelScheduledMessages(numbers.slice(1));
  for (const m of [now, past, soon]) await receiver.completeMessage(m);
  assert.deepEqual(await receiver.peekMessages(10, all), []);
});

test("receive modes: locked until settled, or gone at once (RAD-1, RAD-4, LOCK-14)", proves("recv.delete"), async () => {
  const { name, sender, receiver } = nextQueue();
  await sender.sendMessages([{ body: "a" }, { body: "b" }]);
  const [a] = await receive(receiver, 1);
  await receiver.abandonMessage(a);
  const taker = client.createReceiver(name, { receiveMode: "receiveAndDelete" });
  const taken = await receive(taker, 2);
  assert.deepEqual(bodies(taken), ["a", "b"]);
  assert.deepEqual(taken.map((m) => m.deliveryCount), [1, 0]);
  assert.equal(taken[0].lockToken, undefined);
  await assert.rejects(taker.completeMessage(taken[0]), /receiveAndDelete|peekLock/);
  assert.deepEqual(await receiver.peekMessages(10, all), []);
});

test("a stream of messages with subscribe (PRE-1, ORD-1)", proves("proc.complete"), async () => {
  const { sender, receiver } = nextQueue();
  await sender.sendMessages(Array.from({ length: 100 }, (_, i) => ({ body: i })));
  const got = [];
  const stream = client.createReceiver(`f.${queues}`, byHand);
  await new Promise((resolve, reject) => {
    stream.subscribe({
      processMessage: async (m) => { if (got.push(m.body) === 100) resolve(); },
      processError: async ({ error }) => reject(error),
    }, { maxConcurrentCalls: 5 });
  });
  await stream.close();
  assert.deepEqual(got, Array.from({ length: 100 }, (_, i) => i));
  assert.deepEqual(await receiver.peekMessages(10, all), []);
});

test("expiry into the dead-letter queue (EXP-6, DLQ-R2)", proves("entity.expiredead", "send.ttl", "prop.expires"), async () => {
  const { name, sender, receiver } = nextQueue("f.expiring");
  await sender.sendMessages([{ body: "short", timeToLive: 500 }, { body: "long", timeToLive: 3_600_000 }]);
  const [dead] = await receive(client.createReceiver(name, { subQueueType: "deadLetter", ...byHand }), 1);
  assert.equal(dead.body, "short");
  assert.equal(dead.deadLetterReason, "TTLExpiredException");
  assert.equal(dead.deliveryCount, 0);
  const [long] = await receive(receiver, 1);
  assert.equal(long.body, "long");
  assert.equal(long.timeToLive, 3_600_000);
  assert.equal(long.expiresAtUtc.getTime(), long.enqueuedTimeUtc.getTime() + 3_600_000);
});

test("duplicates are dropped (DUP-2, DUP-9)", proves("entity.duplicates"), async () => {
  const { sender, receiver } = nextQueue("f.once");
  await sender.sendMessages([{ messageId: "1", body: "a" }, { messageId: "1", body: "b" }]);
  await sender.sendMessages({ messageId: "1", body: "c" });
  await sender.sendMessages({ messageId: "2", body: "d" });
  const messages = await receive(receiver, 2);
  assert.deepEqual(bodies(messages), ["a", "d"]);
  assert.deepEqual(messages.map((m) => m.sequenceNumber.toNumber()), [1, 2]);
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
});

// On a busy machine the new link may have no credit after the second for which the SDK waits.
async function sendOnceReady(sender, message) {
  for (const end = Date.now() + 30_000;;) {
    try {
      return await sender.sendMessages(message);
    } catch (e) {
      if (!e.message.includes("SenderBusyError") || Date.now() > end) throw e;
    }
  }
}

test("a message above the limit: refused, its link ends, and the sender goes on (QUO-5)", proves("send.toolarge"), async () => {
  const { sender, receiver } = nextQueue();
  const body = "x".repeat(300_000);
  for (const round of ["first", "second"]) {
    await assert.rejects(sender.sendMessages({ body }), { code: "MessageSizeExceeded" });
    await setTimeout(100); // a send in the same tick meets the SDK's own clean-up of the link, and waits for its retry
    await sendOnceReady(sender, { body: round });
    const [m] = await receive(receiver, 1);
    assert.equal(m.body, round);
    await receiver.completeMessage(m);
  }
  assert.deepEqual(await receiver.peekMessages(10, all), []);
});

test("auto-forward (FWD-4, SEQ-16)", proves("entity.forward"), async () => {
  const { sender, receiver } = nextQueue("f.source");
  await client.createSender("f.target").sendMessages({ body: "direct" });
  await sender.sendMessages({ body: "forwarded", sessionId: "kept" });
  const [direct, forwarded] = await receive(client.createReceiver("f.target", byHand), 2);
  assert.equal(direct.body, "direct");
  assert.equal(forwarded.body, "forwarded");
  assert.equal(forwarded.sessionId, "kept");
  assert.equal(forwarded.sequenceNumber.toNumber(), 2);
  assert.equal(forwarded.enqueuedSequenceNumber, 1);
  await assert.rejects(receiver.receiveMessages(1, quickly), /Cannot create a message receiver on an entity with auto-forwarding enabled/);
});

// One request to $management, as the newer SDKs make it.
function request(queue, operation, body) {
  const [host, port] = process.env.MINIBUS_ADDR.split(":");
  const container = rhea.create_container();
  const connection = container.connect({ host, port: Number(port), reconnect: false });
  return new Promise((resolve, reject) => {
    const node = `${queue}/$management`;
    const sender = connection.open_sender(node);
    connection.open_receiver({ source: node, target: "me" });
    container.on("sendable", () => {
      if (!sender.sent) sender.send({ message_id: "1", reply_to: "me", body, application_properties: { operation: `com.microsoft:${operation}` } });
      sender.sent = true;
    });
    container.on("message", ({ message }) => { connection.close(); resolve(message); });
    container.on("receiver_error", ({ receiver }) => reject(receiver.error));
    container.on("sender_error", () => reject(sender.error));
    container.on("disconnected", ({ error }) => error && reject(error));
  });
}

test("batch delete (BDEL-1, BDEL-3, BDEL-6)", async () => {
  const { name, sender, receiver } = nextQueue("f.purged");
  const erase = async (count) => {
    const body = { "message-count": rhea.types.wrap_int(count), "enqueued-time-utc": rhea.types.wrap_timestamp(Date.now()) };
    const answer = await request(name, "batch-delete-messages", body);
    const status = answer.application_properties.statusCode;
    assert.ok(status === 200 || status === 204, `status ${status}: ${answer.application_properties.statusDescription}`);
    return status === 204 ? 0 : answer.body["message-count"];
  };
  assert.equal(await erase(10), 0);
  await sender.sendMessages([{ body: "locked" }, { body: "deferred" }, { body: "1" }, { body: "2" }, { body: "3" }]);
  const [locked, deferred] = await receive(receiver, 2);
  await receiver.deferMessage(deferred);
  assert.equal(await erase(2), 2);
  assert.deepEqual(bodies(await receiver.peekMessages(10, all)), ["locked", "deferred", "3"]);
  assert.equal(await erase(10), 1);
  assert.equal(await erase(10), 0);
  await receiver.completeMessage(locked);
  assert.deepEqual(bodies(await receiver.peekMessages(10, all)), ["deferred"]);
  const refused = await request(name, "batch-delete-messages", { "message-count": rhea.types.wrap_int(0), "enqueued-time-utc": rhea.types.wrap_timestamp(Date.now()) });
  assert.equal(refused.application_properties.statusCode, 400);
});
