// Signs in with DefaultAzureCredential and nothing but the environment.

import assert from "node:assert/strict";
import {
  AzureCliCredential, AzureDeveloperCliCredential, ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential,
  WorkloadIdentityCredential,
} from "@azure/identity";
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";

const identity = (name) => new DefaultAzureCredential({ managedIdentityClientId: process.env["IDENTITY_TEST_" + name] });
const once = { retryOptions: { maxRetries: 0 } };

async function exchange(host, credential = new DefaultAzureCredential()) {
  const client = new ServiceBusClient(host, credential);
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

async function onlyReceive(host) {
  const owner = new ServiceBusClient(host, new DefaultAzureCredential()), client = new ServiceBusClient(host, identity("RECEIVER"), once);
  try {
    await owner.createSender("orders").sendMessages({ body: "for a receiver" });
    const receiver = client.createReceiver("orders");
    const [peeked] = await receiver.peekMessages(1);
    assert.equal(peeked.body, "for a receiver");
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 30_000 });
    assert.equal(message.body, "for a receiver");
    await receiver.completeMessage(message);
  } finally {
    await owner.close();
    await client.close();
  }
  await refused("'Send'", () => send(host, "RECEIVER", "orders"));
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

const hosts = process.env.IDENTITY_TEST_HOSTS.split(",");
for (const host of hosts) {
  await exchange(host);
  await administer(host);
  await send(host, "SENDER", "orders");
  await refused("'Send'", () => send(host, "NOBODY", "orders"));
  await refused("'Listen'", () => receive(host, "NOBODY", "orders"));
  await refused("'Listen' claim(s)", () => receive(host, "SENDER", "orders"));
  await refused("'Send'", () => send(host, "SENDER", "orders2"));
  await onlyReceive(host);
  await assert.rejects(new ServiceBusAdministrationClient(host, identity("SENDER")).getQueue("orders"), { statusCode: 401 });
}

// A developer who has signed in with az or azd, for which scripts stand.
await exchange(hosts[0], new AzureCliCredential());
await exchange(hosts[0], new AzureDeveloperCliCredential());

// As AD FS does it: for that tenant no SDK asks a Microsoft host.
const { AZURE_CLIENT_ID, IDENTITY_HEADER, IDENTITY_TEST_ASSERTION } = process.env;
const authority = { authorityHost: `https://${hosts[0]}:5671` };
await exchange(hosts[0], new ClientSecretCredential("adfs", AZURE_CLIENT_ID, IDENTITY_HEADER, authority));
await exchange(hosts[0], new WorkloadIdentityCredential(
  { tenantId: "adfs", clientId: AZURE_CLIENT_ID, tokenFilePath: IDENTITY_TEST_ASSERTION, ...authority }));

// Cloud Shell, and the metadata service of a virtual machine, at another address.
const open = process.env.IDENTITY_TEST_OPEN;
delete process.env.IDENTITY_ENDPOINT;
delete process.env.IDENTITY_HEADER;
const places = { MSI_ENDPOINT: open + "/minibus/identity/token", AZURE_POD_IDENTITY_AUTHORITY_HOST: open };
for (const [name, value] of Object.entries(places)) {
  process.env[name] = value;
  const { token } = await new ManagedIdentityCredential().getToken("https://servicebus.azure.net/.default");
  assert.equal(token.split(".").length, 3, name);
  delete process.env[name];
}
console.log("ok");
