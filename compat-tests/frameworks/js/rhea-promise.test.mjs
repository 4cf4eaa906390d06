// rhea-promise, the AMQP 1.0 client under the JavaScript SDK, alone: it knows nothing of Service Bus. MINIBUS_ADDR is host:port of AMQP,
// MINIBUS_PORT_TLS the port of TLS; NODE_EXTRA_CA_CERTS names the authority.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import rheaPromise from "rhea-promise";

const { Connection, ReceiverEvents, filter, types } = rheaPromise;
const [host, port] = process.env.MINIBUS_ADDR.split(":");
const key = { username: "RootManageSharedAccessKey", password: "SAS_KEY_VALUE" };

async function connected(work, options = {}) {
  const connection = new Connection({ host, port: Number(port), reconnect: false, ...options });
  await connection.open();
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

// A receiver without a window of credit, and a function that asks it for one message.
async function receiving(connection, source, options = {}) {
  const receiver = await connection.createReceiver({ source, credit_window: 0, autoaccept: false, ...options });
  const next = async () => {
    const message = once(receiver, ReceiverEvents.message, { signal: AbortSignal.timeout(30_000) });
    receiver.addCredit(1);
    const [context] = await message;
    return { message: context.message, delivery: context.delivery };
  };
  return { receiver, next };
}

const transports = {
  "anonymously": {},
  "with a password": key,
  "over TLS": { ...key, transport: "tls", port: Number(process.env.MINIBUS_PORT_TLS), servername: "localhost" },
};

for (const [name, options] of Object.entries(transports)) {
  test(`send and receive ${name}`, () => connected(async (connection) => {
    const sender = await connection.createAwaitableSender({ target: { address: "orders" } });
    const bodies = [`text ${name}`, { list: [1, 2.5, true, null] }, "x".repeat(200_000)];
    const sent = await Promise.all(bodies.map((body, n) =>
      sender.send({ body, message_id: types.wrap_uuid(Buffer.alloc(16, n)), subject: "s", application_properties: { n } })));
    assert.ok(sent.every((delivery) => delivery.remote_settled));
    const { next } = await receiving(connection, "orders");
    for (const [n, body] of bodies.entries()) {
      const { message, delivery } = await next();
      assert.deepEqual(message.body, body);
      assert.deepEqual([message.application_properties.n, message.subject, message.delivery_count], [n, "s", 0]);
      assert.ok(Buffer.alloc(16, n).equals(message.message_id));
      delivery.accept();
    }
  }, options));
}

test("every settlement", () => connected(async (connection) => {
  const sender = await connection.createAwaitableSender({ target: { address: "bills" } });
  await sender.send({ body: "b" });
  const { next } = await receiving(connection, "bills");
  const counts = [];
  const outcomes = [
    (delivery) => delivery.release(),
    (delivery) => delivery.modified({ delivery_failed: true, undeliverable_here: false }),
    (delivery) => delivery.reject({ condition: "com.microsoft:dead-letter", info: { DeadLetterReason: "why" } }),
  ];
  for (const settle of outcomes) {
    const { message, delivery } = await next();
    counts.push(message.delivery_count);
    settle(delivery);
  }
  assert.deepEqual(counts, [0, 0, 1]);
  const letters = await receiving(connection, "bills/$DeadLetterQueue");
  const { message, delivery } = await letters.next();
  assert.deepEqual([message.body, message.application_properties.DeadLetterReason], ["b", "why"]);
  delivery.accept();
}));

test("sessions by their filter, and a topic's subscription", () => connected(async (connection) => {
  const sender = await connection.createAwaitableSender({ target: { address: "letters" } });
  for (const group_id of ["ada", "bob"]) await sender.send({ body: `of ${group_id}`, group_id });
  for (const [wanted, got] of [["bob", "bob"], [null, "ada"]]) {
    const address = { address: "letters/Subscriptions/all", filter: { "com.microsoft:session-filter": wanted } };
    const { receiver, next } = await receiving(connection, address);
    assert.equal(receiver.source.filter["com.microsoft:session-filter"], got);
    const { message, delivery } = await next();
    assert.equal(message.body, `of ${got}`);
    delivery.accept();
    await receiver.close();
  }
}));

test("requests and answers on $management", () => connected(async (connection) => {
  const sender = await connection.createAwaitableSender({ target: { address: "peeks" } });
  await sender.send({ body: "p" });
  const link = await connection.createRequestResponseLink({ target: { address: "peeks/$management" } },
    { source: { address: "peeks/$management" }, name: "answers", target: { address: "answers" } });
  const answer = once(link.receiver, ReceiverEvents.message, { signal: AbortSignal.timeout(30_000) });
  link.sender.send({
    message_id: "1", reply_to: "answers", application_properties: { operation: "com.microsoft:peek-message" },
    body: { "from-sequence-number": types.wrap_long(1), "message-count": types.wrap_int(1) },
  });
  const [{ message }] = await answer;
  assert.deepEqual([message.correlation_id, message.application_properties.statusCode, message.body.messages.length], ["1", 200, 1]);
}));

test("refusals", () => connected(async (connection) => {
  await assert.rejects(connection.createAwaitableSender({ target: { address: "missing" } }), { condition: "amqp:not-found" });
  // A receiver opens before it hears of the refusal.
  const refusal = (source) => new Promise((onError) => connection.createReceiver({ source, credit_window: 0, onError }));
  for (const [source, condition] of [
    ["missing", "amqp:not-found"],
    [{ address: "orders", filter: filter.selector("colour =") }, "amqp:invalid-field"],
  ]) {
    const { receiver } = await refusal(source);
    assert.equal(receiver.error.condition, condition);
  }
}));

test("a signal cancels a send", () => connected(async (connection) => {
  const sender = await connection.createAwaitableSender({ target: { address: "orders" } });
  await assert.rejects(sender.send({ body: "never" }, { abortSignal: AbortSignal.abort() }), { name: "AbortError" });
}));
