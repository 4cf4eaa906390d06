// @azure/arm-servicebus as a program uses it, and @azure/service-bus with the connection strings that it gets.
import assert from "node:assert/strict";

import { ServiceBusManagementClient } from "@azure/arm-servicebus";
import { ClientSecretCredential } from "@azure/identity";
import { ServiceBusClient } from "@azure/service-bus";

const { MINIBUS_BASE: base, MINIBUS_TENANT: tenant, MINIBUS_CLIENT_ID: id, MINIBUS_SECRET: secret, MINIBUS_SUBSCRIPTION: subscription } = process.env;
const credential = new ClientSecretCredential(tenant, id, secret, { authorityHost: base, disableInstanceDiscovery: true });
const client = new ServiceBusManagementClient(credential, subscription, { endpoint: base, credentialScopes: [`${base}/.default`] });
const place = ["js", "js-ns-1"];
const never = "P10675199DT2H48M5.4775807S";

async function send(connection, queue) {
  const bus = new ServiceBusClient(connection, { retryOptions: { maxRetries: 0 } });
  try {
    await bus.createSender(queue).sendMessages({ body: "x" });
  } finally {
    await bus.close();
  }
}

const missing = (code) => (error) => error.statusCode === 404 && error.code === code;

const space = await client.namespaces.beginCreateOrUpdateAndWait(...place, { location: "westeurope", sku: { name: "Standard" }, tags: { team: "a" } });
assert.deepEqual([space.provisioningState, space.status, space.tags], ["Succeeded", "Active", { team: "a" }]);

const names = Array.from({ length: 250 }, (_, n) => `q${String(n).padStart(3, "0")}`);
for (const name of names) await client.queues.createOrUpdate(...place, name, {});
const pages = [];
for await (const page of client.queues.listByNamespace(...place).byPage()) pages.push(page.map((queue) => queue.name));
assert.equal(pages.length, 3);
assert.deepEqual(pages.flat().sort(), names);
await assert.rejects(client.queues.get(...place, "none"), missing("MessagingGatewayNotFoundStatusCode"));

await client.queues.createOrUpdate(...place, "durations", { lockDuration: "PT1M30S", defaultMessageTimeToLive: "P14D", autoDeleteOnIdle: never });
const queue = await client.queues.get(...place, "durations");
assert.deepEqual([queue.lockDuration, queue.defaultMessageTimeToLive, queue.autoDeleteOnIdle], ["PT1M30S", "P14D", never]);

await client.topics.createOrUpdate(...place, "t", {});
await client.subscriptions.createOrUpdate(...place, "t", "s", {});
await client.rules.createOrUpdate(...place, "t", "s", "sql", { filterType: "SqlFilter", sqlFilter: { sqlExpression: "a = 1" }, action: { sqlExpression: "SET b = 2" } });
await client.rules.createOrUpdate(...place, "t", "s", "correlation", { filterType: "CorrelationFilter", correlationFilter: { label: "red", properties: { size: "5" } } });
const rules = {};
for await (const rule of client.rules.listBySubscriptions(...place, "t", "s")) rules[rule.name] = rule;
assert.deepEqual(Object.keys(rules).sort(), ["$Default", "correlation", "sql"]);
assert.deepEqual([rules.sql.sqlFilter.sqlExpression, rules.sql.action.sqlExpression], ["a = 1", "SET b = 2"]);
assert.deepEqual(rules.correlation.correlationFilter.properties, { size: "5" });

await client.queues.createOrUpdateAuthorizationRule(...place, "q000", "sender", { rights: ["Send"] });
const before = await client.queues.listKeys(...place, "q000", "sender");
await send(before.primaryConnectionString, "q000");
const after = await client.queues.regenerateKeys(...place, "q000", "sender", { keyType: "PrimaryKey" });
assert.equal(after.secondaryKey, before.secondaryKey);
await assert.rejects(send(before.primaryConnectionString, "q000"));
await send(after.primaryConnectionString, "q000");
await send(after.secondaryConnectionString, "q000");
await send((await client.namespaces.listKeys(...place, "RootManageSharedAccessKey")).primaryConnectionString, "q001");

assert.deepEqual((await client.namespaces.update(...place, { tags: { team: "b" } })).tags, { team: "b" });
await client.namespaces.beginDeleteAndWait(...place);
await assert.rejects(client.namespaces.get(...place), missing("ResourceNotFound"));
