// The JavaScript SDK, unmodified, over plain AMQP, TLS and secure WebSockets on the same port, with the queues "plain" and
// "sessions" (which requires sessions). MINIBUS_CONNECTION_STRING is the usual one; NODE_EXTRA_CA_CERTS names the authority,
// and nothing else is set up. Run by compat_test.go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceBusClient } from "@azure/service-bus";
import WebSocket from "ws";

const emulator = process.env.MINIBUS_CONNECTION_STRING;
const secure = emulator.replace("UseDevelopmentEmulator=true;", "");
const patience = { maxWaitTimeInMs: 10_000 };

const transports = {
  "plain AMQP": [emulator, {}],
  "AMQP over TLS": [secure, {}],
  "secure WebSockets": [secure, { webSocketOptions: { webSocket: WebSocket } }],
  "secure WebSockets, with the emulator's connection string": [emulator, { webSocketOptions: { webSocket: WebSocket } }],
};

for (const [name, [connect, options]] of Object.entries(transports)) {
  test(name, async () => {
    const client = new ServiceBusClient(connect, { retryOptions: { maxRetries: 0 }, ...options });
    try {
      await everyday(client);
      await inSession(client);
    } finally {
      await client.close();
    }
  });
}

async function everyday(client) {
  const sender = client.createSender("plain");
  const receiver = client.createReceiver("plain");
  const body = "0123456789".repeat(20_000); // takes several frames
  await sender.sendMessages([{ body: "a" }, { body }]);
  for (const want of ["a", body]) {
    const [message] = await receiver.receiveMessages(1, patience);
    assert.equal(message?.body, want);
    await receiver.completeMessage(message);
  }
  const [number] = await sender.scheduleMessages({ body: "later" }, new Date(Date.now() + 3_600_000));
  const [later] = await receiver.peekMessages(1, { fromSequenceNumber: number });
  assert.equal(later.state, "scheduled");
  await sender.cancelScheduledMessages(number);
  assert.deepEqual(await receiver.peekMessages(1, { fromSequenceNumber: number }), []);
}

async function inSession(client) {
  await client.createSender("sessions").sendMessages({ body: "first", sessionId: "s" });
  const receiver = await client.acceptSession("sessions", "s");
  await receiver.setSessionState("state");
  const [message] = await receiver.receiveMessages(1, patience);
  assert.equal(message.body, "first");
  await receiver.completeMessage(message);
  assert.equal(await receiver.getSessionState(), "state");
  await receiver.close();
}
