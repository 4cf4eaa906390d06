// What takes a minute with the JavaScript SDK. See parity.mjs.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { bodies, client, connect, once, queue, receive } from "./parity.mjs";
import { proves, test } from "./proves.mjs";

test("an idle connection is kept", proves("conn.idle"), async () => {
  const { name, receiver } = await queue();
  const sender = connect(undefined, once).createSender(name);
  await sender.sendMessages({ body: "before" });
  await sleep(70_000);
  await sender.sendMessages({ body: "after" }); // this client does not try again
  assert.deepEqual(bodies(await receive(receiver, 2)), ["before", "after"]);
});

test("accept next ends after its time", proves("sess.timeout"), async () => {
  const { name } = await queue({ requiresSession: true });
  const impatient = connect(undefined, { retryOptions: { maxRetries: 0, timeoutInMs: 3000 } });
  await assert.rejects(impatient.acceptNextSession(name), { code: "ServiceTimeout" });
  await client.createSender(name).sendMessages({ body: "m", sessionId: "a" });
  assert.equal((await client.acceptNextSession(name)).sessionId, "a");
});
