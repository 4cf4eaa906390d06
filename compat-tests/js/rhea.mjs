// A plain AMQP client (rhea, the library under the JavaScript SDK) against the queue "rhea": anonymous and with a password,
// every body type, several frames, and the outcomes; and against the queue "sessions", where it gives up waiting. MINIBUS_ADDR is host:port.
// Ends with status 0 when all came back.
import assert from "node:assert/strict";
import rhea from "rhea";

const [host, port] = process.env.MINIBUS_ADDR.split(":");

function connect(options) {
  const container = rhea.create_container();
  const connection = container.connect({ host, port: Number(port), reconnect: false, ...options });
  return { container, connection };
}

const bodies = [
  "text",
  { list: [1, 2.5, true, null], text: "t" },
  Buffer.from("bytes"),
  rhea.message.data_section(Buffer.from("data")),
  rhea.message.data_sections([Buffer.from("da"), Buffer.from("ta")]),
  rhea.message.sequence_section([1, "two"]),
  rhea.types.wrap_ulong(1),
  rhea.types.wrap_timestamp(1_000),
  rhea.message.data_section(Buffer.alloc(70_000, 7)),
];

function send() {
  const { container, connection } = connect({});
  return new Promise((resolve, reject) => {
    let next = 0, accepted = 0;
    container.on("sendable", ({ sender }) => {
      while (next < bodies.length && sender.sendable()) {
        sender.send({ message_id: `m${next}`, body: bodies[next], ttl: 600_000, application_properties: { n: next },
          message_annotations: { "x-custom": rhea.types.wrap_int(1) } });
        next++;
      }
    });
    container.on("accepted", () => { if (++accepted === bodies.length) connection.close(); });
    container.on("rejected", ({ delivery }) => reject(new Error(`rejected: ${delivery.remote_state.error}`)));
    container.on("connection_close", resolve);
    container.on("disconnected", ({ error }) => (error ? reject(error) : resolve()));
    connection.open_sender("rhea");
  });
}

function receive() {
  const { container, connection } = connect({ username: "RootManageSharedAccessKey", password: "SAS_KEY_VALUE" });
  return new Promise((resolve, reject) => {
    const got = new Map();
    let released = false;
    container.on("receiver_open", ({ receiver }) => receiver.add_credit(bodies.length + 1));
    container.on("message", ({ message, delivery }) => {
      if (!released) { // once: it must come again
        released = true;
        delivery.release();
        return;
      }
      got.set(message.message_id, message);
      delivery.accept();
      if (got.size === bodies.length) connection.close();
    });
    container.on("connection_close", () => resolve(got));
    container.on("disconnected", ({ error }) => (error ? reject(error) : resolve(got)));
    connection.open_receiver({ source: "rhea", credit_window: 0, autoaccept: false, rcv_settle_mode: 1 });
  });
}

// Closes a receiver while it waits for a session, and listens to what follows. rhea throws out of its loop when a detach names a link that it
// does not know, and attaches a link anew when it sees the attach of one that it has closed.
function giveUp() {
  const { container, connection } = connect({});
  return new Promise((resolve, reject) => {
    const seen = [];
    container.on("receiver_open", ({ receiver }) => seen.push(receiver.source?.address ? "attached" : "refused"));
    container.on("receiver_close", () => seen.push("detached"));
    container.on("connection_close", () => resolve(seen));
    container.on("disconnected", ({ error }) => (error ? reject(error) : resolve(seen)));
    const receiver = connection.open_receiver({
      source: { address: "sessions", filter: { "com.microsoft:session-filter": null } }, credit_window: 0,
    });
    setTimeout(() => receiver.close(), 300);
    setTimeout(() => connection.close(), 1_000);
  });
}

await send();
const seen = await giveUp();
assert.deepEqual(seen.slice(0, 2), ["refused", "detached"]);
assert.ok(seen.length <= 4, `the end of a link echoes: ${seen}`);
const got = await receive();
assert.equal(got.size, bodies.length);
for (const [i] of bodies.entries()) {
  const message = got.get(`m${i}`);
  assert.equal(message.application_properties.n, i);
  assert.equal(message.message_annotations["x-custom"], 1);
  assert.ok(message.message_annotations["x-opt-sequence-number"] > 0);
  assert.equal(message.delivery_count, 0);
}
assert.equal(got.get("m0").body, "text");
assert.deepEqual(got.get("m1").body, bodies[1]);
assert.equal(got.get("m8").body.content.length, 70_000);
