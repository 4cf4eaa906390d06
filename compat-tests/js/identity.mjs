// Signs in with DefaultAzureCredential and nothing but the environment.

import assert from "node:assert/strict";
import { DefaultAzureCredential } from "@azure/identity";
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";

const identity = (name) => new DefaultAzureCredential({ managedIdentityClientId: process.env["IDENTITY_TEST_" + name] });
const once = { retryOptions: { maxRetries: 0 } };

async function exchange(host) {
  const client = new ServiceBusClient(host, new DefaultAzureCredential());
  try {
    await client.createSender("orders").sendMessages({ body: "for " + host });
    const receiver = client.createReceiver("orders");
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    assert.equal(message.body, "for " + host);
    await receiver.completeMessage(message);
  } finally {
    await client.close();
  }
}

async function administer(host) {
  const client = new ServiceBusAdministrationClient(host, new DefaultAzureCredential());
  await client.createQueue("made");
  assert.equal((await client.getQueue("made")).name, "made");
  await client.deleteQueue("made");
}

async function send(host, name, queue) {
  const client = new ServiceBusClient(host, identity(name), once);
  try {
    const sender = client.createSender(queue);
    await sender.cancelScheduledMessages(await sender.scheduleMessages({ body: 1 }, new Date("2099-01-01")));
  } finally {
    await client.close();
  }
}

async function receive(host, name, queue) {
  const client = new ServiceBusClient(host, identity(name), once);
  try {
    await client.createReceiver(queue).receiveMessages(1, { maxWaitTimeInMs: 5_000 });
  } finally {
    await client.close();
  }
}

async function refused(what, operation) {
  const begin = Date.now();
  await assert.rejects(operation, (e) => {
    assert.equal(e.code, "UnauthorizedAccess", e.stack);
    assert.ok(e.message.includes(what) && e.message.includes("required to perform this operation"), e.message);
    return true;
  });
  assert.ok(Date.now() - begin < 15_000, "it has waited");
}

for (const host of process.env.IDENTITY_TEST_HOSTS.split(",")) {
  await exchange(host);
  await administer(host);
  await send(host, "SENDER", "orders");
  await refused("'Send'", () => send(host, "NOBODY", "orders"));
  await refused("'Listen'", () => receive(host, "NOBODY", "orders"));
  await refused("'Listen' claim(s)", () => receive(host, "SENDER", "orders"));
  await refused("'Send'", () => send(host, "SENDER", "orders2"));
  await assert.rejects(new ServiceBusAdministrationClient(host, identity("SENDER")).getQueue("orders"), { statusCode: 401 });
}
console.log("ok");
