// Sessions with the JavaScript SDK against a running Minibus with the session queues s.1 to s.8. Locks last a minute, those of s.5 five
// seconds.
// (This version of the SDK can't accept the session whose id is empty: it takes it for none; the Go tests do.)
// MINIBUS_CONNECTION_STRING says where. Run by compat_test.go, or by hand: node --test sessions.test.mjs
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
const byHand = { maxAutoLockRenewalDurationInMs: 0 };
const lockDuration = 5000; // of s.5
let queues = 0;

// Each test has a queue of its own, so numbers start at 1.
function nextQueue() {
  const name = `s.${++queues}`;
  const sender = client.createSender(name);
  const send = (...messages) => sender.sendMessages(messages.map(([sessionId, body]) => ({ sessionId, body })));
  const accept = (id, options) => client.acceptSession(name, id, { ...byHand, ...options });
  const next = (options) => client.acceptNextSession(name, { ...byHand, ...options });
  return { name, sender, send, accept, next };
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
const numbers = (messages) => messages.map((m) => m.sequenceNumber.toNumber());

test("accept by id: only its messages, in order (SESS-6, SESS-12, SESS-20)", proves("sess.accept"), async () => {
  const { send, accept } = nextQueue();
  await send(["a", "a1"], ["b", "b1"], ["a", "a2"], ["a", "a3"]);
  const before = Date.now();
  const a = await accept("a");
  assert.equal(a.sessionId, "a");
  assert.ok(a.sessionLockedUntilUtc >= before + 60_000 && a.sessionLockedUntilUtc <= Date.now() + 60_000, "locked for a minute");
  const messages = await receive(a, 3);
  assert.deepEqual(bodies(messages), ["a1", "a2", "a3"]);
  assert.deepEqual(numbers(messages), [1, 3, 4]);
  for (const m of messages) {
    assert.equal(m.sessionId, "a");
    assert.equal(m.deliveryCount, 0);
    await a.completeMessage(m);
  }
  assert.deepEqual(await a.receiveMessages(1, quickly), []);
  await a.close();
});

test("a held session is refused, a closed one is free, with its messages (SESS-7, SESS-18)",
  proves("sess.held", "sess.release"), async () => {
  const { send, accept } = nextQueue();
  await send(["a", "a1"], ["a", "a2"]);
  const first = await accept("a");
  assert.deepEqual(bodies(await receive(first, 2)), ["a1", "a2"]);
  await assert.rejects(accept("a"), { code: "SessionCannotBeLocked" });
  await first.close();
  const second = await accept("a");
  const again = await receive(second, 2);
  assert.deepEqual(bodies(again), ["a1", "a2"]);
  assert.deepEqual(again.map((m) => m.deliveryCount), [0, 0]);
  await second.close();
});

test("accept next: lowest number first, waiting until there is one (SESS-8, SESS-10)",
  proves("sess.next", "sess.waits"), async () => {
  const { send, next } = nextQueue();
  await send(["z", "1"], ["a", "2"]);
  const z = await next();
  const a = await next();
  assert.deepEqual([z.sessionId, a.sessionId], ["z", "a"]);
  const waiting = next();
  await sleep(200);
  await send(["late", "3"]);
  const late = await waiting;
  assert.equal(late.sessionId, "late");
  assert.deepEqual(bodies(await receive(late, 1)), ["3"]);
  for (const r of [z, a, late]) await r.close();
});

test("state: none, set, read by the next holder, cleared (SESS-22)", proves("sess.state"), async () => {
  const { send, accept } = nextQueue();
  let a = await accept("a");
  assert.equal((await a.getSessionState()) ?? null, null);
  for (const state of ["text", { step: 3, done: ["x"] }, "y".repeat(100_000)]) {
    await a.setSessionState(state);
    assert.deepEqual(await a.getSessionState(), state);
  }
  await send(["a", "a1"]);
  const [m] = await receive(a, 1);
  await a.completeMessage(m);
  await a.close();
  a = await accept("a");
  assert.equal(await a.getSessionState(), "y".repeat(100_000));
  await a.setSessionState(null);
  assert.equal((await a.getSessionState()) ?? null, null);
  await a.close();
});

test("the session's lock: renewed, lost, taken by another (SESS-13, SESS-15, DC-10)",
  proves("sess.renew", "sess.lost"), async () => {
  const { send, accept } = nextQueue();
  await send(["a", "a1"]);
  const first = await accept("a");
  const [m] = await receive(first, 1);
  await sleep(1000);
  const before = Date.now();
  const until = await first.renewSessionLock();
  assert.ok(until.getTime() >= before + lockDuration && until.getTime() <= Date.now() + lockDuration, "renewed from now");
  await sleep(until.getTime() - Date.now() + 500);
  const second = await accept("a");
  await assert.rejects(first.completeMessage(m), { code: "SessionLockLost" });
  await assert.rejects(first.setSessionState("x"), { code: "SessionLockLost" });
  const [again] = await receive(second, 1);
  assert.equal(again.body, "a1");
  assert.equal(again.deliveryCount, 1);
  await second.completeMessage(again);
  await second.close();
  await first.close();
});

test("deferral, peek and dead letters of a session (DEF-9, PEEK-7, DLQ-6)",
  proves("sess.defer", "sess.peek", "sess.deadletter", "sess.order"), async () => {
  const { name, send, accept } = nextQueue();
  await send(["a", "a1"], ["b", "b1"], ["a", "a2"], ["a", "a3"]);
  const a = await accept("a");
  const [a1, a2] = await receive(a, 2);
  await a.deferMessage(a1);
  await a.deadLetterMessage(a2, { deadLetterReason: "Broken" });
  const peeked = await a.peekMessages(10, { fromSequenceNumber: Long.ZERO });
  assert.deepEqual(bodies(peeked), ["a1", "a3"]);
  assert.deepEqual(peeked.map((m) => m.state), ["deferred", "active"]);
  await assert.rejects(a.receiveDeferredMessages(Long.fromNumber(2)), { code: "MessageNotFound" });
  const [deferred] = await a.receiveDeferredMessages(a1.sequenceNumber);
  assert.equal(deferred.body, "a1");
  assert.equal(deferred.deliveryCount, 1);
  assert.equal(deferred.state, "deferred");
  await a.completeMessage(deferred);
  const [a3] = await receive(a, 1);
  await a.abandonMessage(a3, { attempt: 2 });
  const [again] = await receive(a, 1);
  assert.equal(again.deliveryCount, 1);
  assert.equal(again.applicationProperties.attempt, 2);
  await a.completeMessage(again);
  await a.close();
  const dead = client.createReceiver(name, { subQueueType: "deadLetter", ...byHand });
  const [m] = await receive(dead, 1);
  assert.equal(m.body, "a2");
  assert.equal(m.sessionId, "a");
  assert.equal(m.deadLetterReason, "Broken");
  await dead.completeMessage(m);
  await dead.close();
});

test("scheduled messages of a session (SCHED-20)", proves("sess.schedule"), async () => {
  const { sender, send, accept } = nextQueue();
  const due = new Date(Date.now() + 5000);
  const scheduled = await sender.scheduleMessages([{ sessionId: "a", body: "later" }, { sessionId: "a", body: "never" }], due);
  await send(["a", "now"]);
  await sender.cancelScheduledMessages(scheduled[1]);
  const a = await accept("a");
  const [now] = await receive(a, 1);
  assert.equal(now.body, "now"); // it does not wait for the scheduled one
  const [later] = await receive(a, 1);
  assert.equal(later.body, "later");
  assert.equal(later.sequenceNumber.toNumber(), 4);
  assert.ok(later.enqueuedTimeUtc >= due && later.enqueuedTimeUtc <= due.getTime() + 1000, "activated when due");
  assert.deepEqual(await a.receiveMessages(1, quickly), []);
  await a.close();
});

test("receive and delete, and what a session queue refuses (RAD-3, SESS-2, SESS-5)",
  proves("sess.delete", "sess.noid", "sess.plain", "sess.nosessions"), async () => {
  const { name, sender, send, accept } = nextQueue();
  await send(["a", "a1"], ["a", "a2"]);
  const a = await accept("a", { receiveMode: "receiveAndDelete" });
  assert.deepEqual(bodies(await receive(a, 2)), ["a1", "a2"]);
  assert.deepEqual(await a.peekMessages(10, { fromSequenceNumber: Long.ZERO }), []);
  await a.close();
  await assert.rejects(sender.sendMessages({ body: "no session" }), /The SessionId was not set on a message/);
  const plain = client.createReceiver(name, byHand);
  await assert.rejects(plain.receiveMessages(1, quickly), /requires sessions/);
  // This version of the SDK gives every refusal of a named session that name.
  await assert.rejects(client.acceptSession("plain", "a"), { code: "SessionCannotBeLocked" });
});
