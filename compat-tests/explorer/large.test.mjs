// Much of everything: ten thousand entities, a hundred thousand messages, a body of 50 MiB, names from right to left and emoji. The page keeps no more in its document than it shows.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, test } from "node:test";
import { address, check, launch, open, show, until } from "./page.mjs";
import { connect, namespace } from "./house.mjs";

const entities = Number(process.env.MINIBUS_QUEUES), messages = Number(process.env.MINIBUS_MESSAGES ?? 100_000), large = 50 * 2 ** 20;
const api = (path) => `${address}/$minibus/v1/namespaces/${encodeURIComponent(namespace)}/${path}`;
const client = connect();
let browser, page;
before(async () => {
  const sender = client.createSender("deep");
  for (let sent = 0; sent < messages;) {
    const batch = await sender.createMessageBatch();
    while (sent < messages && batch.tryAddMessage({ body: `message ${sent}`, subject: "many" })) sent++;
    await sender.sendMessages(batch);
  }
  const answer = await fetch(api("entities/heavy/messages"), { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ body: "x".repeat(large), contentType: "text/plain" }) });
  assert.equal(answer.status, 201, await answer.text());
  await client.createSender("heavy").sendMessages({ body: "שלום 👩‍👩‍👧‍👦 \u202Eabc", messageId: "שלום-👩‍👩‍👧‍👦", subject: "مرحبا" });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await client.close();
});
beforeEach(async () => {
  page = await open(browser);
  await page.getByRole("heading", { name: namespace }).waitFor();
});
afterEach(async () => {
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

const to = (hash) => show(page, `#/${namespace}${hash}`);
const elements = () => page.evaluate(() => document.querySelectorAll("*").length);

test("ten thousand entities", async () => {
  await page.locator("main").getByText(new RegExp(`^${String(entities + 2).replace(/(?=...$)/, ",")} entities$`)).waitFor();
  assert.ok((await elements()) < 3000, `${await elements()} elements`);
  await check(page, "overview of ten thousand entities");
  await page.keyboard.press("/");
  await page.keyboard.type(`queue-${entities - 1}`);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `queue-${entities - 1}` }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("queue-77");
  await page.getByRole("listbox").getByRole("option").first().waitFor();
  assert.ok((await elements()) < 3000, `${await elements()} elements with the palette`);
});

test("a deep queue", async () => {
  await to("/entity/deep/messages");
  const main = page.locator("main");
  await main.getByText(`message ${messages - 1}`, { exact: false }).first().waitFor();
  const box = main.locator(".table-box").first();
  for (let i = 0; i < 30; i++) {
    const tall = await box.evaluate((b) => (b.scrollTop = b.scrollHeight, b.scrollHeight));
    await until(() => box.evaluate((b, tall) => b.scrollHeight > tall, tall), "more messages come");
  }
  assert.ok((await elements()) < 3000, `${await elements()} elements`);
  await main.getByText(/message \d+/).first().waitFor(); // in sight after scrolling
  await check(page, "a deep queue");
});

test("a body of 50 MiB", async () => {
  await to("/entity/heavy/messages/1");
  const main = page.locator("main");
  await main.getByText("xxxxxxxx").first().waitFor();
  assert.ok((await page.evaluate(() => document.body.textContent.length)) < 2 ** 20, "the page holds a part of the body");
  const [download] = await Promise.all([page.waitForEvent("download"), main.getByText("Download", { exact: false }).first().click()]);
  let size = 0;
  for await (const piece of await download.createReadStream()) size += piece.length;
  assert.equal(size, large);
  await check(page, "a large body");
});

for (const size of ["wide", "phone"]) test(`texts from right to left, and emoji, ${size}`, async () => {
  await page.context().close();
  page = await open(browser, { size });
  await page.getByRole("heading", { name: namespace }).waitFor();
  await to("/entity/heavy/messages");
  await page.locator("main").getByText("שלום").first().waitFor();
  await check(page, "a list with texts from right to left");
  await to("/entity/heavy/messages/2");
  await page.locator("main").getByText("مرحبا").filter({ visible: true }).first().waitFor();
  await check(page, "a message from right to left");
});
