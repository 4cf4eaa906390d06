// The JavaScript SDK, unmodified, over plain AMQP, TLS and WebSockets on the same port, with every kind of credential, and with
// the queues "plain" and "sessions" (which requires sessions). MINIBUS_CONNECTION_STRING is the usual one, MINIBUS_ADDR its host
// and port; NODE_EXTRA_CA_CERTS names the authority, and nothing else is set up. Run by compat_test.go.
import assert from "node:assert/strict";
import { AzureNamedKeyCredential } from "@azure/core-auth";
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";
import WebSocket from "ws";
import { proves, test } from "./proves.mjs";

const address = process.env.MINIBUS_ADDR;
const emulator = process.env.MINIBUS_CONNECTION_STRING;
const secure = emulator.replace("UseDevelopmentEmulator=true;", "");
const patience = { maxWaitTimeInMs: 30_000 };

const options = { retryOptions: { maxRetries: 0 } };

// The SDK always asks for wss.
class PlainWebSocket extends WebSocket {
  constructor(url, ...rest) {
    super(url.replace(/^wss:/, "ws:"), ...rest);
  }
}

const part = (x) => Buffer.from(JSON.stringify(x)).toString("base64url");
const expiresOnTimestamp = Date.now() + 3_600_000;
const claims = { aud: "https://servicebus.azure.net", exp: Math.floor(expiresOnTimestamp / 1000) };
const token = [part({ alg: "RS256", typ: "JWT" }), part(claims), "c2lnbmF0dXJl"].join(".");
const entra = { getToken: async () => ({ token, expiresOnTimestamp }) };

const transports = {
  "plain AMQP": [proves("conn.amqp", "send.large"), emulator, options],
  "AMQP over TLS": [proves("conn.amqps"), secure, options],
  "AMQP over TLS, with a key": [
    proves("auth.namedkey"), address, new AzureNamedKeyCredential("RootManageSharedAccessKey", "SAS_KEY_VALUE"), options],
  "AMQP over TLS, with a token of Entra": [proves("auth.token"), address, entra, options],
  "secure WebSockets": [proves("conn.wss"), secure, { ...options, webSocketOptions: { webSocket: WebSocket } }],
  "secure WebSockets, with the emulator's connection string": [[], emulator, { ...options, webSocketOptions: { webSocket: WebSocket } }],
  "plain WebSockets": [proves("conn.ws"), secure, { ...options, webSocketOptions: { webSocket: PlainWebSocket } }],
};

for (const [name, [proven, ...args]] of Object.entries(transports)) {
  test(name, proven, async () => {
    const client = new ServiceBusClient(...args);
    try {
      await everyday(client);
      await inSession(client);
    } finally {
      await client.close();
    }
  });
}

test("administration on the same port, with a token of Entra", async () => {
  const admin = new ServiceBusAdministrationClient(address, entra, options);
  const created = await admin.createQueue("forwarding", { forwardTo: "plain" });
  assert.equal(created.forwardTo, `sb://${address}/plain`);
  assert.deepEqual(await admin.getQueue("forwarding"), created);
});

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
