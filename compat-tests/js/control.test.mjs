// The typed client of the control API, and the SDK of Azure on the other side: what the one steers, the other one sees. Each test has a namespace of its own, which the
// client makes and deletes. MINIBUS_CONNECTION_STRING says where.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";

const { connect } = await import(process.env.MINIBUS_CLIENT); // clients/typescript, as it was made
const control = connect(process.env.MINIBUS_CONNECTION_STRING);
const patience = { maxWaitTimeInMs: 30_000 };
const api = "/$minibus/v1/namespaces";

// noticed gives the SDK time to read that a link was detached. What it sends in the moment before, it takes for lost only after its timeout of a minute.
const noticed = () => setTimeout(300);

// inNamespace makes a namespace with the queues orders and sessions, and calls body with an SDK client for it and with functions that steer it.
function inNamespace(name, body) {
  test(name, async () => {
    const Queues = [{ Name: "orders", Properties: { MaxDeliveryCount: 3 } }, { Name: "sessions", Properties: { RequiresSession: true } }];
    const { data: made, error } = await control.POST(api, { body: { Queues } });
    assert.equal(error, undefined);
    const client = new ServiceBusClient(made.connectionString, { retryOptions: { maxRetries: 1, retryDelayInMs: 100 } });
    const steer = Object.fromEntries(["GET", "PUT", "POST", "DELETE"].map((method) => [method, async (path, body, more = {}) => {
      const { path: names, query } = more;
      const answer = await control[method](`${api}/{namespace}${path}`, { params: { path: { namespace: made.name, ...names }, query }, body });
      assert.equal(answer.error, undefined, `${method} ${path}`);
      return answer.data;
    }]));
    try {
      await body({ client, sender: client.createSender("orders"), receiver: client.createReceiver("orders", { maxAutoLockRenewalDurationInMs: 0 }), ...steer });
    } finally {
      await client.close();
      await control.DELETE(`${api}/{namespace}`, { params: { path: { namespace: made.name } } });
    }
  });
}

inNamespace("clock: a schedule fires next week, and a lock ends", async ({ sender, receiver, POST, GET }) => {
  await POST("/clock/freeze");
  const { now } = await GET("/clock");
  await sender.scheduleMessages({ body: "invoice" }, new Date(Date.parse(now) + 7 * 24 * 3600_000));
  await POST("/clock/advance", { by: "P7D" });
  const [invoice] = await receiver.receiveMessages(1, patience);
  assert.equal(invoice.body, "invoice");
  await POST("/clock/advance", { by: "PT1H" });
  await assert.rejects(receiver.completeMessage(invoice), { code: "MessageLockLost" });
});

inNamespace("wait and history: the test goes on when the worker is done, and reads what became of a message", async ({ client, sender, POST, GET }) => {
  const worker = client.createReceiver("orders").subscribe({
    processMessage: async (m) => { if (m.body !== "good") throw new Error("unreadable"); },
    processError: async () => {},
  });
  await sender.sendMessages([{ body: "good", messageId: "order-1" }, { body: "bad", messageId: "order-2" }]);
  const { met, counts } = await POST("/wait", { entity: "orders", idle: true, counts: [{ of: "deadLetter", least: 1 }], timeoutSeconds: 20 });
  await worker.close();
  assert.ok(met);
  assert.equal(counts.deadLetter, 1);
  const life = await GET("/history/life", undefined, { query: { messageId: "order-2" } });
  assert.equal(life.items.filter((e) => e.kind === "delivered").length, 3);
  assert.equal(life.items.at(-1).kind, "deadLettered");
  assert.equal(life.items.at(-1).detail, "MaxDeliveryCountExceeded");
  const settled = await GET("/history", undefined, { query: { kind: ["completed"] } });
  assert.equal(settled.items.length, 1);
});

