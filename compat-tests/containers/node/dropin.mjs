// Testcontainers' module for Node.js with the image of Minibus, and Azure's client on it.
//
//   node dropin.mjs          without a SQL Server
//   node dropin.mjs sql      only the name of the image is another; the module starts its SQL Server
import assert from "node:assert/strict";
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";
import { AzureServiceBusContainer } from "@testcontainers/azureservicebus";
import { GenericContainer } from "testcontainers";

const config = JSON.stringify({
  UserConfig: { Namespaces: [{ Name: "sbemulatorns", Queues: [{ Name: "orders" }] }], Logging: { Type: "File" } },
});

/** The module insists on a second container. Any will do. */
const start = () =>
  new AzureServiceBusContainer("minibus")
    .withMssqlContainer(new GenericContainer("minibus"))
    .withConfig(config)
    .start();

const startWithSql = () => new AzureServiceBusContainer("minibus").acceptLicense().start();

async function roundTrip(connectionString, queue) {
  const client = new ServiceBusClient(connectionString);
  try {
    await client.createSender(queue).sendMessages({ body: "one parcel" });
    const receiver = client.createReceiver(queue);
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10_000 });
    assert.equal(message.body, "one parcel");
    await receiver.completeMessage(message);
  } finally {
    await client.close();
  }
}

/** The administration client insists on TLS, so it is told the certificate of Minibus's authority. */
async function administration(bus) {
  const answer = await fetch(`http://${bus.getHost()}:${bus.getMappedPort(5300)}/minibus/ca.pem`);
  const admin = new ServiceBusAdministrationClient(bus.getConnectionString(), { tlsOptions: { ca: await answer.text() } });
  await admin.createQueue("made");
  await roundTrip(bus.getConnectionString(), "made");
  assert.ok(await admin.queueExists("made"));
  await admin.deleteQueue("made");
  assert.ok(!(await admin.queueExists("made")));
}

const withSql = process.argv[2] === "sql";
const bus = await (withSql ? startWithSql() : start());
try {
  await roundTrip(bus.getConnectionString(), withSql ? "queue.1" : "orders");
  if (!withSql) await administration(bus);
} finally {
  await bus.stop();
}
console.log(`node${withSql ? " with a SQL Server" : ""}: ok`);
