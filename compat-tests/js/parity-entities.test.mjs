// What entities do by themselves, what is refused, and ways to connect, with the JavaScript SDK. See parity.mjs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { absent, admin, host, namespace } from "./admin.mjs";
import { address, bodies, byHand, client, connect, connection, numbers, once, queue, quickly, receive } from "./parity.mjs";
import { proves, test } from "./proves.mjs";

const secure = connection.replace("UseDevelopmentEmulator=true;", "");
const key = Buffer.alloc(32, 9).toString("base64");
const policy = (keyName, ...accessRights) => ({ claimType: "SharedAccessKey", accessRights, keyName, primaryKey: key, secondaryKey: key });
const withKey = (name, value) => `Endpoint=sb://${address};SharedAccessKeyName=${name};SharedAccessKey=${value};UseDevelopmentEmulator=true`;

test("what is too old is gone; the shorter time counts", proves("entity.expire", "entity.ttl"), async () => {
  const { sender, receiver } = await queue({ defaultMessageTimeToLive: "PT10M" });
  await sender.sendMessages([{ body: "gone", timeToLive: 500 }, { body: "none" }, { body: "longer", timeToLive: 3_600_000 }]);
  await new Promise((resolve) => setTimeout(resolve, 900));
  const got = await receive(receiver, 2);
  assert.deepEqual(bodies(got), ["none", "longer"]);
  assert.deepEqual(got.map((m) => m.timeToLive), [600_000, 600_000]);
});

test("dead letters are forwarded", proves("entity.forwarddead"), async () => {
  const target = await queue();
  const { name, sender, receiver } = await queue({ forwardDeadLetteredMessagesTo: target.name });
  await sender.sendMessages({ body: "m" });
  await receiver.deadLetterMessage((await receive(receiver, 1))[0], { deadLetterReason: "why" });
  const [m] = await receive(target.receiver, 1);
  assert.deepEqual([m.body, m.deadLetterReason, m.deadLetterSource.toLowerCase()], ["m", "why", name]);
});

test("a key has one partition", proves("entity.partition"), async () => {
  const { sender, receiver } = await queue({ enablePartitioning: true });
  for (const body of numbers(5)) await sender.sendMessages({ body, partitionKey: "one" });
  const got = await receive(receiver, 5);
  assert.deepEqual(bodies(got), numbers(5));
  assert.equal(new Set(got.map((m) => m.sequenceNumber.shiftRightUnsigned(48).toNumber())).size, 1);
});

test("disabled", proves("entity.disabled"), async () => {
  const { sender } = await queue({ status: "SendDisabled" });
  await assert.rejects(sender.sendMessages({ body: "m" }), { code: "MessagingEntityDisabled" });
});

test("what is missing", proves("err.queue", "err.subscription"), async () => {
  await assert.rejects(client.createSender("missing").sendMessages({ body: "m" }), { code: "MessagingEntityNotFound" });
  await assert.rejects(client.createReceiver("missing").receiveMessages(1, quickly), { code: "MessagingEntityNotFound" });
  await admin.createTopic("parity.topic");
  await assert.rejects(client.createReceiver("parity.topic", "missing").receiveMessages(1, quickly), { code: "MessagingEntityNotFound" });
});

test("nobody receives from a topic", proves("topic.noreceive"), async () => {
  await admin.createTopic("parity.unread");
  await assert.rejects(client.createReceiver("parity.unread").receiveMessages(1, quickly), { code: "MessagingEntityNotFound" });
});

test("the queue of a receiver is deleted", proves("err.deleted"), async () => {
  const { name, receiver } = await queue();
  assert.deepEqual(await receiver.receiveMessages(1, quickly), []);
  await admin.deleteQueue(name);
  await assert.rejects(receiver.receiveMessages(1, { maxWaitTimeInMs: 5000 }), { code: "MessagingEntityNotFound" });
});

test("what is not transient is not tried again", proves("err.retry"), async () => {
  const patient = connect(connection, { retryOptions: { maxRetries: 5, retryDelayInMs: 5000 } });
  const { name } = await queue();
  const begin = Date.now();
  await assert.rejects(patient.createSender("missing").sendMessages({ body: "m" }), { code: "MessagingEntityNotFound", retryable: false });
  await assert.rejects(patient.createSender(name).sendMessages({ body: "x".repeat(300_000) }), { code: "MessageSizeExceeded", retryable: false });
  assert.ok(Date.now() - begin < 5000, "at once");
});

