// Sending, receiving, settling and peeking with the JavaScript SDK. See parity.mjs.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import Long from "long";
import { bodies, byHand, client, connect, numbers, once, patience, queue, quickly, receive } from "./parity.mjs";
import { proves, test } from "./proves.mjs";

const all = { fromSequenceNumber: Long.ZERO };

test("a batch knows its limit", proves("send.batchfull"), async () => {
  const { sender, receiver } = await queue();
  const batch = await sender.createMessageBatch();
  assert.equal(batch.maxSizeInBytes, 262_144);
  let count = 0;
  while (batch.tryAddMessage({ body: Buffer.alloc(1024) })) count++;
  assert.ok(count > 200 && count < 256, `${count} messages of 1 KiB fit`);
  await sender.sendMessages(batch);
  assert.equal((await receive(receiver, count)).length, count);
});

test("batches keep their order", proves("send.batch"), async () => {
  const { sender, receiver } = await queue();
  const batch = await sender.createMessageBatch();
  for (const body of numbers(50)) assert.ok(batch.tryAddMessage({ body }));
  await sender.sendMessages(batch);
  const got = await receive(receiver, 50);
  assert.deepEqual(bodies(got), numbers(50));
  assert.deepEqual(got.map((m) => m.sequenceNumber.toNumber()), numbers(50).map((i) => i + 1));
});

test("many sends at once, received in order", proves("send.parallel", "recv.order"), async () => {
  const { sender, receiver } = await queue();
  await Promise.all(numbers(500).map((body) => sender.sendMessages({ body })));
  const got = await receive(receiver, 500);
  assert.deepEqual(got.map((m) => m.sequenceNumber.toNumber()), numbers(500).map((i) => i + 1));
  assert.deepEqual(bodies(got).sort((a, b) => a - b), numbers(500));
});

test("a large message where it is allowed", proves("send.larger"), async () => {
  const { sender, receiver } = await queue({ maxMessageSizeInKilobytes: 2048 });
  const body = Buffer.alloc(1_500_000, 7);
  await sender.sendMessages({ body });
  assert.ok((await receive(receiver, 1))[0].body.equals(body));
});

test("an id is made", proves("send.noid"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages({ body: "m" });
  assert.match((await receive(receiver, 1))[0].messageId, /^[0-9a-f]{32}$/);
});

test("a received message is sent again", proves("send.again"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages({ body: "m", subject: "s", applicationProperties: { n: 1 } });
  const [first] = await receive(receiver, 1);
  await sender.sendMessages(first);
  const [second] = await receive(receiver, 1);
  assert.deepEqual([second.body, second.subject, second.applicationProperties], ["m", "s", { n: 1 }]);
  assert.equal(second.sequenceNumber.toNumber(), 2);
});

test("a message comes as soon as it is sent, several in a call", proves("recv.one", "recv.several"), async () => {
  const { sender, receiver } = await queue();
  const waiting = receiver.receiveMessages(1, patience);
  await sleep(300);
  await sender.sendMessages({ body: "first" });
  assert.deepEqual(bodies(await waiting), ["first"]);
  await sender.sendMessages(numbers(5).map((body) => ({ body })));
  assert.deepEqual(bodies(await receive(receiver, 5)), numbers(5));
});

test("closing a receive-and-delete receiver loses nothing", proves("recv.deletestays"), async () => {
  const { name, sender } = await queue();
  await sender.sendMessages(numbers(60).map((body) => ({ body })));
  const seen = [];
  while (seen.length < 60) {
    const taker = client.createReceiver(name, { receiveMode: "receiveAndDelete" });
    seen.push(...bodies(await receive(taker, 7 > 60 - seen.length ? 60 - seen.length : 7)));
    await taker.close();
  }
  assert.deepEqual(seen.sort((a, b) => a - b), numbers(60));
});

test("two receivers share a queue", proves("recv.competing"), async () => {
  const { name, sender, receiver } = await queue();
  const other = connect().createReceiver(name, byHand);
  await sender.sendMessages(numbers(100).map((body) => ({ body })));
  const seen = [];
  for (let i = 0; seen.length < 100; i++) {
    const got = await (i % 2 ? receiver : other).receiveMessages(7, patience);
    assert.notEqual(got.length, 0);
    seen.push(...bodies(got));
  }
  assert.deepEqual(seen.sort((a, b) => a - b), numbers(100));
});

test("a closed receiver takes nothing", proves("recv.close"), async () => {
  const { name, sender, receiver } = await queue();
  const closed = client.createReceiver(name, byHand);
  assert.deepEqual(await closed.receiveMessages(1, quickly), []);
  await closed.close();
  await sender.sendMessages({ body: "m" });
  assert.equal((await receive(receiver, 1))[0].deliveryCount, 0);
});

test("messages come from an iterator", proves("recv.iterate"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages(numbers(10).map((body) => ({ body })));
  const seen = [];
  for await (const message of receiver.getMessageIterator()) {
    seen.push(message.body);
    await receiver.completeMessage(message);
    if (seen.length === 10) break;
  }
  assert.deepEqual(seen, numbers(10));
});

test("fifty completes at once, and with gaps", proves("settle.many", "settle.gaps"), async () => {
  const { sender, receiver } = await queue();
  await sender.sendMessages(numbers(70).map((body) => ({ body })));
  const got = await receive(receiver, 70);
  await Promise.all(got.filter((m, i) => i < 50 || i % 2 === 0).map((m) => receiver.completeMessage(m)));
  assert.deepEqual(bodies(await receiver.peekMessages(70, all)), numbers(70).filter((i) => i >= 50 && i % 2 === 1));
});

