// Fills the entities of the tests by the JavaScript SDK, as programs do.
import { ServiceBusClient } from "@azure/service-bus";

export const namespace = process.env.MINIBUS_NAMESPACE;
export const connect = () => new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0 } });

// fill sends orders, of which three are dead letters, one is scheduled and one is locked, and carts in sessions.
export async function fill(client) {
  const sender = client.createSender("orders");
  const order = (i) => ({ body: { id: i, customer: "Ada" }, messageId: `order-${i}`, subject: "created", contentType: "application/json", applicationProperties: { tenant: "a", amount: i * 100 } });
  await sender.sendMessages(Array.from({ length: 20 }, (_, i) => order(i)));
  await sender.scheduleMessages({ body: "later", messageId: "later" }, new Date(Date.now() + 3_600_000));
  const receiver = client.createReceiver("orders", { maxAutoLockRenewalDurationInMs: 0 });
  for (const reason of ["PaymentDeclined", "PaymentDeclined", "Malformed"]) {
    const [m] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
    await receiver.deadLetterMessage(m, { deadLetterReason: reason, deadLetterErrorDescription: "the card was refused" });
  }
  await receiver.receiveMessages(1, { maxWaitTimeInMs: 20_000 });
  await client.createSender("events").sendMessages([{ body: "x", applicationProperties: { amount: 5000 } }, { body: "y", applicationProperties: { amount: 5 } }]);
  const carts = client.createSender("carts");
  for (const sessionId of ["alice", "bob", "عربي"]) await carts.sendMessages({ body: "cart", sessionId });
  const alice = await client.acceptSession("carts", "alice", { maxAutoLockRenewalDurationInMs: 3_600_000 });
  await alice.setSessionState({ items: [1, 2, 3] });
  return { receiver, alice };
}