inNamespace("connections and why: a program connects again", async ({ sender, receiver, GET, DELETE }) => {
  await sender.sendMessages({ body: "1" });
  const before = await GET("/connections");
  assert.match(before.items[0].product, /rhea|azsdk|MSJSClient/i);
  for (const c of before.items) await DELETE("/connections/{connection}", undefined, { path: { connection: c.id } });
  while ((await GET("/connections")).items.some((c) => c.id === before.items[0].id)) await setTimeout(50);
  await sender.sendMessages({ body: "2" });
  const why = await GET("/entities/{entity}/why", undefined, { path: { entity: "orders" } });
  assert.deepEqual(why.findings.filter((f) => f.blocks).map((f) => f.code), ["no-receiver"]);
  assert.equal((await receiver.receiveMessages(2, patience))[0].body, "1");
});

inNamespace("jobs: dead letters go back, and the rest is removed", async ({ sender, receiver, client, POST, GET }) => {
  await sender.sendMessages([{ body: "1" }, { body: "2" }]);
  const [first] = await receiver.receiveMessages(1, patience);
  await receiver.deadLetterMessage(first, { deadLetterReason: "spoilt" });
  const job = async (body) => {
    const { id } = await POST("/jobs", body);
    return GET("/jobs/{job}", undefined, { path: { job: id }, query: { wait: "10s" } });
  };
  assert.equal((await job({ kind: "resubmit", entity: "orders", edit: { strip: true }, filter: { reason: "spoilt" } })).done, 1);
  assert.deepEqual(await client.createReceiver("orders", { subQueueType: "deadLetter" }).peekMessages(1), []);
  assert.equal((await job({ kind: "purge", entity: "orders" })).done, 2);
  assert.deepEqual(await receiver.peekMessages(5), []);
});

inNamespace("sessions: a state is read and written, and a lock is broken", async ({ client, PUT, GET, POST }) => {
  await client.createSender("sessions").sendMessages({ body: "1", sessionId: "table-7" });
  const session = await client.acceptSession("sessions", "table-7", { maxAutoLockRenewalDurationInMs: 0 });
  await session.setSessionState("seated");
  const at = { path: { entity: "sessions", session: "table-7" } };
  assert.equal((await GET("/entities/{entity}/sessions/{session}", undefined, at)).active, 1);
  await PUT("/entities/{entity}/sessions/{session}/state", { text: "served" }, at);
  assert.equal(String(await session.getSessionState()), "served");
  const [message] = await session.receiveMessages(1, patience);
  await POST("/entities/{entity}/sessions/{session}/break", undefined, at);
  await noticed();
  await assert.rejects(session.completeMessage(message), { code: "SessionLockLost" });
});

inNamespace("receive: what the SDK sends is received and settled, and the SDK sees it", async ({ sender, client, POST, GET }) => {
  await sender.sendMessages({ body: "1", messageId: "order-1" });
  const at = { path: { entity: "orders" } };
  const { messages } = await POST("/entities/{entity}/receive", { wait: "10s" }, at);
  assert.equal(messages[0].messageId, "order-1");
  await POST("/entities/{entity}/settle", { lockTokens: [messages[0].lockToken], outcome: "deadLetter", reason: "spoilt" }, at);
  const [letter] = await client.createReceiver("orders", { subQueueType: "deadLetter" }).receiveMessages(1, patience);
  assert.equal(letter.deadLetterReason, "spoilt");
  assert.equal((await GET("/entities/{entity}", undefined, at)).counts.deadLetter, 1);
});

inNamespace("reset: the queue is empty, and the client lives on", async ({ sender, receiver, POST }) => {
  await sender.sendMessages({ body: "old" });
  await POST("/reset");
  await noticed();
  await sender.sendMessages({ body: "new" });
  const [message] = await receiver.receiveMessages(1, patience);
  assert.equal(message.body, "new");
  assert.equal(Number(message.sequenceNumber), 1);
  await receiver.completeMessage(message);
});
