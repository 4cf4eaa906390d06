// Workers that subscribe to sessions, as @azure/service-bus's samples do: each takes the next session, is handed its messages, and
// leaves it when nothing comes any more. The queues require sessions, whose locks last a minute, in baskets and visits 5 s.
// MINIBUS_CONNECTION_STRING says where.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";

const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0, timeoutInMs: 30_000 } });
after(() => client.close());

const lockDuration = 5000; // of baskets and visits
const idle = 3000; // after which a worker leaves its session

const send = async (queue, ...messages) => {
  const sender = client.createSender(queue);
  await sender.sendMessages(messages.map(([sessionId, body]) => ({ sessionId, body })));
  await sender.close();
};

// Works on one session until it is idle, or until its receiver reports an error. Returns both.
async function workOnSession(accept, handle, subscribeOptions) {
  const receiver = await accept();
  const errors = [];
  await new Promise((done) => {
    let timer = setTimeout(done, idle);
    const handlers = {
      processMessage: async (message) => {
        clearTimeout(timer);
        try {
          await handle(message, receiver);
        } finally {
          timer = setTimeout(done, idle);
        }
      },
      processError: async ({ error, errorSource }) => {
        errors.push(`${errorSource}: ${error.code ?? error.message}`);
        if (error.code === "SessionLockLost") {
          clearTimeout(timer);
          done();
        }
      },
    };
    receiver.subscribe(handlers, subscribeOptions);
  });
  await receiver.close();
  return { sessionId: receiver.sessionId, errors };
}

describe("workers", { concurrency: true }, () => {
  test("workers go from session to session, and each session keeps its order", async () => {
    const ids = ["ada", "bob", "cyd", "dan", "eve", "fay"];
    await send("carts", ...[1, 2, 3].flatMap((n) => ids.map((id) => [id, `${id}${n}`])));
    const handled = Object.fromEntries(ids.map((id) => [id, []]));
    const busy = new Set();
    async function worker() {
      for (let n = 0; n < 2; n++) {
        const { errors } = await workOnSession(() => client.acceptNextSession("carts"), async (message) => {
          assert.ok(!busy.has(message.sessionId), "one worker at a time");
          busy.add(message.sessionId);
          await sleep(50);
          handled[message.sessionId].push(message.body);
          busy.delete(message.sessionId);
        });
        assert.deepEqual(errors, []);
      }
    }
    await Promise.all([worker(), worker(), worker()]);
    assert.deepEqual(handled, Object.fromEntries(ids.map((id) => [id, [`${id}1`, `${id}2`, `${id}3`]])));
    const impatient = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0, timeoutInMs: 3000 } });
    await assert.rejects(impatient.acceptNextSession("carts"), { code: "ServiceTimeout" });
    await impatient.close();
  });

  test("a handler that takes longer than the lock keeps its session", async () => {
    await send("baskets", ["ada", "first"], ["ada", "second"]);
    const got = [];
    const { errors } = await workOnSession(() => client.acceptSession("baskets", "ada"), async (message, receiver) => {
      await sleep(lockDuration * 1.5);
      got.push([message.body, message.deliveryCount]);
      await receiver.setSessionState(message.body);
    });
    assert.deepEqual(errors, []);
    assert.deepEqual(got, [["first", 0], ["second", 0]]);
    const next = await client.acceptSession("baskets", "ada");
    assert.equal(await next.getSessionState(), "second");
    assert.deepEqual(await next.peekMessages(1), []);
    await next.close();
  });

  test("without renewal the handler hears that the session is lost, and the next worker goes on", async () => {
    await send("visits", ["ada", "v"]);
    const accept = (maxAutoLockRenewalDurationInMs) => () => client.acceptSession("visits", "ada", { maxAutoLockRenewalDurationInMs });
    const { errors } = await workOnSession(accept(0), () => sleep(lockDuration + 1500));
    assert.ok(errors.some((e) => e.endsWith("SessionLockLost")), `${errors}`);
    const got = [];
    await workOnSession(accept(60_000), (message) => got.push([message.body, message.deliveryCount]));
    assert.deepEqual(got, [["v", 1]]);
  });

  test("a handler that throws gets the message again, until it is a dead letter", async () => {
    await send("angry", ["ada", "bad"], ["ada", "good"]);
    const got = [];
    const { errors } = await workOnSession(() => client.acceptSession("angry", "ada"), async (message) => {
      got.push([message.body, message.deliveryCount]);
      if (message.body === "bad") throw new Error("no");
    }, { maxConcurrentCalls: 1 });
    assert.deepEqual(got, [["bad", 0], ["bad", 1], ["bad", 2], ["good", 0]]);
    assert.deepEqual(errors, Array(3).fill("processMessageCallback: no"));
    const letters = client.createReceiver("angry", { subQueueType: "deadLetter" });
    const [letter] = await letters.receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    assert.deepEqual([letter.body, letter.sessionId, letter.deadLetterReason], ["bad", "ada", "MaxDeliveryCountExceeded"]);
    await letters.completeMessage(letter);
    await letters.close();
  });

  test("several calls at a time within a session, settled by hand, on a subscription", async () => {
    await send("news", ...Array.from({ length: 8 }, (_, n) => ["ada", n]));
    let running = 0, most = 0;
    const got = [];
    const { errors } = await workOnSession(() => client.acceptSession("news", "all", "ada"), async (message, receiver) => {
      most = Math.max(most, ++running);
      await sleep(200);
      running--;
      got.push(message.body);
      await receiver.completeMessage(message);
    }, { maxConcurrentCalls: 4, autoCompleteMessages: false });
    assert.deepEqual(errors, []);
    assert.deepEqual(got.sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert.ok(most > 1 && most <= 4, `${most} at a time`);
  });
});
