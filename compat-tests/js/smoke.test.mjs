// The JavaScript SDK, unmodified, against a running Minibus with the queues js.1 to js.6. Locks last a minute, those of js.6 five seconds.
// MINIBUS_CONNECTION_STRING says where. Run by compat_test.go, or by hand: node --test smoke.test.mjs
import assert from "node:assert/strict";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";
import Long from "long";
import { proves, test } from "./proves.mjs";

const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0 } });
after(() => client.close());

const patience = { maxWaitTimeInMs: 30_000 };
const quickly = { maxWaitTimeInMs: 300 };
let queues = 0;

// Each test has a queue of its own, so numbers start at 1.
function nextQueue() {
  const name = `js.${++queues}`;
  const sender = client.createSender(name);
  const receiver = client.createReceiver(name, { maxAutoLockRenewalDurationInMs: 0 });
  return { name, sender, receiver };
}

async function receiveOne(receiver) {
  const messages = await receiver.receiveMessages(1, patience);
  assert.equal(messages.length, 1, "one message");
  return messages[0];
}

test("send, receive, complete (SEQ-10, LOCK-2, DC-1)",
  proves("send.single", "send.several", "settle.complete", "prop.sequence", "prop.enqueued", "prop.lockeduntil",
  "prop.locktoken", "prop.deliverycount", "body.json", "auth.emulator", "conn.shared", "peek.empty",
  "recv.empty"), async () => {
  const { sender, receiver } = nextQueue();
  const before = Date.now();
  await sender.sendMessages([
    { body: "a", messageId: "id-a", subject: "s", applicationProperties: { answer: 42, text: "t" } },
    { body: { nested: [1, 2] } },
  ]);
  const a = await receiveOne(receiver);
  assert.equal(a.body, "a");
  assert.equal(a.messageId, "id-a");
  assert.equal(a.subject, "s");
  assert.deepEqual(a.applicationProperties, { answer: 42, text: "t" });
  assert.equal(a.sequenceNumber.toNumber(), 1);
  assert.equal(a.deliveryCount, 0);
  assert.equal(a.state, "active");
  assert.ok(a.enqueuedTimeUtc >= before && a.enqueuedTimeUtc <= Date.now(), "enqueued now");
  assert.ok(a.lockedUntilUtc >= before + 60_000 && a.lockedUntilUtc <= Date.now() + 60_000, "locked for a minute");
  assert.match(a.lockToken, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  await receiver.completeMessage(a);
  const b = await receiveOne(receiver);
  assert.deepEqual(b.body, { nested: [1, 2] });
  assert.equal(b.sequenceNumber.toNumber(), 2);
  await receiver.completeMessage(b);
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
  assert.deepEqual(await receiver.peekMessages(10, { fromSequenceNumber: Long.ZERO }), []);
});

test("abandon with properties (DC-2, LOCK-14)", proves("settle.abandon", "settle.abandonprops", "lock.renew"), async () => {
  const { sender, receiver } = nextQueue();
  await sender.sendMessages({ body: "a" });
  await receiver.abandonMessage(await receiveOne(receiver), { attempt: "second" });
  const again = await receiveOne(receiver);
  assert.equal(again.deliveryCount, 1);
  assert.equal(again.sequenceNumber.toNumber(), 1);
  assert.equal(again.applicationProperties.attempt, "second");
  const until = await receiver.renewMessageLock(again);
  assert.ok(until.getTime() > Date.now() + 50_000, "renewed");
  await receiver.completeMessage(again);
});

test("schedule and cancel (SCHED-6, SCHED-9, SCHED-13)",
  proves("sched.several", "sched.number", "sched.cancel", "sched.cancelunknown"), async () => {
  const { sender, receiver } = nextQueue();
  const due = new Date(Date.now() + 5000);
  const numbers = await sender.scheduleMessages([{ body: "a" }, { body: "b" }], due);
  assert.deepEqual(numbers.map(Number), [1, 2]);
  const peeked = await receiver.peekMessages(10, { fromSequenceNumber: Long.ZERO });
  assert.deepEqual(peeked.map((m) => m.state), ["scheduled", "scheduled"]);
  await sender.cancelScheduledMessages(numbers[1]);
  await assert.rejects(sender.cancelScheduledMessages(numbers[1]), { code: "MessageNotFound" });
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
  const a = await receiveOne(receiver);
  assert.equal(a.body, "a");
  assert.equal(a.sequenceNumber.toNumber(), 3);
  assert.ok(a.enqueuedTimeUtc >= due && a.enqueuedTimeUtc <= due.getTime() + 1000, "activated when due");
  assert.equal(a.scheduledEnqueueTimeUtc.getTime(), due.getTime());
  await receiver.completeMessage(a);
});

test("peek (PEEK-3, PEEK-4)", proves("peek.from", "peek.nobody"), async () => {
  const { sender, receiver } = nextQueue();
  await sender.sendMessages([{ body: "a" }, { body: "b" }, { body: "c" }]);
  const locked = await receiveOne(receiver);
  const all = await receiver.peekMessages(10);
  assert.deepEqual(all.map((m) => m.body), ["a", "b", "c"]);
  assert.equal(all[0].lockToken, undefined);
  const later = await receiver.peekMessages(10, { fromSequenceNumber: Long.fromNumber(2) });
  assert.deepEqual(later.map((m) => m.sequenceNumber.toNumber()), [2, 3]);
  const bare = await receiver.peekMessages(1, { fromSequenceNumber: Long.fromNumber(2), omitMessageBody: true });
  assert.equal(bare[0].body ?? undefined, undefined);
  await receiver.completeMessage(locked);
});

test("defer and fetch (DEF-3, DC-4)", proves("settle.defer"), async () => {
  const { sender, receiver } = nextQueue();
  await sender.sendMessages({ body: "a" });
  const m = await receiveOne(receiver);
  await receiver.deferMessage(m);
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
  const [fetched] = await receiver.receiveDeferredMessages(m.sequenceNumber);
  assert.equal(fetched.body, "a");
  assert.equal(fetched.deliveryCount, 1);
  assert.equal(fetched.state, "deferred");
  await receiver.completeMessage(fetched);
  await assert.rejects(receiver.receiveDeferredMessages(m.sequenceNumber), { code: "MessageNotFound" });
});

test("dead-letter, read back, lock expiry (DLQ-8, LOCK-8)",
  proves("lock.lost", "lock.lostcode", "settle.deadletter", "settle.deadletterprops", "dlq.receive", "dlq.count"), async () => {
  const { name, sender, receiver } = nextQueue();
  await sender.sendMessages({ body: "a" });
  const first = await receiveOne(receiver);
  await sleep(5200);
  await assert.rejects(receiver.completeMessage(first), { code: "MessageLockLost" });
  const m = await receiveOne(receiver);
  assert.equal(m.deliveryCount, 1);
  await receiver.deadLetterMessage(m, { deadLetterReason: "Broken", deadLetterErrorDescription: "cannot be parsed", extra: 1 });
  const deadLetters = client.createReceiver(name, { subQueueType: "deadLetter", receiveMode: "receiveAndDelete" });
  const dead = await receiveOne(deadLetters);
  assert.equal(dead.body, "a");
  assert.equal(dead.deadLetterReason, "Broken");
  assert.equal(dead.deadLetterErrorDescription, "cannot be parsed");
  assert.equal(dead.applicationProperties.extra, 1);
  assert.equal(dead.deliveryCount, 1);
  assert.equal(dead.sequenceNumber.toNumber(), 1);
});
