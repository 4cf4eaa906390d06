// The JavaScript SDK over restarts of Minibus, with the queues r.1 to r.6 and r.sessions. MINIBUS_CONTROL is where the server is
// restarted, MINIBUS_RELAY an address whose connections can be cut. Run by compat_test.go.
import assert from "node:assert/strict";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";
import Long from "long";
import { proves, test } from "./proves.mjs";

const connection = process.env.MINIBUS_CONNECTION_STRING;
const retryOptions = { maxRetries: 40, retryDelayInMs: 250, timeoutInMs: 10_000 };
const client = new ServiceBusClient(connection, { retryOptions });
after(() => client.close());

const byHand = { maxAutoLockRenewalDurationInMs: 0 };
const patience = { maxWaitTimeInMs: 30_000 };
const control = async (what) => assert.ok((await fetch(`${process.env.MINIBUS_CONTROL}/${what}`)).ok);
const bodies = (messages) => messages.map((m) => m.body);

async function receive(receiver, count) {
  const all = [];
  while (all.length < count) {
    const messages = await receiver.receiveMessages(count - all.length, patience);
    assert.notEqual(messages.length, 0, `${all.length} of ${count} messages`);
    all.push(...messages);
  }
  return all;
}

test("sender and receiver go on", proves("restart.send", "restart.receive", "restart.kill"), async () => {
  const [sender, receiver] = [client.createSender("r.1"), client.createReceiver("r.1", byHand)];
  for (const how of ["restart", "kill"]) {
    await sender.sendMessages({ body: "before" });
    await receiver.completeMessage((await receive(receiver, 1))[0]);
    await sender.sendMessages({ body: "kept" });
    await control(how);
    await sender.sendMessages({ body: "after" });
    const got = await receive(receiver, 2);
    assert.deepEqual(bodies(got), ["kept", "after"]);
    for (const m of got) await receiver.completeMessage(m);
  }
});

test("locks end with the process, numbers stay", proves("restart.lock", "restart.deferred"), async () => {
  const [sender, receiver] = [client.createSender("r.2"), client.createReceiver("r.2", byHand)];
  await sender.sendMessages([{ body: "locked" }, { body: "deferred" }]);
  const [, deferred] = await receive(receiver, 2);
  await receiver.deferMessage(deferred);
  const numbers = await sender.scheduleMessages({ body: "later" }, new Date(Date.now() + 3_600_000));
  await control("restart");
  const [again] = await receive(receiver, 1);
  assert.deepEqual([again.body, again.deliveryCount], ["locked", 0]);
  assert.deepEqual(bodies(await receiver.receiveDeferredMessages(Long.fromNumber(2))), ["deferred"]);
  await sender.cancelScheduledMessages(numbers);
});

test("a session is accepted again", proves("restart.session"), async () => {
  await client.createSender("r.sessions").sendMessages({ body: "m", sessionId: "a" });
  const first = await client.acceptSession("r.sessions", "a", byHand);
  await first.setSessionState("half way");
  await receive(first, 1);
  await control("restart");
  await first.close();
  const second = await client.acceptSession("r.sessions", "a", byHand);
  assert.equal(await second.getSessionState(), "half way");
  assert.deepEqual(bodies(await receive(second, 1)), ["m"]);
  await second.close();
});

test("a stream goes on", proves("proc.restart"), async () => {
  const [sender, stream] = [client.createSender("r.3"), client.createReceiver("r.3", byHand)];
  const seen = [];
  stream.subscribe({ processMessage: async (m) => { seen.push(m.body); }, processError: async () => {} });
  for (const body of [1, 2, 3]) {
    await sender.sendMessages({ body });
    for (const end = Date.now() + 60_000; !seen.includes(body);) {
      assert.ok(Date.now() < end, `message ${body}`);
      await sleep(20);
    }
    if (body < 3) await control(body === 1 ? "restart" : "kill");
  }
  await stream.close();
});

test("a refused connection is told, and the sender works once the server is back", async () => {
  const [sender, receiver] = [client.createSender("r.4"), client.createReceiver("r.4", byHand)];
  await sender.sendMessages({ body: "before" });
  await control("stop");
  await assert.rejects(sender.sendMessages({ body: "while it is away" }), /ECONNREFUSED/);
  await control("start");
  await sender.sendMessages({ body: "after" });
  assert.deepEqual(bodies(await receive(receiver, 2)), ["before", "after"]);
});

test("a reset loses nothing", proves("restart.reset"), async () => {
  const relayed = new ServiceBusClient(connection.replace(process.env.MINIBUS_ADDR, process.env.MINIBUS_RELAY), { retryOptions });
  const [sender, receiver] = [relayed.createSender("r.5"), relayed.createReceiver("r.5", byHand)];
  await sender.sendMessages({ body: 1 });
  const [held] = await receive(receiver, 1);
  await control("cut");
  await sender.sendMessages({ body: 2 });
  assert.deepEqual(bodies(await receive(receiver, 1)), [2]);
  await client.createReceiver("r.5", byHand).completeMessage(held); // by its token
  assert.deepEqual(bodies(await receiver.peekMessages(5, { fromSequenceNumber: Long.ZERO })), [2]);
  await relayed.close();
});
