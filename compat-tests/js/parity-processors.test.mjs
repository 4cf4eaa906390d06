// The streams of the JavaScript SDK: subscribe, with handlers of every kind. See parity.mjs.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import Long from "long";
import { admin } from "./admin.mjs";
import { byHand, client, numbers, queue, receive, until } from "./parity.mjs";
import { proves, test } from "./proves.mjs";

const left = async (name) => (await admin.getQueueRuntimeProperties(name)).totalMessageCount;
const fail = async ({ error }) => assert.fail(error);

test("as many handlers at once as the program allows", proves("proc.concurrent"), async () => {
  const { name, sender } = await queue();
  await sender.sendMessages(numbers(12).map((body) => ({ body })));
  const stream = client.createReceiver(name, byHand);
  let running = 0, most = 0;
  stream.subscribe({
    processMessage: async () => {
      most = Math.max(most, ++running);
      for (const end = Date.now() + 30_000; most < 4 && Date.now() < end;) await sleep(20);
      await sleep(100); // for one too many
      running--;
    },
    processError: fail,
  }, { maxConcurrentCalls: 4 });
  await until(async () => (await left(name)) === 0, "all are completed");
  await stream.close();
  assert.equal(most, 4);
});

test("what the handler fails on comes again", proves("proc.fail"), async () => {
  const { name, sender } = await queue();
  await sender.sendMessages({ body: "m" });
  const stream = client.createReceiver(name, byHand);
  const [counts, errors] = [[], []];
  stream.subscribe({
    processMessage: async (m) => {
      counts.push(m.deliveryCount);
      if (counts.length === 1) throw new Error("not now");
    },
    processError: async ({ error, errorSource }) => { errors.push([errorSource, error.message]); },
  });
  await until(async () => (await left(name)) === 0, "it is completed");
  await stream.close();
  assert.deepEqual(counts, [0, 1]);
  assert.deepEqual(errors, [["processMessageCallback", "not now"]]);
});

test("the handler settles by itself", proves("proc.manual"), async () => {
  const { name, sender, receiver, dead } = await queue();
  await sender.sendMessages(["complete", "dead", "defer"].map((body) => ({ body })));
  const stream = client.createReceiver(name, byHand);
  stream.subscribe({
    processMessage: async (m) => {
      if (m.body === "complete") await stream.completeMessage(m);
      if (m.body === "dead") await stream.deadLetterMessage(m);
      if (m.body === "defer") await stream.deferMessage(m);
    },
    processError: fail,
  }, { autoCompleteMessages: false });
  const [letter] = await receive(dead, 1);
  assert.equal(letter.body, "dead");
  await until(async () => (await left(name)) === 2, "one is completed");
  const peek = async () => (await receiver.peekMessages(5, { fromSequenceNumber: Long.ZERO })).map((m) => [m.body, m.state]);
  await until(async () => (await peek())[0][1] === "deferred", "one is deferred");
  await stream.close();
  assert.deepEqual(await peek(), [["defer", "deferred"]]);
});

test("the lock is renewed while the handler works", proves("proc.renew"), async () => {
  const { name, sender } = await queue({ lockDuration: "PT5S" });
  await sender.sendMessages({ body: "m" });
  const stream = client.createReceiver(name, { maxAutoLockRenewalDurationInMs: 60_000 });
  let calls = 0;
  stream.subscribe({ processMessage: async () => { calls++; await sleep(7000); }, processError: fail });
  await until(async () => (await left(name)) === 0, "it is completed");
  await stream.close();
  assert.equal(calls, 1);
});

test("sessions one after another and at once", proves("proc.sessions"), async () => {
  const { name, sender } = await queue({ requiresSession: true });
  const ids = ["a", "b", "c"];
  for (const body of numbers(5)) await sender.sendMessages(ids.map((sessionId) => ({ body, sessionId })));
  const seen = {};
  const worker = async () => {
    const session = await client.acceptNextSession(name, byHand);
    seen[session.sessionId] = [];
    session.subscribe({ processMessage: async (m) => { seen[session.sessionId].push(m.body); }, processError: fail });
    await until(() => seen[session.sessionId].length === 5, "all of a session");
    await sleep(200); // the last one is completed behind its handler
    await session.close();
  };
  await Promise.all([worker().then(worker), worker()]);
  assert.deepEqual(seen, { a: numbers(5), b: numbers(5), c: numbers(5) });
  assert.equal(await left(name), 0);
});

test("a stopped stream takes nothing more", proves("proc.stop"), async () => {
  const { name, sender, receiver } = await queue();
  const stream = client.createReceiver(name, byHand);
  const seen = [];
  stream.subscribe({ processMessage: async (m) => { seen.push(m.body); }, processError: fail });
  await sender.sendMessages({ body: "before" });
  await until(async () => (await left(name)) === 0, "it is completed");
  await stream.close();
  await sender.sendMessages({ body: "after" });
  const [m] = await receive(receiver, 1);
  assert.deepEqual([m.body, m.deliveryCount, seen], ["after", 0, ["before"]]);
});

test("the queue of a stream is deleted", proves("proc.deleted"), async () => {
  const { name } = await queue();
  const stream = client.createReceiver(name, byHand);
  const codes = [];
  stream.subscribe({ processMessage: async () => {}, processError: async ({ error }) => { codes.push(error.code); } });
  await sleep(500); // until it is attached
  await admin.deleteQueue(name);
  await until(() => codes.includes("MessagingEntityNotFound"), "the error handler hears of it");
  await stream.close();
});
