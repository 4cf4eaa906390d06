import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceBusClient } from "@azure/service-bus";
import { Minibus } from "minibus";

test("an order without a price is dead-lettered, and a reminder comes after an hour", async (t) => {
  const bus = await Minibus.start({ queues: ["orders"] });
  const client = new ServiceBusClient(bus.connectionString);
  t.after(() => client.close());
  const sender = client.createSender("orders");
  startShop(client);

  await sender.sendMessages({ messageId: "order-7", body: "one coffee" });
  await bus.waitFor({ entity: "orders", idle: true });
  const [letter] = await bus.deadLetters("orders");
  assert.equal(letter.deadLetterReason, "no price");

  await sender.scheduleMessages({ messageId: "reminder", body: "2 euros" }, new Date(Date.now() + 3_600_000));
  await bus.clock.advance("1h");
  await bus.waitFor({ entity: "orders", idle: true });
  const reminder = await bus.history("reminder");
  assert.equal(reminder.at(-1).kind, "completed");
});

// The program under test.
function startShop(client) {
  const receiver = client.createReceiver("orders");
  receiver.subscribe({
    async processMessage(message) {
      if (!message.body.includes("euros")) await receiver.deadLetterMessage(message, { deadLetterReason: "no price" });
    },
    async processError() {},
  });
}