test("a queue's own policy, and a wrong key", proves("auth.policy", "auth.wrongkey"), async () => {
  const { name, receiver } = await queue({ authorizationRules: [policy("sends", "Send")] });
  const limited = connect(withKey("sends", key));
  await limited.createSender(name).sendMessages({ body: "m" });
  await assert.rejects(limited.createReceiver(name).receiveMessages(1, quickly), { code: "UnauthorizedAccess" });
  assert.deepEqual(bodies(await receive(receiver, 1)), ["m"]);
  const wrong = connect(withKey("RootManageSharedAccessKey", "wrong"));
  await assert.rejects(wrong.createSender(name).sendMessages({ body: "m" }), { code: "UnauthorizedAccess" });
});

test("a ready-made signature", proves("auth.signature"), async () => {
  const { name, receiver } = await queue({ authorizationRules: [policy("sends", "Send")] });
  const [resource, expiry] = [encodeURIComponent(`sb://${address}/${name}`), Math.floor(Date.now() / 1000) + 3600];
  const signature = encodeURIComponent(createHmac("sha256", key).update(`${resource}\n${expiry}`).digest("base64"));
  const sas = `SharedAccessSignature sr=${resource}&sig=${signature}&se=${expiry}&skn=sends`;
  const limited = connect(`Endpoint=sb://${address};SharedAccessSignature=${sas};UseDevelopmentEmulator=true`);
  await limited.createSender(name).sendMessages({ body: "m" });
  assert.deepEqual(bodies(await receive(receiver, 1)), ["m"]);
});

test("another address than the namespace", proves("conn.endpoint"), async () => {
  const { name, receiver } = await queue();
  const elsewhere = connect(secure.replace(address, `${namespace}.servicebus.windows.net`), { ...once, customEndpointAddress: `sb://${address}` });
  await elsewhere.createSender(name).sendMessages({ body: "m" });
  assert.deepEqual(bodies(await receive(receiver, 1)), ["m"]);
});

// A program that does not trust the authority of Minibus.
function untrusting(program) {
  const { NODE_EXTRA_CA_CERTS, ...env } = process.env;
  assert.ok(NODE_EXTRA_CA_CERTS);
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { env, encoding: "utf8" });
}

test("an unknown authority is refused", proves("conn.untrusted", "admin.trust"), () => {
  const data = untrusting(`
    import { ServiceBusClient } from "@azure/service-bus";
    const client = new ServiceBusClient(${JSON.stringify(secure)}, { retryOptions: { maxRetries: 0 } });
    await client.createSender("q").sendMessages({ body: "m" });`);
  assert.notEqual(data.status, 0);
  assert.match(data.stderr, /self-signed certificate|unable to verify|unable to get/i);
  const administration = untrusting(`
    import { ServiceBusAdministrationClient } from "@azure/service-bus";
    const admin = new ServiceBusAdministrationClient(${JSON.stringify(withKey("RootManageSharedAccessKey", "SAS_KEY_VALUE").replace(address, host))}, { retryOptions: { maxRetries: 0 } });
    await admin.getNamespaceProperties();`);
  assert.notEqual(administration.status, 0);
  assert.match(administration.stderr, /self-signed certificate|unable to verify|unable to get/i);
});

test("links in turn", proves("conn.reuse", "conn.close"), async () => {
  const { name } = await queue();
  const own = connect();
  for (const body of numbers(25)) {
    const [sender, receiver] = [own.createSender(name), own.createReceiver(name, byHand)];
    await sender.sendMessages({ body });
    const [m] = await receive(receiver, 1);
    assert.equal(m.body, body);
    await receiver.completeMessage(m);
    await sender.close();
    await receiver.close();
  }
  const begin = Date.now();
  await own.close();
  assert.ok(Date.now() - begin < 5000, "closed at once");
  await admin.deleteQueue(name);
  await absent(admin.getQueue(name));
});
