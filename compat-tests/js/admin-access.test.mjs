// Credentials of the JavaScript administration client, against a server that checks tokens. See admin.mjs.
import assert from "node:assert/strict";
import { AzureNamedKeyCredential } from "@azure/core-auth";
import { absent, admin, collect, connectionString, host, namespace, quickly, refused, ServiceBusAdministrationClient } from "./admin.mjs";
import { proves, test } from "./proves.mjs";

const unauthorized = (call, message) => refused(call, "UnauthorizedRequestError", 401, message);
const key = Buffer.alloc(32, 5).toString("base64");
const policy = (keyName, ...accessRights) => ({ claimType: "SharedAccessKey", accessRights, keyName, primaryKey: key, secondaryKey: Buffer.alloc(32, 6).toString("base64") });
const clientOf = (...credential) => new ServiceBusAdministrationClient(connectionString(...credential), quickly);

test("AzureNamedKeyCredential and the older API version", async () => {
  const credential = new AzureNamedKeyCredential("RootManageSharedAccessKey", "SAS_KEY_VALUE");
  const named = new ServiceBusAdministrationClient(host, credential, { ...quickly, serviceVersion: "2017-04" });
  assert.equal((await named.getNamespaceProperties()).name, namespace);
  await named.createQueue("access.named", { maxDeliveryCount: 3 });
  const got = await named.getQueue("access.named");
  assert.deepEqual([got.maxDeliveryCount, got.maxMessageSizeInKilobytes], [3, undefined]);
});

test("a wrong key and a policy that is not there", proves("admin.wrongkey"), async () => {
  for (const client of [clientOf(undefined, "wrong"), clientOf("nobody")]) {
    await unauthorized(client.createQueue("access.never"), /./);
    await unauthorized(client.getNamespaceProperties(), /./);
    await unauthorized(collect(client.listQueues()), /./);
  }
  assert.equal(await admin.queueExists("access.never"), false);
});

test("a policy of a queue that may not manage", proves("admin.policy"), async () => {
  await admin.createQueue("access.queue", { authorizationRules: [policy("all", "Manage", "Send", "Listen"), policy("send", "Send")] });
  const sends = clientOf("send", key);
  await unauthorized(sends.getQueue("access.queue"), /^Manage,EntityRead claims required for this operation\. /);
  await unauthorized(sends.updateQueue(await admin.getQueue("access.queue")), /Authorization failed for specified action: Manage,EntityWrite\. /);
  await unauthorized(sends.deleteQueue("access.queue"), /Authorization failed for specified action: Manage,EntityDelete\. /);
  const manages = clientOf("all", key);
  const queue = await manages.getQueue("access.queue");
  assert.equal((await manages.updateQueue({ ...queue, maxDeliveryCount: 3 })).maxDeliveryCount, 3);
  await unauthorized(manages.createQueue("access.other"), /./);
  await manages.deleteQueue("access.queue");
  await absent(admin.getQueue("access.queue"));
});

test("the stable release speaks https, the next one http to an emulator", async () => {
  const { _response } = await admin.getNamespaceProperties();
  const want = process.env.MINIBUS_SDK === "service-bus-beta" ? "http:" : "https:";
  assert.equal(new URL(_response.request.url).protocol, want);
});