test("settled once, without a reason", proves("settle.twice", "settle.deadletterbare", "dlq.abandon"), async () => {
  const { sender, receiver, dead } = await queue();
  await sender.sendMessages([{ body: "a" }, { body: "b" }]);
  const [a, b] = await receive(receiver, 2);
  await receiver.completeMessage(a);
  await assert.rejects(receiver.completeMessage(a), /already/);
  await receiver.deadLetterMessage(b);
  const [letter] = await receive(dead, 1);
  assert.equal(letter.deadLetterReason, undefined);
  await dead.abandonMessage(letter);
  assert.equal((await receive(dead, 1))[0].deliveryCount, 0);
});

test("settled after its receiver and its connection", proves("settle.elsewhere", "lock.connection"), async () => {
  const { name, sender, receiver } = await queue();
  await sender.sendMessages([{ body: "a" }, { body: "b" }]);
  const first = client.createReceiver(name, byHand);
  const [a] = await receive(first, 1);
  await first.close();
  await receiver.completeMessage(a);
  const other = connect();
  const [b] = await receive(other.createReceiver(name, byHand), 1);
  await other.close();
  assert.deepEqual(bodies(await receiver.peekMessages(5, all)), ["b"]);
  await receiver.completeMessage(b);
  assert.deepEqual(await receiver.peekMessages(5, all), []);
});

test("locks that are renewed hold", proves("lock.held", "lock.auto"), async () => {
  const { name, sender } = await queue({ lockDuration: "PT10S" });
  await sender.sendMessages([{ body: "by hand" }, { body: "by the SDK" }]);
  const manual = client.createReceiver(name, byHand);
  const automatic = client.createReceiver(name, { maxAutoLockRenewalDurationInMs: 60_000 });
  const [a] = await receive(manual, 1);
  const [b] = await receive(automatic, 1);
  await sleep(6000);
  await manual.renewMessageLock(a);
  await sleep(6000);
  assert.deepEqual(await connect().createReceiver(name).receiveMessages(2, quickly), []);
  await manual.completeMessage(a);
  await automatic.completeMessage(b);
});

test("deferred: renewed, received and deleted", proves("defer.renew", "defer.delete"), async () => {
  const { name, sender, receiver } = await queue();
  await sender.sendMessages([{ body: "a" }, { body: "b" }]);
  for (const m of await receive(receiver, 2)) await receiver.deferMessage(m);
  const [a] = await receiver.receiveDeferredMessages(Long.fromNumber(1));
  assert.ok((await receiver.renewMessageLock(a)).getTime() > Date.now() + 50_000);
  const taker = client.createReceiver(name, { receiveMode: "receiveAndDelete" });
  assert.deepEqual(bodies(await taker.receiveDeferredMessages(Long.fromNumber(2))), ["b"]);
  assert.deepEqual(bodies(await receiver.peekMessages(5, all)), ["a"]);
});

test("peek: every state, page by page, and dead letters", proves("peek.states", "prop.state", "peek.pages", "peek.deadletter", "sched.one"), async () => {
  const { sender, receiver, dead } = await queue();
  await sender.sendMessages(["locked", "deferred", "dead", "active"].map((body) => ({ body })));
  const due = new Date(Date.now() + 5000);
  await sender.scheduleMessages({ body: "scheduled" }, due);
  const [, deferred, letter] = await receive(receiver, 3);
  await receiver.deferMessage(deferred);
  await receiver.deadLetterMessage(letter);
  const page = async () => (await receiver.peekMessages(2)).map((m) => [m.body, m.state]);
  assert.deepEqual(await page(), [["locked", "active"], ["deferred", "deferred"]]);
  assert.deepEqual(await page(), [["active", "active"], ["scheduled", "scheduled"]]);
  assert.deepEqual(bodies(await dead.peekMessages(5)), ["dead"]);
  const got = await receive(receiver, 2);
  assert.deepEqual(bodies(got), ["active", "scheduled"]);
  assert.ok(got[1].enqueuedTimeUtc >= due);
});

test("peek: many large messages", proves("peek.large"), async () => {
  const { sender, receiver } = await queue();
  for (const body of numbers(40)) await sender.sendMessages({ body: `${body}`.padEnd(20_000, "x") });
  let peeked = 0;
  for (;;) {
    const page = await receiver.peekMessages(40);
    if (page.length === 0) break;
    peeked += page.length;
  }
  assert.equal(peeked, 40);
});

test("dead letters come in order, nobody sends them", proves("dlq.order", "dlq.nosend", "dlq.transfer"), async () => {
  const { name, sender, receiver, dead } = await queue();
  await sender.sendMessages(numbers(3).map((body) => ({ body })));
  for (const m of (await receive(receiver, 3)).reverse()) await receiver.deadLetterMessage(m);
  assert.deepEqual(bodies(await receive(dead, 3)), numbers(3));
  await assert.rejects(client.createSender(`${name}/$DeadLetterQueue`).sendMessages({ body: "x" }));
  assert.deepEqual(await client.createReceiver(name, { subQueueType: "transferDeadLetter" }).receiveMessages(1, quickly), []);
});

test("twenty sessions shared", proves("sess.share"), async () => {
  const { name, sender } = await queue({ requiresSession: true });
  for (const body of numbers(10)) await sender.sendMessages(numbers(20).map((id) => ({ body, sessionId: `s${id}` })));
  let left = 20;
  const worker = async () => {
    const own = connect();
    while (left > 0) {
      left--;
      const session = await own.acceptNextSession(name, byHand);
      const got = await receive(session, 10);
      assert.deepEqual(bodies(got), numbers(10), session.sessionId);
      for (const m of got) await session.completeMessage(m);
      await session.close();
    }
  };
  await Promise.all(numbers(4).map(worker));
  assert.deepEqual(await connect(undefined, once).createReceiver(name, { subQueueType: "deadLetter" }).peekMessages(1), []);
});
