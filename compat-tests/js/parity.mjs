// What parity-*.test.mjs share: a server that checks tokens, whose administration makes an entity for each test. See admin.mjs for
// where it is.
import assert from "node:assert/strict";
import { after } from "node:test";
import { admin, ServiceBusClient } from "./admin.mjs";

export const connection = process.env.MINIBUS_CONNECTION_STRING;
export const address = process.env.MINIBUS_ADDR;
export const once = { retryOptions: { maxRetries: 0 } };
export const patience = { maxWaitTimeInMs: 30_000 };
export const quickly = { maxWaitTimeInMs: 300 };
export const byHand = { maxAutoLockRenewalDurationInMs: 0 };

const open = [];
after(() => Promise.all(open.map((client) => client.close())));

// A client that is closed at the end.
export function connect(string = connection, options = once) {
  const client = new ServiceBusClient(string, options);
  open.push(client);
  return client;
}

export const client = connect();
let queues = 0;

// A queue of the test's own, with a sender and a receiver.
export async function queue(options) {
  const name = `parity.${process.pid}.${++queues}`;
  await admin.createQueue(name, options);
  return {
    name, sender: client.createSender(name), receiver: client.createReceiver(name, byHand),
    dead: client.createReceiver(name, { subQueueType: "deadLetter", ...byHand }),
  };
}

export async function receive(receiver, count) {
  const all = [];
  while (all.length < count) {
    const messages = await receiver.receiveMessages(count - all.length, patience);
    assert.notEqual(messages.length, 0, `${all.length} of ${count} messages`);
    all.push(...messages);
  }
  return all;
}

export const bodies = (messages) => messages.map((m) => m.body);
export const numbers = (count) => Array.from({ length: count }, (_, i) => i);

// Waits until a condition holds.
export async function until(condition, what) {
  for (const end = Date.now() + 60_000; !(await condition());) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
