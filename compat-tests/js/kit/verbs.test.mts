// Every method of the package minibus against the server, and where it matters with the SDK of Azure on the other side: what the one steers, the other one sees.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { ServiceBusAdministrationClient, ServiceBusClient, type ServiceBusReceiver, type ServiceBusSender } from "@azure/service-bus";
import { Minibus, MinibusError, Namespace, type FaultKind, type StartOptions } from "minibus";
import { minibus } from "minibus/node-test";

const patience = { maxWaitTimeInMs: 30_000 };
const entities = {
  queues: [{ name: "orders", maxDeliveryCount: 3 }, { name: "sessions", requiresSession: true }, "other"],
  topics: [{ name: "events", subscriptions: ["all", { name: "large", filter: "amount > 5" }] }],
};
let server: Minibus;
let folder: string;

before(async () => {
  server = await Minibus.start();
  folder = await mkdtemp(join(tmpdir(), "kit-"));
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

// noticed gives the SDK time to read that a link was detached. What it sends in the moment before, it takes for lost only after its timeout of a minute.
const noticed = () => setTimeout(300);

interface Sides { bus: Namespace; client: ServiceBusClient; sender: ServiceBusSender; receiver: ServiceBusReceiver }

// inNamespace gives a test a namespace, and a client of the SDK for it.
function inNamespace(name: string, body: (sides: Sides) => Promise<void>) {
  test(name, async () => {
    await using bus = await server.namespace(entities);
    const client = new ServiceBusClient(bus.connectionString, { retryOptions: { maxRetries: 1, retryDelayInMs: 100 } });
    const receiver = client.createReceiver("orders", { maxAutoLockRenewalDurationInMs: 0 });
    try {
      await body({ bus, client, receiver, sender: client.createSender("orders") });
    } finally {
      await client.close();
    }
  });
}

async function failure(promise: Promise<unknown>): Promise<MinibusError> {
  const error = await promise.then(() => assert.fail("it succeeds"), (error: unknown) => error);
  assert.ok(error instanceof MinibusError, String(error));
  assert.equal(error.message, error.detail);
  return error;
}

async function started(options: StartOptions, body: (bus: Minibus) => Promise<void>) {
  await using bus = await Minibus.start(options);
  await body(bus);
}

test("start: entities with settings, and the rest of the options", async () => {
  await started({
    queues: [{ name: "work", requiresSession: true, lockDuration: "30s", defaultMessageTimeToLive: 90_000, forwardDeadLetteredMessagesTo: "bad" }, "bad"],
    topics: ["empty", { name: "events", requiresDuplicateDetection: true, duplicateDetectionHistoryTimeWindow: "PT5M", subscriptions: [
      "all", { Name: "as-in-config", Properties: { MaxDeliveryCount: 7 } },
      { name: "red", filter: { subject: "red", properties: { size: 5 } } },
      { name: "two", maxDeliveryCount: 2, rules: [{ name: "a", filter: "amount > 5", action: "SET big = true" }, { name: "b", filter: false }] },
    ] }],
    limits: "standard",
  }, async (bus) => {
    assert.match(bus.connectionString, /^Endpoint=sb:\/\/localhost:\d+;.*UseDevelopmentEmulator=true/);
    assert.equal(bus.name, "sbemulatorns");
    assert.match(await (await fetch(bus.explorerUrl, { headers: { accept: "text/html" } })).text(), /<html/i);
    assert.match(bus.log, /Emulator Service is Successfully Up!/);
    assert.equal((await bus.request("GET", "")).limits, "standard");
    const { properties } = await bus.request("GET", "entities/work");
    assert.deepEqual([properties.RequiresSession, properties.LockDuration, properties.DefaultMessageTimeToLive, properties.ForwardDeadLetteredMessagesTo],
      [true, "PT30S", "PT1M30S", "bad"]);
    const { items } = await bus.request("GET", "entities/events/subscriptions");
    const rules = Object.fromEntries(items.map((s: any) => [s.name, s.rules.map((r: any) => [r.name, r.properties.FilterType])]));
    assert.deepEqual(rules, { all: [["$Default", "True"]], "as-in-config": [["$Default", "True"]], red: [["filter", "Correlation"]], two: [["a", "Sql"], ["b", "False"]] });
    assert.deepEqual((await bus.match("events", { subject: "red", applicationProperties: { size: 5 } })).reached.sort(), ["all", "as-in-config", "red"]);
  });
  const error = await failure(Minibus.start({ queues: [{ name: "orders", lockDuraton: "1s" } as any] }));
  assert.match(error.message, /did you mean LockDuration\?/);
});

test("start: a configuration, a database, flags and keys", async () => {
  const config = { UserConfig: { Namespaces: [{ Name: "shop-eu", Queues: [{ Name: "from-config" }] }] } };
  const file = join(folder, "Config.json");
  await writeFile(file, JSON.stringify(config));
  const data = join(folder, "bus.db");
  const second = join(folder, "second.json");
  const seed = join(folder, "seed.jsonl");
  await writeFile(second, JSON.stringify({ UserConfig: { Namespaces: [{ Name: "shop-eu", Queues: [{ Name: "from-second" }] }] } }));
  await writeFile(seed, JSON.stringify({ entity: "from-second", body: "seeded" }));
  await started({ config: [file, second], seed }, async (bus) => assert.equal((await bus.messages("from-second"))[0]!.body, "seeded"));
  await started({ config: file, queues: ["more"], data }, async (bus) => {
    assert.equal(bus.name, "shop-eu");
    await bus.send("from-config", { body: "kept" });
    await bus.send("more", { body: "kept" });
  });
  assert.ok(existsSync(data));
  await started({ config, data }, async (bus) => assert.equal((await bus.counts("more")).active, 1));
  await started({ args: ["--auth", "sas"], env: { MINIBUS_ROOT_KEY: "a-key" }, queues: ["orders"] }, async (bus) => {
    assert.match(bus.connectionString, /SharedAccessKey=a-key/);
    assert.equal((await bus.counts("orders")).active, 0);
    const stranger = await failure(Minibus.connect(bus.connectionString.replace("a-key", "another")));
    assert.equal(stranger.status, 401);
  });
});

test("connect: by a connection string, a URL, and the variable", async () => {
  assert.equal((await Minibus.connect(server.connectionString)).name, server.name);
  assert.equal((await Minibus.connect(server.explorerUrl)).connectionString, server.connectionString);
  process.env["SERVICEBUS_CONNECTION_STRING"] = server.connectionString;
  const found = await Minibus.connect();
  await found.stop();
  await using bus = await server.namespace({ name: "worker-1" });
  assert.equal((await Minibus.connect(bus.connectionString)).name, "worker-1");
});

test("namespace: of its own, and gone at the end", async (t) => {
  const bus = await server.namespace({ name: "worker-2", limits: "premium", config: { Queues: [{ Name: "a" }] }, queues: ["b"] });
  assert.equal(bus.name, "worker-2");
  assert.match(bus.explorerUrl, /#\/worker-2$/);
  assert.equal((await bus.request("GET", "")).limits, "premium");
  assert.deepEqual([(await bus.counts("a")).active, (await bus.counts("b")).active], [0, 0]);
  await bus.stop();
  await bus.stop();
  assert.equal((await failure(bus.counts("a"))).status, 404);
  let mine: Namespace | undefined;
  await t.test("of a test", async (t) => {
    mine = await minibus(t, { queues: ["orders"] });
    await mine.send("orders", { body: "x" });
  });
  assert.equal((await failure(mine!.counts("orders"))).status, 404);
});

test("options that there are not, and what is missing, are named", async () => {
  const any = (value: unknown) => value as any;
  const refused = (promise: Promise<unknown>, message: RegExp) => assert.rejects(promise, { name: "TypeError", message });
  await refused(Minibus.start(any({ queus: ["orders"] })), /^start\(\) has no option "queus": did you mean queues\?$/);
  await refused(Minibus.start(any({ httpPort: 5300 })), /^start\(\) has no option "httpPort": it has queues, topics, config, limits, seed, data, args, env, binary$/);
  await refused(Minibus.start(any("orders")), /^start\(\) takes an object of options, not "orders"$/);
  await refused(server.namespace(any({ limit: "premium" })), /^namespace\(\) has no option "limit": did you mean limits\?$/);
  await refused(Minibus.connect(any({ queus: ["orders"] })), /^connect\(\) takes a connection string or a URL, not \{ queus: \[Array\] \}$/);
  await refused(server.put(any({ topic: ["events"] })), /^put\(\) has no option "topic": did you mean topics\?$/);
  await refused(Minibus.start({ queues: any("orders") }), /^queues is a list, such as queues: \["orders"\]$/);
  await refused(server.namespace({ queues: any({ name: "orders" }) }), /^queues is a list, such as/);
  await refused(server.namespace({ topics: [{ name: "events", subscriptions: any("all") }] }), /^subscriptions is a list, such as subscriptions: \["all"\]$/);
  await refused(server.put({ topics: ["events", any(undefined)] }), /^topics\[1\] is undefined: write a name, or an object with a name$/);
  await refused(any(server).waitFor(), /^waitFor\(\) has nothing to wait for: give it entity with idle or counts, message, or events/);
  await refused(server.waitFor({ timeout: "1s" }), /has nothing to wait for/);
  const missing = /^The entity is missing: name a queue, a topic or a subscription, such as "orders"/;
  for (const verb of ["counts", "delete", "send", "messages", "deadLetters", "resubmit", "purge", "why", "match"]) await refused(any(server)[verb](), missing);
  await refused(server.send("orders", any("two coffees")), /^A message is an object, such as \{ body: "two coffees" \}, and not "two coffees"$/);
  await refused(server.counts(any({ name: "orders" })), /^The entity is \{ name: 'orders' \}: name a queue/);
});

inNamespace("put and delete: entities are made and changed", async ({ bus }) => {
  await bus.put({ queues: ["new", { name: "orders", maxDeliveryCount: 9 }], topics: [{ name: "events", subscriptions: [{ name: "large", filter: "amount > 50" }] }] });
  assert.equal((await bus.request("GET", "entities/orders")).properties.MaxDeliveryCount, 9);
  assert.deepEqual((await bus.match("events", { applicationProperties: { amount: 7 } })).reached, ["all"]);
  await bus.delete("new");
  await bus.delete("events/Subscriptions/all");
  assert.deepEqual((await bus.match("events", { applicationProperties: { amount: 70 } })).reached, ["large"]);
  assert.equal((await failure(bus.delete("new"))).status, 404);
  const fixed = await failure(bus.put({ queues: [{ name: "orders", requiresSession: true }] }));
  assert.equal(fixed.status, 400);
  assert.match(fixed.message, /RequiresSession/);
  const ca = await (await fetch(new URL("/minibus/ca.pem", bus.explorerUrl))).text();
  const admin = new ServiceBusAdministrationClient(bus.connectionString, { tlsOptions: { ca } });
  assert.equal((await admin.getQueue("orders")).maxDeliveryCount, 9);
});

inNamespace("clock: a schedule fires next week, and a lock ends", async ({ bus, sender, receiver }) => {
  const now = await bus.clock.freeze();
  assert.equal(Number(await bus.clock.now()), Number(now));
  await sender.scheduleMessages({ body: "invoice" }, new Date(Number(now) + 7 * 24 * 3600_000));
  assert.equal(Number(await bus.clock.advance("7d")) - Number(now), 7 * 24 * 3600_000);
  const [invoice] = await receiver.receiveMessages(1, patience);
  assert.equal(invoice!.body, "invoice");
  await bus.clock.advance(3600_000);
  await assert.rejects(receiver.completeMessage(invoice!), { code: "MessageLockLost" });
  assert.equal((await bus.clock.set(new Date("2099-01-01T00:00:00Z"))).toISOString(), "2099-01-01T00:00:00.000Z");
  assert.equal((await bus.clock.set("2099-01-02T00:00:00Z")).getUTCDate(), 2);
  assert.equal((await bus.clock.resume()).getUTCFullYear(), 2099);
  assert.equal((await failure(bus.clock.set("2001-01-01T00:00:00Z"))).status, 409);
  await assert.rejects(bus.clock.set("soon"), { name: "RangeError", message: /^"soon" is no time: give a Date, or a text such as "2030-01-01T09:00:00Z"$/ });
  await assert.rejects((bus.clock as any).set(), /^RangeError: undefined is no time/);
  for (const wrong of [Infinity, NaN, undefined as any]) await assert.rejects(bus.clock.advance(wrong), new RegExp(`^TypeError: ${wrong} is no duration: write "1h"`));
  await assert.rejects(bus.clock.advance("soon"), /"soon" is no duration: write "1h"/);
});

inNamespace("faults: each kind has a method, and its hits are counted", async ({ bus, sender }) => {
  const kinds: FaultKind[] = ["throttle", "refuse", "detach", "drop", "close", "loseLock", "loseSession", "starve", "failJournal", "expireToken"];
  for (const kind of kinds) {
    const fault = await bus.faults[kind]("other", { for: "10m", ...(kind !== "starve" && { count: 1 }) });
    assert.equal(fault.kind, kind);
    assert.equal(fault.entity, "other");
    assert.ok(fault.until instanceof Date);
  }
  await using delay = await bus.faults.delay({ operation: "send", delay: "5ms", entity: "other" });
  assert.deepEqual([delay.operations, delay["delayMilliseconds"], await delay.hits()], [["send"], 5, 0]);
  assert.deepEqual((await bus.faults.list()).map((f) => f.kind).sort(), [...kinds, "delay"].sort());
  await bus.faults.remove();
  assert.deepEqual(await bus.faults.list(), []);
  const busy = await bus.faults.inject({ kind: "refuse", entity: "orders", operation: ["attachSender"], condition: "not-found", count: 1 });
  await assert.rejects(sender.sendMessages({ body: "x" }), { code: "MessagingEntityNotFound" });
  assert.equal(await busy.hits(), 1);
  await busy.remove();
  await busy.remove();
  assert.equal((await failure(busy.hits())).status, 404);
});

inNamespace("wait and history: the test goes on when the worker is done, and reads what became of a message", async ({ bus, client, sender }) => {
  const worker = client.createReceiver("orders").subscribe({
    processMessage: async (m) => { if (m.body !== "good") throw new Error("unreadable"); },
    processError: async () => {},
  });
  const completed = bus.waitFor({ events: { kinds: ["completed"], entity: "orders" }, timeout: "20s" });
  await sender.sendMessages([{ body: "good", messageId: "order-1" }, { body: "bad", messageId: "order-2" }]);
  const waited = await bus.waitFor({ entity: "orders", idle: true, counts: { active: 0, deadLetter: { least: 1 } }, timeout: 20_000 });
  assert.equal(waited.counts!.deadLetter, 1);
  assert.equal((await completed).events, 1);
  await worker.close();
  const found = await bus.waitFor({ message: { entity: "orders/$DeadLetterQueue", filter: { reason: "MaxDeliveryCountExceeded" } } });
  const [letter] = await bus.deadLetters("orders");
  assert.equal(letter!.sequenceNumber, found.sequenceNumber);
  assert.equal(letter!.deadLetterReason, "MaxDeliveryCountExceeded");
  const events = await bus.history("order-2");
  assert.equal(events.filter((e) => e.kind === "delivered").length, 3);
  assert.equal(events.at(-1)!.detail, "MaxDeliveryCountExceeded");
  assert.ok(events[0]!.time instanceof Date);
  assert.deepEqual((await bus.events({ kind: ["completed", "deadLettered"] })).map((e) => e.kind).sort(), ["completed", "deadLettered"]);
  assert.equal((await bus.events({ limit: 2, order: "newest" })).length, 2);
  const late = await failure(bus.waitFor({ entity: "orders", counts: { active: 5 }, timeout: "50ms" }));
  assert.match(late.message, /5 active.*\n.*/s);
  assert.equal(late.status, undefined);
});

inNamespace("connections, why and refusals: a program connects again", async ({ bus, client, sender, receiver }) => {
  await sender.sendMessages({ body: "1" });
  const before = await bus.connections();
  assert.match(before[0]!.product!, /rhea|azsdk|MSJSClient/i);
  assert.ok(before[0]!.since instanceof Date);
  for (const c of before) await bus.request("DELETE", `connections/${c.id}`);
  while ((await bus.connections()).some((c) => c.id === before[0]!.id)) await setTimeout(50);
  await sender.sendMessages({ body: "2" });
  const why = await bus.why("orders");
  assert.deepEqual(why.findings.filter((f) => f.blocks).map((f) => f.code), ["no-receiver"]);
  assert.match(why.text, /receiver/);
  assert.equal((await receiver.receiveMessages(2, patience))[0]!.body, "1");
  await assert.rejects(client.createReceiver("nowhere").receiveMessages(1, patience));
  const [refusal] = await bus.refusals();
  assert.equal(refusal!.entity, "nowhere");
  assert.ok(refusal!.time instanceof Date);
});

inNamespace("messages: all of a message comes and goes", async ({ bus, receiver, sender }) => {
  const day = new Date("2030-01-01T00:00:00Z");
  const numbers = await bus.send("orders", [
    { body: { id: 1 }, messageId: "json", timeToLive: "10m", applicationProperties: { day, big: 2n ** 60n, bytes: new Uint8Array([0, 1]), size: { int: 5 }, ok: true } },
    { body: Buffer.from([0, 255]), messageId: "bytes" },
    { body: "x".repeat(100_000), messageId: "long" },
  ]);
  assert.deepEqual(numbers, [1, 2, 3]);
  assert.deepEqual(await bus.send("orders", { body: "later", messageId: "later", scheduledEnqueueTime: day }), [4]);
  const [json, bytes] = await receiver.receiveMessages(2, patience);
  assert.deepEqual(json!.body, { id: 1 });
  assert.equal(json!.timeToLive, 600_000);
  const properties = json!.applicationProperties!;
  assert.equal(Number(properties["day"]), Number(day));
  assert.deepEqual([properties["size"], properties["ok"]], [5, true]);
  assert.deepEqual(bytes!.body, Buffer.from([0, 255]));
  const found = await bus.messages("orders");
  assert.deepEqual(found.map((m) => [m.messageId, m.state]), [["json", "locked"], ["bytes", "locked"], ["long", "active"], ["later", "scheduled"]]);
  assert.ok(found[0]!.lockedUntil! > found[0]!.enqueuedTime);
  assert.deepEqual([found[0]!.applicationProperties!["size"], found[0]!.applicationProperties!["big"]], [{ int: 5 }, { long: "1152921504606846976" }]);
  assert.equal((found[2]!.body as string).length, 100_000);
  assert.equal(found[3]!.scheduledEnqueueTime!.getTime(), day.getTime());
  assert.deepEqual((await bus.messages("orders", { state: ["active", "scheduled"], order: "newest" })).map((m) => m.sequenceNumber), [4, 3]);
  assert.deepEqual((await bus.messages("orders", { limit: 1, from: 2 })).map((m) => m.messageId), ["bytes"]);
  assert.deepEqual(await bus.messages("orders", { enqueuedBefore: new Date("2020-01-01") }), []);
  const counts = await bus.counts("orders");
  assert.deepEqual([counts.active, counts.scheduled, counts.deadLetter], [3, 1, 0]);
  await bus.put({ queues: [{ name: "parts", enablePartitioning: true }] });
  const [large] = await bus.send("parts", { body: "1" });
  assert.equal((await bus.messages("parts"))[0]!.sequenceNumber, large);
  assert.equal(await bus.purge("parts", { sequenceNumbers: [large!] }), 1);
  await sender.sendMessages({ body: "last" });
});

inNamespace("messages: a text is bytes for the SDK, unless it is JSON", async ({ bus, receiver }) => {
  await bus.send("orders", [{ body: "two coffees" }, { body: JSON.stringify("two coffees") }]);
  const [bytes, text] = await receiver.receiveMessages(2, patience);
  assert.ok(Buffer.isBuffer(bytes!.body));
  assert.equal(bytes!.body.toString(), "two coffees");
  assert.equal(text!.body, "two coffees");
});

inNamespace("resubmit and purge: dead letters go back, and the rest is removed", async ({ bus, sender, receiver, client }) => {
  await sender.sendMessages([{ body: "1" }, { body: "2" }, { body: "3" }]);
  for (const message of await receiver.receiveMessages(2, patience)) await receiver.deadLetterMessage(message, { deadLetterReason: `spoilt ${message.body}`, deadLetterErrorDescription: "" });
  assert.equal(await bus.resubmit("orders", { reason: "spoilt 1" }, { subject: "again", properties: { tries: 2 } }), 1);
  const [again] = await bus.messages("orders", { sql: "sys.Label = 'again'" });
  assert.equal(again!.applicationProperties!["tries"], 2);
  assert.equal(await bus.resubmit("orders"), 1);
  assert.deepEqual(await client.createReceiver("orders", { subQueueType: "deadLetter" }).peekMessages(1), []);
  assert.equal(await bus.purge("orders", { text: "3", max: 1 }), 1);
  assert.equal(await bus.purge("orders"), 2);
  assert.deepEqual(await receiver.peekMessages(5), []);
  assert.match((await failure(bus.purge("orders", { sequenceNumbers: [99] }))).message, /99/);
});

inNamespace("snapshot, restore and reset: the client lives on", async ({ bus, sender, receiver }) => {
  await sender.sendMessages({ body: "old" });
  await bus.snapshot("seeded");
  await bus.snapshot("seeded");
  await bus.purge("orders");
  await bus.restore("seeded");
  assert.equal((await bus.counts("orders")).active, 1);
  await bus.reset();
  await noticed();
  await sender.sendMessages({ body: "new" });
  const [message] = await receiver.receiveMessages(1, patience);
  assert.equal(message!.body, "new");
  assert.equal(Number(message!.sequenceNumber), 1);
  await receiver.completeMessage(message!);
  assert.equal((await failure(bus.restore("none"))).status, 404);
});

inNamespace("request: a state of a session is read and written, and a lock is broken", async ({ bus, client }) => {
  await client.createSender("sessions").sendMessages({ body: "1", sessionId: "table-7" });
  const session = await client.acceptSession("sessions", "table-7", { maxAutoLockRenewalDurationInMs: 0 });
  await session.setSessionState("seated");
  const path = "entities/sessions/sessions/table-7";
  assert.equal((await bus.request("GET", path)).active, 1);
  await bus.request("PUT", `${path}/state`, { text: "served" });
  assert.equal(String(await session.getSessionState()), "served");
  const [message] = await session.receiveMessages(1, patience);
  assert.equal(await bus.request("POST", `${path}/break`), undefined);
  await noticed();
  await assert.rejects(session.completeMessage(message!), { code: "SessionLockLost" });
});

inNamespace("request: what the SDK sends is received and settled, and the SDK sees it", async ({ bus, sender, client }) => {
  await sender.sendMessages({ body: "1", messageId: "order-1" });
  const { messages } = await bus.request<{ messages: { messageId: string; lockToken: string }[] }>("POST", "/entities/orders/receive", { wait: "10s" });
  assert.equal(messages[0]!.messageId, "order-1");
  await bus.request("POST", "entities/orders/settle", { lockTokens: [messages[0]!.lockToken], outcome: "deadLetter", reason: "spoilt" });
  const [letter] = await client.createReceiver("orders", { subQueueType: "deadLetter" }).receiveMessages(1, patience);
  assert.equal(letter!.deadLetterReason, "spoilt");
  assert.equal((await bus.counts("orders")).deadLetter, 1);
});
