// azure-sb, the client that speaks HTTP instead of AMQP. It makes properties of a message of every header that it does not know.
// MINIBUS_PORT_TLS is the port of TLS; NODE_EXTRA_CA_CERTS names the authority. The client takes no "localhost" in a connection string.
import assert from "node:assert/strict";
import { test } from "node:test";
import { promisify } from "node:util";
import azure from "azure-sb";

const bus = azure.createServiceBusService(
  `Endpoint=https://127.0.0.1:${process.env.MINIBUS_PORT_TLS}/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE`);
const call = (method, ...args) => promisify(bus[method]).apply(bus, args);

for (const [name, customProperties] of Object.entries({
  "no properties": undefined, "properties": { text: "t", number: 7, half: 0.5, yes: true, no: false },
})) {
  for (const isPeekLock of [true, false]) {
    test(`${name}, ${isPeekLock ? "locked" : "deleted"}`, async () => {
      const queue = `${name.replace(" ", "-")}-${isPeekLock}`;
      await call("createQueue", queue);
      await call("sendQueueMessage", queue, { body: "hello", customProperties, brokerProperties: { Label: "new", TimeToLive: "60" } });
      const got = await call("receiveQueueMessage", queue, { isPeekLock, timeoutIntervalInS: 10 });
      assert.deepEqual(got.customProperties, customProperties);
      assert.deepEqual([got.body, got.contentType], ["hello", "text/plain"]);
      assert.deepEqual([got.brokerProperties.Label, got.brokerProperties.TimeToLive], ["new", 60]);
      if (isPeekLock) await call("deleteMessage", got);
      await assert.rejects(call("receiveQueueMessage", queue, { timeoutIntervalInS: 1 }), /No messages to receive/);
    });
  }
}

test("a scheduled message comes at its time", async () => {
  await call("createQueue", "later");
  const time = (date) => date.toISOString().replace("T", " ").replace("Z", " UTC");
  for (const [body, wait] of [["never", 86_400_000], ["soon", -1_000]]) {
    await call("sendQueueMessage", "later", { body, brokerProperties: { ScheduledEnqueueTimeUtc: time(new Date(Date.now() + wait)) } });
  }
  assert.equal((await call("receiveQueueMessage", "later", { timeoutIntervalInS: 10 })).body, "soon");
  await assert.rejects(call("receiveQueueMessage", "later", { timeoutIntervalInS: 1 }), /No messages to receive/);
});
